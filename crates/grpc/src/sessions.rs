//! `SessionsService`: finding, opening, resetting and listing conversations.

use palyra_runtime::Caller;
use palyra_runtime::session::SessionsHandle;
use palyra_wire::v1::sessions_service_server::SessionsService;
use palyra_wire::v1::{
    ArchiveSessionRequest, ArchiveSessionResponse, CleanupSessionRequest, CleanupSessionResponse,
    ListSessionsRequest, ListSessionsResponse, RenameSessionRequest, RenameSessionResponse,
    ResolveSessionRequest, ResolveSessionResponse, RestoreSessionRequest, RestoreSessionResponse,
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
        let resolved = self.sessions.resolve(caller, selector, agent).await?;
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
        let records = self.sessions.list(caller, after, limit).await?;
        let next_page_token = translate::sessions_cursor_after(&records, limit);
        Ok(ListSessionsResponse {
            sessions: records.iter().map(translate::session).collect(),
            next_page_token,
        })
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
        let _ = auth::open(request)?;
        Err(Status::unimplemented("rename_session"))
    }

    async fn archive_session(
        &self,
        request: Request<ArchiveSessionRequest>,
    ) -> Result<Response<ArchiveSessionResponse>, Status> {
        let _ = auth::open(request)?;
        Err(Status::unimplemented("archive_session"))
    }

    async fn restore_session(
        &self,
        request: Request<RestoreSessionRequest>,
    ) -> Result<Response<RestoreSessionResponse>, Status> {
        let _ = auth::open(request)?;
        Err(Status::unimplemented("restore_session"))
    }

    async fn cleanup_session(
        &self,
        request: Request<CleanupSessionRequest>,
    ) -> Result<Response<CleanupSessionResponse>, Status> {
        let _ = auth::open(request)?;
        Err(Status::unimplemented("cleanup_session"))
    }
}
