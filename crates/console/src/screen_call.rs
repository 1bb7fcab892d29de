//! A request of a person who is signed in, and the one way from it to the operations.

use std::sync::Arc;
use std::time::Duration;

use futures::TryStreamExt;
use palyra_api::{ApiError, OperationHandlers, admit, admit_request, authorize, confirmed};
use palyra_http::{HttpIdentity, TransportSecurity, page_cookie_name};
use palyra_ports::Clock;
use palyra_runtime::{Caller, GatewayRuntimeState};
use palyra_types::access::AccessScope;
use palyra_types::{Content, ErrorCode};
use palyra_wire::operations::{OperationSpec, UnaryRequest};
use prost::Message;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::forms::form_token;
use crate::paths::SIGN_OUT_PATH;

/// How long an operation may take.
const CALL_SPAN_MAX: Duration = Duration::from_secs(60);
/// Streams of all pages at once.
const STREAMS_MAX: usize = 256;

/// The handles that routes share.
pub(crate) struct ConsoleServices {
    pub(crate) state: GatewayRuntimeState,
    pub(crate) operations: Arc<OperationHandlers>,
    pub(crate) security: TransportSecurity,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) stop: CancellationToken,
    pub(crate) streams: Arc<Semaphore>,
}

impl ConsoleServices {
    pub(crate) fn new(
        state: GatewayRuntimeState,
        operations: OperationHandlers,
        security: TransportSecurity,
        clock: Arc<dyn Clock>,
        stop: CancellationToken,
    ) -> Self {
        let streams = Arc::new(Semaphore::new(STREAMS_MAX));
        Self { state, operations: Arc::new(operations), security, clock, stop, streams }
    }

    pub(crate) fn cookie_name(&self) -> &'static str {
        page_cookie_name(self.security)
    }
}

/// The person at a page.
pub(crate) struct SignedIn {
    pub(crate) name: String,
    pub(crate) sign_out_token: String,
    /// The operations of rows of the navigation that the person's role does not have.
    pub(crate) refused: Vec<&'static str>,
}

/// A request of a person who is signed in.
pub(crate) struct ScreenCall {
    pub(crate) services: Arc<ConsoleServices>,
    pub(crate) session: PageSession,
    pub(crate) target: ScreenTarget,
}

/// The session of the browser that sent a request.
pub(crate) struct PageSession {
    pub(crate) identity: HttpIdentity,
    pub(crate) cookie: Content<String>,
}

/// What a request asks for.
pub(crate) struct ScreenTarget {
    /// The path as it was asked for.
    pub(crate) path: String,
    pub(crate) params: Vec<(String, String)>,
    pub(crate) query: Vec<(String, String)>,
}

impl ScreenCall {
    pub(crate) fn caller(&self) -> Caller {
        self.session.identity.caller()
    }

    /// Calls an operation on behalf of the person.
    ///
    /// # Errors
    /// [`ApiError`]: the person's role does not have its scope, or the operation refuses.
    pub(crate) async fn call<R: UnaryRequest>(&self, request: R) -> Result<R::Response, ApiError> {
        self.call_as(self.caller(), request).await
    }

    /// Calls an operation that an owner confirms with a one-time code, which is used up.
    ///
    /// # Errors
    /// [`ApiError`]: those of [`Self::call`], and that the code does not confirm it.
    pub(crate) async fn call_confirmed<R: UnaryRequest>(
        &self,
        request: R,
        code: &str,
    ) -> Result<R::Response, ApiError> {
        let access = &self.services.state.admin.access;
        let operation =
            OperationSpec::by_path(R::PATH).ok_or_else(|| broken("there is no such operation"))?;
        self.call_as(confirmed(access, operation, self.caller(), Some(code)), request).await
    }

    async fn call_as<R: UnaryRequest>(&self, caller: Caller, request: R) -> Result<R::Response, ApiError> {
        admit_request::<R>(&self.services.state.admin.access, &caller).await?;
        let bytes = request.encode_to_vec();
        let answer = self.services.operations.dispatch(R::PATH, caller, &bytes);
        let answer = tokio::time::timeout(CALL_SPAN_MAX, answer).await;
        let answer = answer.map_err(|_| too_long())?;
        let answer = answer.ok_or_else(|| broken("an operation has no handler"))??;
        R::Response::decode(answer.as_slice()).map_err(|_| broken("an answer cannot be decoded"))
    }

    /// Calls an operation that streams its progress, and returns the last message: the report.
    ///
    /// # Errors
    /// [`ApiError`]: those of [`Self::call`], or the stream ends without a message.
    pub(crate) async fn call_to_end<R: Message + Default>(
        &self,
        name: &'static str,
        request: &impl Message,
    ) -> Result<R, ApiError> {
        let operation = OperationSpec::by_name(name).ok_or_else(|| broken("there is no such operation"))?;
        admit(&self.services.state.admin.access, operation, &self.caller()).await?;
        let bytes = request.encode_to_vec();
        let steps = self.services.operations.dispatch_stream(operation.path, self.caller(), &bytes).await;
        let steps = steps.ok_or_else(|| broken("an operation has no handler"))??;
        let last = steps.try_fold(None, async |_, step| Ok(Some(step)));
        let last = tokio::time::timeout(CALL_SPAN_MAX, last).await.map_err(|_| too_long())??;
        let last = last.ok_or_else(|| broken("a stream ended without its report"))?;
        R::decode(last.as_slice()).map_err(|_| broken("an answer cannot be decoded"))
    }

    /// Returns whether the person's role has a scope.
    pub(crate) fn has_scope(&self, scope: AccessScope) -> bool {
        self.caller().scopes.contains(scope)
    }

    /// Returns the folder that the browser's session was opened in, where runs of it may work.
    pub(crate) fn folder(&self) -> Option<String> {
        let folder = self.services.state.admin.access.page_folder(self.caller().actor.credential?)?;
        folder.expose().to_str().map(str::to_owned)
    }

    /// Returns a part of the path.
    pub(crate) fn param(&self, name: &str) -> String {
        value_of(&self.target.params, name)
    }

    /// Returns a value of the query; empty where there is none.
    pub(crate) fn query(&self, name: &str) -> String {
        value_of(&self.target.query, name)
    }

    /// Returns a number of the query; zero where there is none.
    pub(crate) fn query_number(&self, name: &str) -> u32 {
        self.query(name).parse().unwrap_or_default()
    }

    /// Returns the token of the form that is sent to `path`.
    pub(crate) fn form_token(&self, path: &str) -> String {
        form_token(self.session.cookie.expose(), path)
    }

    /// Returns a key that makes a repeated form harmless; each page that is loaded has another one.
    pub(crate) fn form_key(&self) -> String {
        let moment = format!("{} {}", self.target.path, self.services.clock.wall().0);
        form_token(self.session.cookie.expose(), &moment)
    }

    /// Returns the person at the page; `rows` are the operations of the rows of the navigation.
    pub(crate) fn signed_in(&self, rows: impl Iterator<Item = &'static str>) -> SignedIn {
        let known = self.services.state.admin.access.known();
        let name = known.name_of(self.caller().actor.principal).unwrap_or_default().to_owned();
        let caller = self.caller();
        let operations = rows.filter_map(OperationSpec::by_name);
        let refused = operations.filter(|operation| authorize(operation, &caller).is_err());
        let refused = refused.map(|operation| operation.name).collect();
        SignedIn { name, sign_out_token: self.form_token(SIGN_OUT_PATH), refused }
    }
}

fn too_long() -> ApiError {
    ApiError::new(ErrorCode::CallTimeout, "the call took too long".to_owned())
}

fn broken(what: &str) -> ApiError {
    ApiError::new(ErrorCode::Internal, what.to_owned())
}

fn value_of(pairs: &[(String, String)], name: &str) -> String {
    pairs.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone()).unwrap_or_default()
}
