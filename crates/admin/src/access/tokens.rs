//! Making and revoking tokens.

use std::time::Duration;

use palyra_types::access::{AccessScope, CredentialKind, Role, ScopeSet, TokenRecord};
use palyra_types::event::{AccessEvent, TokenCreated};
use palyra_types::{Content, TokenId};

use super::{AccessHandle, check_name, invalid};
use crate::caller::Caller;
use crate::error::AdminError;
use crate::identity::check_identity;

/// What every token begins with, so that scanners recognise one that leaked.
pub const TOKEN_PREFIX: &str = "palyra_";
/// The longest life of a token.
pub const TOKEN_LIFE_MAX: Duration = Duration::from_secs(365 * 24 * 3_600);

/// Returns the token in the value of an `authorization` header (RFC 6750): the scheme `Bearer`, one space and a token with
/// the prefix; nothing for every other value.
#[must_use]
pub fn token_in_authorization(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    let whole = token.strip_prefix(TOKEN_PREFIX).is_some_and(|secret| !secret.is_empty());
    (scheme.eq_ignore_ascii_case("bearer") && whole).then_some(token)
}

/// A token to make.
#[derive(Debug, Clone)]
pub struct TokenRequest {
    /// The name of its principal, who is registered as a member if new.
    pub principal: String,
    /// What it is for.
    pub label: String,
    /// How long it lives.
    pub life: Duration,
    /// For whom it is made.
    pub kind: CredentialKind,
    /// What it may be used for; `None` for what its kind has by default.
    pub scopes: Option<ScopeSet>,
}

impl TokenRequest {
    /// A token that a program keeps, for what such tokens may do by default.
    #[must_use]
    pub fn program(principal: &str, label: &str, life: Duration) -> Self {
        Self {
            principal: principal.to_owned(),
            label: label.to_owned(),
            life,
            kind: CredentialKind::Program,
            scopes: None,
        }
    }

    /// Returns its scopes within a role.
    fn scopes_within(&self, role: Role) -> Result<ScopeSet, AdminError> {
        let allowed = role.scopes();
        let scopes = match (self.scopes, self.kind) {
            (Some(scopes), _) => scopes,
            (None, CredentialKind::Program) => ScopeSet::BEFORE_SCOPES.both(allowed),
            (None, CredentialKind::PersonSession) => allowed,
        };
        if self.kind == CredentialKind::Program && scopes.contains(AccessScope::Approve) {
            return invalid(
                "a token that a program keeps cannot decide approvals: leave out `approve`".to_owned(),
            );
        }
        if let Some(scope) = scopes.iter().find(|scope| !allowed.contains(*scope)) {
            // The role that allows the least is named.
            let able =
                Role::ALL.into_iter().rev().find(|able| *able != role && able.scopes().contains(scope));
            let mend = able.map(|able| {
                let name = &self.principal;
                format!(
                    "; the role `{able}` can: `palyra admin people role {name} {able}`, or `palyra admin people add {name} --role {able}` \
                     for a new person"
                )
            });
            let mend = mend.unwrap_or_default();
            return invalid(format!(
                "a principal with the role `{role}` cannot have the scope `{scope}`{mend}"
            ));
        }
        if scopes == ScopeSet::NONE {
            return invalid(format!("a token for a principal with the role `{role}` would allow nothing"));
        }
        Ok(scopes)
    }
}

impl AccessHandle {
    /// Makes a token for a named principal; returns its record and its text.
    ///
    /// # Errors
    /// [`AdminError::InvalidArgument`] for a name that is empty, too long or not printable, a life beyond
    /// [`TOKEN_LIFE_MAX`], a disabled principal, or scopes that its role does not have; [`AdminError::Append`].
    pub async fn create_token(
        &self,
        caller: Caller,
        request: TokenRequest,
    ) -> Result<(TokenRecord, Content<String>), AdminError> {
        check_name(&request.principal)?;
        let name = check_identity(
            &self.ports.recorder,
            caller.actor.principal,
            "the principal's name",
            &request.principal,
        )?;
        if request.life.is_zero() || request.life > TOKEN_LIFE_MAX {
            return invalid("a token lives from 1 to 365 days".to_owned());
        }
        let change = self.change.lock().await;
        let known = self.known();
        let owner = match known.principals.iter().find(|one| one.name.expose() == &request.principal) {
            Some(owner) if owner.disabled.is_some() => {
                let name = &request.principal;
                return invalid(format!(
                    "the principal is disabled; `palyra admin people enable {name}` enables it"
                ));
            }
            Some(owner) => owner.clone(),
            None => self.new_member(name),
        };
        let scopes = request.scopes_within(known.role_of(&owner))?;
        if known.principal(owner.id).is_none() {
            self.register(caller, owner.clone(), &change).await?;
        }
        let (record, text) = self.new_token(owner.id, request, scopes);
        let created = AccessEvent::TokenCreated(TokenCreated {
            token: record.id,
            sha256: record.sha256,
            expires: record.expires,
            label: record.label.clone(),
            kind: record.kind,
            scopes: Some(record.scopes),
        });
        let kept = record.clone();
        self.change(caller.actor, owner.id, created, &change, |known, _| known.tokens.push(kept)).await?;
        Ok((record, text))
    }

    fn new_token(
        &self,
        principal: palyra_types::PrincipalId,
        request: TokenRequest,
        scopes: ScopeSet,
    ) -> (TokenRecord, Content<String>) {
        let now = self.ports.clock.wall();
        let secret =
            self.ports.entropy.bytes32().iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let text = format!("{TOKEN_PREFIX}{secret}");
        let record = TokenRecord {
            id: self.ports.entropy.new_id(now),
            principal,
            sha256: palyra_ledger::sha256(text.as_bytes()),
            created: now,
            expires: Some(now.after(request.life)),
            revoked: None,
            label: self.ports.redactor.redact(request.label.into()).text,
            kind: request.kind,
            scopes,
        };
        (record, Content::new(text))
    }

    /// Revokes a token; effective for every later call and open stream. Revoking twice is not an error.
    ///
    /// # Errors
    /// [`AdminError::InvalidArgument`] when there is no such token; [`AdminError::Append`].
    pub async fn revoke_token(&self, caller: Caller, id: TokenId) -> Result<(), AdminError> {
        let change = self.change.lock().await;
        let known = self.known();
        let Some(token) = known.tokens.iter().find(|token| token.id == id) else {
            return invalid("no such token; `palyra admin tokens list` lists them".to_owned());
        };
        if token.revoked.is_some() {
            return Ok(());
        }
        let revoked = AccessEvent::TokenRevoked { token: id };
        self.change(caller.actor, token.principal, revoked, &change, |known, time| {
            if let Some(token) = known.tokens.iter_mut().find(|token| token.id == id) {
                token.revoked = Some(time);
            }
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_beyond_the_role_leads_to_the_role_that_has_it() {
        let refused = |role, scope| {
            let request = TokenRequest {
                scopes: Some(ScopeSet::of(&[scope])),
                ..TokenRequest::program("user:a", "", Duration::from_secs(1))
            };
            request.scopes_within(role).expect_err("beyond the role").to_string()
        };
        let runs = refused(Role::Approver, AccessScope::Runs);
        assert!(runs.contains("`palyra admin people role user:a member`"), "{runs}");
        let admin = refused(Role::Member, AccessScope::Admin);
        assert!(admin.contains("`palyra admin people add user:a --role owner`"), "{admin}");
    }

    #[test]
    fn a_bearer_token_of_ours_is_taken_and_all_else_is_not() {
        for value in ["Bearer palyra_ab", "bearer palyra_ab"] {
            assert_eq!(token_in_authorization(value), Some("palyra_ab"), "{value:?}");
        }
        let bad = [
            "",
            "Bearer",
            "Bearer ",
            "Bearer palyra_",
            "Bearer sk-ab",
            "Bearer  palyra_ab",
            "Basic palyra_ab",
            "palyra_ab",
        ];
        for value in bad {
            assert_eq!(token_in_authorization(value), None, "{value:?}");
        }
    }
}
