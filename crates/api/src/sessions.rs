//! `SessionsService`: finding, opening, branching, resetting, naming, putting away and listing conversations.

use palyra_ports::read_records::{SessionQuery, SessionTexts};
use palyra_runtime::Caller;
use palyra_runtime::session::SessionChange;
use palyra_types::Content;
use palyra_wire::v1::{
    ArchiveSessionRequest, ArchiveSessionResponse, CleanupSessionRequest, CleanupSessionResponse,
    ListSessionsRequest, ListSessionsResponse, RenameSessionRequest, RenameSessionResponse,
    ResolveSessionRequest, ResolveSessionResponse, RestoreSessionRequest, RestoreSessionResponse, Session,
    SetSessionRecallRequest, SetSessionRecallResponse,
};

use crate::api_error::ApiError;
use crate::operations::OperationHandlers;
use crate::translate;
use crate::translate::InvalidValue;

impl OperationHandlers {
    /// Answers `ResolveSession`.
    pub async fn resolve_session(
        &self,
        caller: Caller,
        message: ResolveSessionRequest,
    ) -> Result<ResolveSessionResponse, ApiError> {
        let selector = translate::session_selector(message.session)?;
        let agent = translate::agent_name(message.agent);
        let resolved = match &message.branch_from {
            Some(point) => {
                let request = translate::branch_point(point)?;
                self.state.sessions.branch(caller, selector, agent, request).await?
            }
            None => self.state.sessions.resolve(caller, selector, agent).await?,
        };
        Ok(ResolveSessionResponse {
            session: Some(translate::session(&resolved.record)),
            created: resolved.created,
            reset_applied: resolved.reset_applied,
        })
    }

    /// Answers `ListSessions`.
    pub async fn list_sessions(
        &self,
        caller: Caller,
        message: ListSessionsRequest,
    ) -> Result<ListSessionsResponse, ApiError> {
        let limit = translate::page_rows(message.page_size);
        let after = translate::session_cursor(&message.page_token)?;
        let search = (!message.search.is_empty()).then(|| Content::new(message.search));
        let only = translate::session_filter(message.only)?;
        let surface = translate::surface_filter(message.surface)?;
        let principal = caller.actor.principal;
        let query = SessionQuery { principal, after, search: search.clone(), only, surface, limit };
        let records = self.state.sessions.list(caller, query).await?;
        let next_page_token = translate::sessions_cursor_after(&records, limit);
        let ids = records.iter().map(|record| record.session.id).collect();
        let texts = self.state.sessions.texts(caller, ids, search).await?;
        let session = |(record, texts): (_, SessionTexts)| Session {
            first_input: texts.first_input.into_exposed(),
            matched: texts.matched.into_exposed(),
            ..translate::session(record)
        };
        let sessions = records.iter().zip(texts).map(session).collect();
        Ok(ListSessionsResponse { sessions, next_page_token })
    }

    async fn change(
        &self,
        caller: Caller,
        session_id: &str,
        change: SessionChange,
    ) -> Result<Option<Session>, ApiError> {
        let session = translate::id("session_id", session_id)?;
        let record = self.state.sessions.change(caller, session, change).await?;
        Ok(Some(translate::session(&record)))
    }

    /// Answers `SetSessionRecall`.
    pub async fn set_session_recall(
        &self,
        caller: Caller,
        message: SetSessionRecallRequest,
    ) -> Result<SetSessionRecallResponse, ApiError> {
        let said = translate::recall_change(message.recall)?;
        let recall = said.ok_or(InvalidValue::new("recall", "on, off or inherit"))?;
        let session = self.change(caller, &message.session_id, SessionChange::SetRecall(recall)).await?;
        Ok(SetSessionRecallResponse { session })
    }

    /// Answers `CleanupSession`.
    pub async fn cleanup_session(
        &self,
        caller: Caller,
        message: CleanupSessionRequest,
    ) -> Result<CleanupSessionResponse, ApiError> {
        let session = translate::id("session_id", &message.session_id)?;
        let cleaned = self.state.sessions.clean_up(caller, session).await?;
        let session = Some(translate::session(&cleaned.record));
        Ok(CleanupSessionResponse { session, cancelled_runs: cleaned.cancelled_runs })
    }
}

impl OperationHandlers {
    /// Answers `RenameSession`.
    pub async fn rename_session(
        &self,
        caller: Caller,
        message: RenameSessionRequest,
    ) -> Result<RenameSessionResponse, ApiError> {
        let label = (!message.label.is_empty()).then(|| Content::new(message.label));
        let session = self.change(caller, &message.session_id, SessionChange::Rename(label)).await?;
        Ok(RenameSessionResponse { session })
    }

    /// Answers `ArchiveSession`.
    pub async fn archive_session(
        &self,
        caller: Caller,
        message: ArchiveSessionRequest,
    ) -> Result<ArchiveSessionResponse, ApiError> {
        let session = self.change(caller, &message.session_id, SessionChange::Archive).await?;
        Ok(ArchiveSessionResponse { session })
    }

    /// Answers `RestoreSession`.
    pub async fn restore_session(
        &self,
        caller: Caller,
        message: RestoreSessionRequest,
    ) -> Result<RestoreSessionResponse, ApiError> {
        let session = self.change(caller, &message.session_id, SessionChange::Restore).await?;
        Ok(RestoreSessionResponse { session })
    }
}
