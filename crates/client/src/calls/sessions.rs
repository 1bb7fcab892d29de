//! Conversations: finding, opening, branching, resetting, naming, putting away, listing.

use palyra_types::SessionId;
use palyra_wire::v1;
use palyra_wire::v1::sessions_service_client::SessionsServiceClient;

use super::call::{SHORT, required};
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

    /// Gives a session another title; an empty one takes it away.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn rename_session(
        &self,
        session: SessionId,
        label: String,
    ) -> Result<v1::Session, ClientError> {
        let mut sessions = self.sessions();
        let request = v1::RenameSessionRequest { session_id: session.to_string(), label };
        let answer = self.answer(SHORT, sessions.rename_session(request)).await?;
        required(answer.session, "a session was not described")
    }

    /// Puts a session away: it takes no new input, and open runs go on.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn archive_session(&self, session: SessionId) -> Result<v1::Session, ClientError> {
        let mut sessions = self.sessions();
        let request = v1::ArchiveSessionRequest { session_id: session.to_string() };
        let answer = self.answer(SHORT, sessions.archive_session(request)).await?;
        required(answer.session, "a session was not described")
    }

    /// Takes an archived session up again.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn restore_session(&self, session: SessionId) -> Result<v1::Session, ClientError> {
        let mut sessions = self.sessions();
        let request = v1::RestoreSessionRequest { session_id: session.to_string() };
        let answer = self.answer(SHORT, sessions.restore_session(request)).await?;
        required(answer.session, "a session was not described")
    }

    /// Cancels every open run of a session and puts it away; nothing is deleted.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn cleanup_session(
        &self,
        session: SessionId,
    ) -> Result<v1::CleanupSessionResponse, ClientError> {
        let mut sessions = self.sessions();
        let request = v1::CleanupSessionRequest { session_id: session.to_string() };
        self.answer(SHORT, sessions.cleanup_session(request)).await
    }
}
