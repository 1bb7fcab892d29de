//! Conversations: finding, opening, resetting, listing.

use palyra_wire::v1;
use palyra_wire::v1::sessions_service_client::SessionsServiceClient;

use super::call::SHORT;
use crate::client::Client;
use crate::error::ClientError;
use crate::transport::Transport;

impl Client {
    fn sessions(&self) -> SessionsServiceClient<Transport> {
        SessionsServiceClient::new(self.connection().transport)
    }

    /// Finds a session, or creates it unless that is excluded.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn resolve_session(
        &self,
        request: v1::ResolveSessionRequest,
    ) -> Result<v1::ResolveSessionResponse, ClientError> {
        let mut sessions = self.sessions();
        self.answer(SHORT, sessions.resolve_session(request)).await
    }

    /// Returns a page of the caller's sessions, most recently used first.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn list_sessions(
        &self,
        request: v1::ListSessionsRequest,
    ) -> Result<v1::ListSessionsResponse, ClientError> {
        let mut sessions = self.sessions();
        self.answer(SHORT, sessions.list_sessions(request)).await
    }
}
