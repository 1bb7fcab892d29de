//! Who calls, and whether this call is for them: read from the connection and the `authorization` header.
//!
//! Every request passes [`AuthLayer`] before any service sees it; what a method declares in the schemas is judged by
//! [`palyra_api::authorize`].
//! Invariant: a principal comes from the socket's peer or from a live token, never from a message.

use std::task::{Context, Poll};

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_admin::access::{AccessHandle, token_in_authorization};
use palyra_api::ApiError;
use palyra_runtime::Caller;
use palyra_types::Content;
use palyra_types::access::{ActorIdentity, Credential};
use palyra_types::surface::Surface;
use palyra_wire::operations::{OPERATIONS, OperationScope, OperationSpec};
use tonic::body::Body;
use tonic::codegen::http;
use tonic::{Request, Status};
use tower::{Layer, Service};

use crate::connection::{ConnectionInfo, Peer};
use crate::status;

/// What a path names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CallTarget {
    /// A service that is open to probes without a token.
    Open,
    /// A service of a library, or a method that does not exist: for everyone with an identity.
    Identified,
    /// An operation: for whom it declares.
    Operation(&'static OperationSpec),
    /// Nothing that is known: only the owner of the socket learns so.
    Unlisted,
}

/// The health service, open to probes that hold no token.
pub(crate) const HEALTH: &str = "grpc.health.v1.Health";

/// Services of the libraries below that everyone with an identity may use.
const REFLECTION: [&str; 2] =
    ["grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection"];

/// Returns what a path names.
fn target(path: &str) -> CallTarget {
    if let Some(operation) = OperationSpec::by_path(path) {
        return CallTarget::Operation(operation);
    }
    match path.strip_prefix('/').and_then(|path| path.split_once('/')) {
        Some((HEALTH, _)) => CallTarget::Open,
        Some((service, _)) if REFLECTION.contains(&service) || is_for_principals(service) => {
            CallTarget::Identified
        }
        Some(_) | None => CallTarget::Unlisted,
    }
}

/// Returns whether no method of a service is for the owner; an unknown method of such a service keeps gRPC's own answer.
fn is_for_principals(service: &str) -> bool {
    let mut methods = OPERATIONS.iter().filter(|operation| operation.service == service).peekable();
    methods.peek().is_some() && methods.all(|method| method.scope != OperationScope::Admin)
}

/// Decides whether a caller may call what a path names.
fn authorize_target(target: CallTarget, caller: &Caller) -> Result<(), ApiError> {
    match target {
        CallTarget::Open | CallTarget::Identified => Ok(()),
        CallTarget::Operation(operation) => palyra_api::authorize(operation, caller),
        CallTarget::Unlisted if caller.actor.surface == Surface::LocalSocket => Ok(()),
        CallTarget::Unlisted => Err(ApiError::socket_only()),
    }
}

/// An identity that was proven, and what proved it.
#[derive(Debug, Clone)]
pub(crate) struct CallerIdentity {
    caller: Caller,
    proof: Proof,
}

#[derive(Debug, Clone)]
enum Proof {
    Socket,
    Token { text: Content<String>, credential: Credential },
}

impl CallerIdentity {
    /// Returns on whose behalf, and over which transport.
    pub(crate) fn caller(&self) -> Caller {
        self.caller
    }

    /// Returns whether it would be accepted again now, for the same: a token may have been revoked meanwhile, or its
    /// principal disabled or given another role.
    pub(crate) fn still_holds(&self, access: &AccessHandle) -> bool {
        match &self.proof {
            Proof::Socket => true,
            Proof::Token { text, credential } => access.authenticate(text.expose()) == Some(*credential),
        }
    }
}

/// Returns the identity that the gate put into a request.
pub(crate) fn identity<T>(request: &Request<T>) -> Result<CallerIdentity, Status> {
    let identity = request.extensions().get::<CallerIdentity>().cloned();
    identity.ok_or_else(|| status::of(&ApiError::unauthenticated()))
}

/// Takes a request apart into who calls and what they say.
pub(crate) fn open<T>(request: Request<T>) -> Result<(Caller, T), Status> {
    let caller = identity(&request)?.caller();
    Ok((caller, request.into_inner()))
}

/// A call that is not let through, and what is recorded of it.
struct GateRefusal {
    error: ApiError,
    act: Option<(&'static OperationSpec, ActorIdentity)>,
}

impl GateRefusal {
    fn of(error: ApiError, target: CallTarget, actor: Option<ActorIdentity>) -> Self {
        let operation = if let CallTarget::Operation(operation) = target { Some(operation) } else { None };
        Self { error, act: operation.zip(actor) }
    }

    async fn into_response(self, access: &AccessHandle) -> http::Response<Body> {
        if let Some((operation, actor)) = self.act {
            palyra_api::record_refusal(access, operation, actor, &self.error).await;
        }
        status::of(&self.error).into_http()
    }
}

impl From<ApiError> for GateRefusal {
    fn from(error: ApiError) -> Self {
        Self { error, act: None }
    }
}

/// Stands before every service.
#[derive(Clone)]
pub(crate) struct AuthLayer {
    access: AccessHandle,
    owner_uid: u32,
}

impl AuthLayer {
    /// Makes a gate; the owner is the user the daemon runs as.
    pub(crate) fn new(access: AccessHandle) -> Self {
        Self { access, owner_uid: rustix::process::geteuid().as_raw() }
    }

    /// Returns who calls; `None` for a probe of a service that is open to anyone.
    fn admit(&self, request: &http::Request<Body>) -> Result<Option<CallerIdentity>, GateRefusal> {
        let target = target(request.uri().path());
        let connection =
            request.extensions().get::<ConnectionInfo>().ok_or_else(ApiError::unauthenticated)?;
        let standing = connection.standing.as_deref();
        if let Some(standing) = standing {
            standing.note_call();
        }
        match connection.peer {
            Peer::Local(uid) => {
                check_owner(uid, self.owner_uid)?;
                Ok(Some(self.owner()))
            }
            Peer::Tcp => {
                let holder = self.holder(request.headers());
                if let (Some(standing), Some(_)) = (standing, &holder) {
                    standing.prove();
                }
                if target == CallTarget::Open {
                    return Ok(None);
                }
                let mut identity = holder.ok_or_else(|| self.unauthenticated(target, request.headers()))?;
                identity.caller = self.confirmed(target, identity.caller, request.headers());
                match authorize_target(target, &identity.caller) {
                    Ok(()) => Ok(Some(identity)),
                    Err(error) => Err(GateRefusal::of(error, target, Some(identity.caller.actor))),
                }
            }
        }
    }

    fn confirmed(&self, target: CallTarget, caller: Caller, headers: &http::HeaderMap) -> Caller {
        let code = headers.get(palyra_api::CONFIRMATION_HEADER).and_then(|code| code.to_str().ok());
        if let CallTarget::Operation(operation) = target {
            palyra_api::confirmed(&self.access, operation, caller, code)
        } else {
            caller
        }
    }

    /// Returns the refusal of a call without a credential that holds.
    fn unauthenticated(&self, target: CallTarget, headers: &http::HeaderMap) -> GateRefusal {
        let ended = bearer_token(headers).and_then(|token| self.access.ended_credential(token, Surface::Tcp));
        GateRefusal::of(ApiError::unauthenticated(), target, ended)
    }

    fn owner(&self) -> CallerIdentity {
        let caller = Caller::at_socket(self.access.local_principal());
        CallerIdentity { caller, proof: Proof::Socket }
    }

    fn holder(&self, headers: &http::HeaderMap) -> Option<CallerIdentity> {
        let token = bearer_token(headers)?;
        let credential = self.access.authenticate(token)?;
        let caller = Caller::with_credential(&credential, Surface::Tcp);
        Some(CallerIdentity { caller, proof: Proof::Token { text: token.into(), credential } })
    }
}

fn check_owner(uid: Option<u32>, owner_uid: u32) -> Result<(), ApiError> {
    if uid == Some(owner_uid) {
        return Ok(());
    }
    Err(ApiError::permission_denied("the daemon's Unix socket serves only the user it runs as"))
}

/// Returns the token of exactly one well-formed `authorization` header.
fn bearer_token(headers: &http::HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(http::header::AUTHORIZATION).iter();
    let (value, None) = (values.next()?, values.next()) else { return None };
    value.to_str().ok().and_then(token_in_authorization)
}

impl<S> Layer<S> for AuthLayer {
    type Service = AuthService<S>;

    fn layer(&self, inner: S) -> AuthService<S> {
        AuthService { gate: self.clone(), inner }
    }
}

/// A service behind the gate.
#[derive(Clone)]
pub(crate) struct AuthService<S> {
    gate: AuthLayer,
    inner: S,
}

impl<S> Service<http::Request<Body>> for AuthService<S>
where
    S: Service<http::Request<Body>, Response = http::Response<Body>>,
    S::Future: Send + 'static,
    S::Error: Send + 'static,
{
    type Response = http::Response<Body>;
    type Error = S::Error;
    type Future = BoxFuture<'static, Result<Self::Response, S::Error>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, mut request: http::Request<Body>) -> Self::Future {
        match self.gate.admit(&request) {
            Ok(identity) => {
                if let Some(identity) = identity {
                    request.extensions_mut().insert(identity);
                }
                let answer = self.inner.call(request);
                async move { Ok(status::dress(answer.await?)) }.boxed()
            }
            Err(refusal) => {
                let access = self.gate.access.clone();
                async move { Ok(refusal.into_response(&access).await) }.boxed()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use palyra_types::PrincipalId;

    use super::*;

    fn token_of(values: &[&str]) -> Option<String> {
        let mut headers = http::HeaderMap::new();
        for value in values {
            headers.append(http::header::AUTHORIZATION, value.parse().unwrap());
        }
        bearer_token(&headers).map(str::to_owned)
    }

    #[test]
    fn one_header_with_a_token_is_taken_and_no_other() {
        assert_eq!(token_of(&["Bearer palyra_ab"]).as_deref(), Some("palyra_ab"));
        for values in [&[][..], &["Basic palyra_ab"], &["Bearer palyra_ab", "Bearer palyra_ab"]] {
            assert_eq!(token_of(values), None, "{values:?}");
        }
    }

    #[test]
    fn only_the_owner_of_the_daemon_is_let_in_over_the_socket() {
        assert_eq!(check_owner(Some(7), 7), Ok(()));
        for stranger in [None, Some(0), Some(8)] {
            assert!(check_owner(stranger, 7).is_err(), "{stranger:?}");
        }
    }

    #[test]
    fn what_is_not_listed_is_for_the_owner_of_the_socket_alone() {
        assert_eq!(target("/palyra.v1.GatewayService/NewMethod"), CallTarget::Identified);
        assert_eq!(target("/grpc.reflection.v1.ServerReflection/X"), CallTarget::Identified);
        assert_eq!(target("/grpc.health.v1.Health/Check"), CallTarget::Open);
        for path in ["/palyra.v1.ProofService/GetCheckpoint", "/palyra.v1.GatewayService/RunStream"] {
            assert!(
                matches!(target(path), CallTarget::Operation(operation) if operation.path == path),
                "{path}"
            );
        }
        for path in [
            "/palyra.v1.NewService/X",
            "/palyra.v1.AdminService/NewMethod",
            "/palyra.v1.ProofService/NewMethod",
            "//grpc.health.v1.Health/Check",
            "/",
            "",
        ] {
            assert_eq!(target(path), CallTarget::Unlisted, "{path}");
        }
        let socket = Caller::at_socket(PrincipalId::from_parts(1, 1));
        let tcp = Caller { actor: ActorIdentity { surface: Surface::Tcp, ..socket.actor }, ..socket };
        assert_eq!(authorize_target(CallTarget::Unlisted, &socket), Ok(()));
        assert_eq!(authorize_target(CallTarget::Unlisted, &tcp), Err(ApiError::socket_only()));
    }
}
