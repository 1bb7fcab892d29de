//! The daemon itself: status, configuration, tokens, its end.

use palyra_types::TokenId;
use palyra_wire::v1;
use palyra_wire::v1::admin_service_client::AdminServiceClient;

use super::call::SHORT;
use crate::client::Client;
use crate::error::ClientError;
use crate::transport::Transport;

impl Client {
    fn admin(&self) -> AdminServiceClient<Transport> {
        AdminServiceClient::new(self.connection().transport)
    }

    /// Returns what the daemon is and how it is.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn status(&self) -> Result<v1::GetStatusResponse, ClientError> {
        let mut admin = self.admin();
        self.answer(SHORT, admin.get_status(v1::GetStatusRequest {})).await
    }

    /// Returns the configuration in force.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn config(&self) -> Result<v1::GetConfigResponse, ClientError> {
        let mut admin = self.admin();
        self.answer(SHORT, admin.get_config(v1::GetConfigRequest {})).await
    }

    /// Has the daemon read its configuration again; one that is not valid is an answer, with its mistakes.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn reload_config(&self) -> Result<v1::ReloadConfigResponse, ClientError> {
        let mut admin = self.admin();
        self.answer(SHORT, admin.reload_config(v1::ReloadConfigRequest {})).await
    }

    /// Makes an access token; its text is in this answer and nowhere else.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn create_token(
        &self,
        request: v1::CreateTokenRequest,
    ) -> Result<v1::CreateTokenResponse, ClientError> {
        let mut admin = self.admin();
        self.answer(SHORT, admin.create_token(request)).await
    }

    /// Returns the tokens, never their text.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn list_tokens(&self) -> Result<Vec<v1::Token>, ClientError> {
        let mut admin = self.admin();
        let answer = self.answer(SHORT, admin.list_tokens(v1::ListTokensRequest {})).await?;
        Ok(answer.tokens)
    }

    /// Revokes a token.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn revoke_token(&self, token: TokenId) -> Result<(), ClientError> {
        let mut admin = self.admin();
        let request = v1::RevokeTokenRequest { token_id: token.to_string() };
        self.answer(SHORT, admin.revoke_token(request)).await?;
        Ok(())
    }

    /// Asks the daemon to stop; returns why it stays, where it may.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub(crate) async fn shutdown(&self, request: v1::ShutdownRequest) -> Result<String, ClientError> {
        let mut admin = self.admin();
        Ok(self.answer(SHORT, admin.shutdown(request)).await?.kept_because)
    }
}
