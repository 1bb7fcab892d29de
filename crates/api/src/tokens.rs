//! `AdminService`: access tokens, and codes that confirm.

use palyra_admin::access::{CONFIRMATION_SPAN, TokenRequest};
use palyra_runtime::Caller;
use palyra_types::access::{AccessScope, CredentialKind, ScopeSet, TokenRecord};
use palyra_wire::v1::{
    self, CreateConfirmationRequest, CreateConfirmationResponse, CreateTokenRequest, CreateTokenResponse,
    ListTokensRequest, ListTokensResponse, RevokeTokenRequest, RevokeTokenResponse, Token, TokenScope,
};

use crate::api_error::ApiError;
use crate::operations::OperationHandlers;
use crate::translate;
use crate::translate::InvalidValue;

impl OperationHandlers {
    /// Answers `CreateToken`. Programs keep such tokens, so they never decide approvals.
    pub async fn create_token(
        &self,
        caller: Caller,
        message: CreateTokenRequest,
    ) -> Result<CreateTokenResponse, ApiError> {
        let scopes: Result<ScopeSet, InvalidValue> =
            message.scopes.iter().map(|scope| scope_from(*scope)).collect();
        let scopes = scopes?;
        let request = TokenRequest {
            principal: message.principal,
            label: message.label,
            life: translate::token_days(message.days),
            kind: CredentialKind::Program,
            scopes: (scopes != ScopeSet::NONE).then_some(scopes),
        };
        let (record, text) = self.state.admin.access.create_token(caller, request).await?;
        Ok(CreateTokenResponse {
            token_id: record.id.to_string(),
            token: text.into_exposed(),
            expires: record.expires.and_then(translate::timestamp),
        })
    }

    /// Answers `CreateConfirmation`.
    pub async fn create_confirmation(
        &self,
        _caller: Caller,
        _message: CreateConfirmationRequest,
    ) -> Result<CreateConfirmationResponse, ApiError> {
        let code = self.state.admin.access.create_confirmation().into_exposed();
        let seconds = u32::try_from(CONFIRMATION_SPAN.as_secs()).unwrap_or(u32::MAX);
        Ok(CreateConfirmationResponse { code, seconds })
    }

    /// Answers `ListTokens`.
    pub async fn list_tokens(
        &self,
        _caller: Caller,
        _message: ListTokensRequest,
    ) -> Result<ListTokensResponse, ApiError> {
        let known = self.state.admin.access.known();
        let name = |token: &TokenRecord| known.name_of(token.principal).unwrap_or_default().to_owned();
        Ok(ListTokensResponse {
            tokens: known.tokens.iter().map(|record| token(record, name(record))).collect(),
        })
    }

    /// Answers `RevokeToken`.
    pub async fn revoke_token(
        &self,
        caller: Caller,
        message: RevokeTokenRequest,
    ) -> Result<RevokeTokenResponse, ApiError> {
        let token = translate::id("token_id", &message.token_id)?;
        self.state.admin.access.revoke_token(caller, token).await?;
        Ok(RevokeTokenResponse {})
    }
}

fn token(record: &TokenRecord, principal: String) -> Token {
    let kind = match record.kind {
        CredentialKind::Program => v1::CredentialKind::Program,
        CredentialKind::PersonSession => v1::CredentialKind::PersonSession,
    };
    Token {
        token_id: record.id.to_string(),
        principal,
        label: record.label.expose().clone(),
        created: translate::timestamp(record.created),
        expires: record.expires.and_then(translate::timestamp),
        revoked: record.revoked.and_then(translate::timestamp),
        scopes: record.scopes.iter().map(|scope| scope_to_wire(scope).into()).collect(),
        kind: kind.into(),
    }
}

fn scope_from(number: i32) -> Result<AccessScope, InvalidValue> {
    match TokenScope::try_from(number) {
        Ok(TokenScope::Runs) => Ok(AccessScope::Runs),
        Ok(TokenScope::RunsRead) => Ok(AccessScope::RunsRead),
        Ok(TokenScope::Approve) => Ok(AccessScope::Approve),
        Ok(TokenScope::Openai) => Ok(AccessScope::Openai),
        Ok(TokenScope::Memory) => Ok(AccessScope::Memory),
        Ok(TokenScope::Schedules) => Ok(AccessScope::Schedules),
        Ok(TokenScope::Channel) => Ok(AccessScope::Channel),
        Ok(TokenScope::Metrics) => Ok(AccessScope::Metrics),
        Ok(TokenScope::Admin) => Ok(AccessScope::Admin),
        Ok(TokenScope::Unspecified) | Err(_) => Err(InvalidValue::new("scopes", "known scopes")),
    }
}

fn scope_to_wire(scope: AccessScope) -> TokenScope {
    match scope {
        AccessScope::Runs => TokenScope::Runs,
        AccessScope::RunsRead => TokenScope::RunsRead,
        AccessScope::Approve => TokenScope::Approve,
        AccessScope::Openai => TokenScope::Openai,
        AccessScope::Memory => TokenScope::Memory,
        AccessScope::Schedules => TokenScope::Schedules,
        AccessScope::Channel => TokenScope::Channel,
        AccessScope::Metrics => TokenScope::Metrics,
        AccessScope::Admin => TokenScope::Admin,
    }
}
