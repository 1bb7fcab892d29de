//! Conversations: finding, opening, branching, resetting, naming, putting away, listing.

use palyra_types::SessionId;
use palyra_wire::v1;

use super::call::required;
use crate::client::Client;
use crate::error::ClientError;

/// Runs of a session that are looked through for the active one.
const RUNS_READ_MAX: u32 = 100;

/// The run that the next input of a session waits for.
#[derive(Debug, Clone, PartialEq)]
pub struct ActiveRun {
    /// The run.
    pub run: v1::Run,
    /// Its open approval, where it waits for one.
    pub approval: Option<String>,
}

impl Client {
    /// Returns the run that the next input of a session waits for; `None` where it waits for none.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn active_run(&self, session: &v1::SessionSelector) -> Result<Option<ActiveRun>, ClientError> {
        let existing = v1::SessionSelector { require_existing: true, ..session.clone() };
        let request = v1::ResolveSessionRequest { session: Some(existing), ..Default::default() };
        // One that does not exist has no run.
        let Ok(resolved) = self.call(request).await else { return Ok(None) };
        let request = v1::ListRunsRequest {
            session_id: resolved.session.unwrap_or_default().session_id,
            only: v1::RunFilter::Open.into(),
            page_size: RUNS_READ_MAX,
            ..Default::default()
        };
        let runs = self.call(request).await?.runs;
        let is_active = |run: &v1::Run| matches!(run.phase(), v1::RunPhase::Running | v1::RunPhase::Waiting);
        let Some(run) = runs.into_iter().find(is_active) else { return Ok(None) };
        let approval = match run.waiting_for() {
            v1::WaitReason::Approval => {
                let run_id = run.run_id.clone();
                let request = v1::ListApprovalsRequest { run_id, page_size: 1, ..Default::default() };
                self.call(request).await?.approvals.pop().map(|approval| approval.approval_id)
            }
            _ => None,
        };
        Ok(Some(ActiveRun { run, approval }))
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
