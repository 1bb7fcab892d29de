//! `AdminService`: the way into the web console, and out of it.

use palyra_admin::access::{INVITATION_SPAN, PAGE_LINK_SPAN, PageEntry};
use palyra_runtime::Caller;
use palyra_types::access::PrincipalKind;
use palyra_types::surface::WorkspaceRootSource;
use palyra_types::{ErrorCode, PrincipalId};
use palyra_wire::v1::{
    CreateConsoleLinkRequest, CreateConsoleLinkResponse, EndConsoleSessionsRequest,
    EndConsoleSessionsResponse,
};

use crate::api_error::ApiError;
use crate::operations::OperationHandlers;
use crate::translate;

/// Below it is the page that takes the code of a link.
pub const CONSOLE_LOGIN_PATH: &str = "/console/login/";

impl OperationHandlers {
    /// Answers `CreateConsoleLink`: the link is for the caller, or an invitation of another person.
    pub async fn create_console_link(
        &self,
        caller: Caller,
        message: CreateConsoleLinkRequest,
    ) -> Result<CreateConsoleLinkResponse, ApiError> {
        let Some(origin) = &self.daemon.http_origin else {
            let text = "the daemon serves no HTTP, so there is no console: set `http.listen` and restart it";
            return Err(ApiError::new(ErrorCode::RouteNotFound, text.to_owned()));
        };
        let folder = translate::workspace_root(message.workspace_root)?;
        let names_folders = caller.actor.surface.profile().workspace_root == WorkspaceRootSource::Client;
        let (entry, span) = match message.principal_id.as_str() {
            "" if folder.is_none() || names_folders => {
                (PageEntry { principal: caller.actor.principal, folder }, PAGE_LINK_SPAN)
            }
            given if folder.is_none() => (PageEntry::of(self.invited(given)?), INVITATION_SPAN),
            _ => {
                let text =
                    "`workspace_root` goes only with a link for the caller, over the daemon's own socket";
                return Err(ApiError::invalid_argument(text));
            }
        };
        let code = self.state.admin.access.create_page_link(entry, span).into_exposed();
        let seconds = u32::try_from(span.as_secs()).unwrap_or(u32::MAX);
        Ok(CreateConsoleLinkResponse { url: format!("{origin}{CONSOLE_LOGIN_PATH}{code}"), seconds })
    }

    /// Returns a person who can be invited.
    fn invited(&self, given: &str) -> Result<PrincipalId, ApiError> {
        let id: PrincipalId = translate::id("principal_id", given)?;
        let known = self.state.admin.access.known();
        let Some(person) = known.principal(id).filter(|found| found.kind == PrincipalKind::Person) else {
            let text = format!("there is no person `{id}`");
            return Err(ApiError::new(ErrorCode::PrincipalNotFound, text));
        };
        if person.disabled.is_some() {
            let name = person.name.expose();
            let text =
                format!("the person is disabled; `palyra admin people enable {name}` lets them work again");
            return Err(ApiError::new(ErrorCode::InvalidArgument, text));
        }
        Ok(id)
    }

    /// Answers `EndConsoleSessions`.
    pub async fn end_console_sessions(
        &self,
        _caller: Caller,
        _message: EndConsoleSessionsRequest,
    ) -> Result<EndConsoleSessionsResponse, ApiError> {
        let ended = self.state.admin.access.end_page_sessions();
        Ok(EndConsoleSessionsResponse { ended: u32::try_from(ended).unwrap_or(u32::MAX) })
    }
}
