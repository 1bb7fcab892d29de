//! `SessionsService`: finding, opening, branching, resetting, naming, putting away and listing conversations.

use palyra_ports::read_records::{SessionQuery, SessionTexts};
use palyra_runtime::Caller;
use palyra_runtime::session::{SessionChange, SessionsHandle};
use palyra_types::Redacted;
use palyra_wire::v1::sessions_service_server::SessionsService;
use palyra_wire::v1::{
    ArchiveSessionRequest, ArchiveSessionResponse, CleanupSessionRequest, CleanupSessionResponse,
    ListSessionsRequest, ListSessionsResponse, RenameSessionRequest, RenameSessionResponse,
    ResolveSessionRequest, ResolveSessionResponse, RestoreSessionRequest, RestoreSessionResponse, Session,
};
use tonic::{Request, Response, Status};

use crate::auth;
use crate::status::Refusal;
use crate::translate;

/// Answers `palyra.v1.SessionsService`.
pub(crate) struct SessionsServiceImpl {
    sessions: SessionsHandle,
}

impl SessionsServiceImpl {
    pub(crate) fn new(sessions: SessionsHandle) -> Self {
        Self { sessions }
    }

    async fn resolve(
        &self,
        caller: Caller,
        message: ResolveSessionRequest,
    ) -> Result<ResolveSessionResponse, Refusal> {
        let selector = translate::session_selector(message.session)?;
        let agent = translate::agent_name(message.agent);
        let resolved = match &message.branch_from {
            Some(point) => {
                let wish = translate::branch_wish(point)?;
                self.sessions.branch(caller, selector, agent, wish).await?
            }
            None => self.sessions.resolve(caller, selector, agent).await?,
        };
        Ok(ResolveSessionResponse {
            session: Some(translate::session(&resolved.record)),
            created: resolved.created,
            reset_applied: resolved.reset_applied,
        })
    }

    async fn list(
        &self,
        caller: Caller,
        message: ListSessionsRequest,
    ) -> Result<ListSessionsResponse, Refusal> {
        let limit = translate::page_rows(message.page_size);
        let after = translate::session_cursor(&message.page_token)?;
        let search = (!message.search.is_empty()).then(|| Redacted::new(message.search));
        let only = translate::session_filter(&message.only)?;
        let query = SessionQuery { principal: caller.principal, after, search: search.clone(), only, limit };
        let records = self.sessions.list(caller, query).await?;
        let next_page_token = translate::sessions_cursor_after(&records, limit);
        let ids = records.iter().map(|record| record.session.id).collect();
        let texts = self.sessions.texts(caller, ids, search).await?;
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
    ) -> Result<Option<Session>, Refusal> {
        let session = translate::id("session_id", session_id)?;
        let record = self.sessions.change(caller, session, change).await?;
        Ok(Some(translate::session(&record)))
    }

    async fn clean_up(
        &self,
        caller: Caller,
        message: CleanupSessionRequest,
    ) -> Result<CleanupSessionResponse, Refusal> {
        let session = translate::id("session_id", &message.session_id)?;
        let cleaned = self.sessions.clean_up(caller, session).await?;
        let session = Some(translate::session(&cleaned.record));
        Ok(CleanupSessionResponse { session, cancelled_runs: cleaned.cancelled_runs })
    }
}

#[tonic::async_trait]
impl SessionsService for SessionsServiceImpl {
    async fn resolve_session(
        &self,
        request: Request<ResolveSessionRequest>,
    ) -> Result<Response<ResolveSessionResponse>, Status> {
        let (caller, message) = auth::open(request)?;
        Ok(Response::new(self.resolve(caller, message).await?))
    }

    async fn list_sessions(
        &self,
        request: Request<ListSessionsRequest>,
    ) -> Result<Response<ListSessionsResponse>, Status> {
        let (caller, message) = auth::open(request)?;
        Ok(Response::new(self.list(caller, message).await?))
    }

    async fn rename_session(
        &self,
        request: Request<RenameSessionRequest>,
    ) -> Result<Response<RenameSessionResponse>, Status> {
        let (caller, message) = auth::open(request)?;
        let label = (!message.label.is_empty()).then(|| Redacted::new(message.label));
        let session = self.change(caller, &message.session_id, SessionChange::Rename(label)).await?;
        Ok(Response::new(RenameSessionResponse { session }))
    }

    async fn archive_session(
        &self,
        request: Request<ArchiveSessionRequest>,
    ) -> Result<Response<ArchiveSessionResponse>, Status> {
        let (caller, message) = auth::open(request)?;
        let session = self.change(caller, &message.session_id, SessionChange::Archive).await?;
        Ok(Response::new(ArchiveSessionResponse { session }))
    }

    async fn restore_session(
        &self,
        request: Request<RestoreSessionRequest>,
    ) -> Result<Response<RestoreSessionResponse>, Status> {
        let (caller, message) = auth::open(request)?;
        let session = self.change(caller, &message.session_id, SessionChange::Restore).await?;
        Ok(Response::new(RestoreSessionResponse { session }))
    }

    async fn cleanup_session(
        &self,
        request: Request<CleanupSessionRequest>,
    ) -> Result<Response<CleanupSessionResponse>, Status> {
        let (caller, message) = auth::open(request)?;
        Ok(Response::new(self.clean_up(caller, message).await?))
    }
}
