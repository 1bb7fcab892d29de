//! The daemon itself: status, configuration, tokens, its end.

use palyra_types::TokenId;
use palyra_wire::v1;

use crate::client::Client;
use crate::error::ClientError;

impl Client {
    /// Returns what the daemon is and how it is.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn status(&self) -> Result<v1::GetStatusResponse, ClientError> {
        self.call(v1::GetStatusRequest {}).await
    }

    /// Returns the configuration in force.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn config(&self) -> Result<v1::GetConfigResponse, ClientError> {
        self.call(v1::GetConfigRequest {}).await
    }

    /// Returns the tokens, never their text.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn list_tokens(&self) -> Result<Vec<v1::Token>, ClientError> {
        let answer = self.call(v1::ListTokensRequest {}).await?;
        Ok(answer.tokens)
    }

    /// Revokes a token.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn revoke_token(&self, token: TokenId) -> Result<(), ClientError> {
        let request = v1::RevokeTokenRequest { token_id: token.to_string() };
        self.call(request).await?;
        Ok(())
    }

    /// Asks the daemon to stop; returns why it stays, where it may.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub(crate) async fn shutdown(&self, request: v1::ShutdownRequest) -> Result<String, ClientError> {
        Ok(self.call(request).await?.kept_because)
    }
}
