//! Conversations: finding, opening, branching, resetting, naming, putting away, listing.

use palyra_types::SessionId;
use palyra_wire::v1;

use super::call::required;
use crate::client::Client;
use crate::error::ClientError;

impl Client {
    /// Gives a session another title; an empty one takes it away.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn rename_session(
        &self,
        session: SessionId,
        label: String,
    ) -> Result<v1::Session, ClientError> {
        let request = v1::RenameSessionRequest { session_id: session.to_string(), label };
        let answer = self.call(request).await?;
        required(answer.session, "a session was not described")
    }

    /// Puts a session away: it takes no new input, and open runs go on.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn archive_session(&self, session: SessionId) -> Result<v1::Session, ClientError> {
        let request = v1::ArchiveSessionRequest { session_id: session.to_string() };
        let answer = self.call(request).await?;
        required(answer.session, "a session was not described")
    }

    /// Takes an archived session up again.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn restore_session(&self, session: SessionId) -> Result<v1::Session, ClientError> {
        let request = v1::RestoreSessionRequest { session_id: session.to_string() };
        let answer = self.call(request).await?;
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
        let request = v1::CleanupSessionRequest { session_id: session.to_string() };
        self.call(request).await
    }
}
