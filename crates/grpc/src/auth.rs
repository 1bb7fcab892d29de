//! Who calls, and whether this call is for them: read from the connection and the `authorization` header.
//!
//! Every request passes [`AuthLayer`] before any service sees it; for whom a method is, it declares in the schemas.
//! Invariant: a principal comes from the socket's peer or from a live token, never from a message.

use std::task::{Context, Poll};

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_admin::access::{AccessHandle, TOKEN_PREFIX};
use palyra_api::ApiError;
use palyra_runtime::Caller;
use palyra_types::run::Surface;
use palyra_types::{Content, PrincipalId};
use palyra_wire::operations::{OPERATIONS, OperationAudience, OperationSpec};
use tonic::body::Body;
use tonic::codegen::http;
use tonic::{Request, Status};
use tower::{Layer, Service};

use crate::connection::{ConnectionInfo, Peer};
use crate::status;

/// Whom a call is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CallAudience {
    /// Whoever can connect.
    Anyone,
    /// Whoever has an identity: the owner, or the holder of a token.
    Principals,
    /// The owner of the daemon, over its Unix socket.
    Owner,
}

/// The health service, open to probes that hold no token.
pub(crate) const HEALTH: &str = "grpc.health.v1.Health";

/// Services of the libraries below that everyone with an identity may use.
const REFLECTION: [&str; 2] =
    ["grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection"];

/// Returns for whom a call is: what its method declares, and for the owner where nothing is declared.
fn audience(path: &str) -> CallAudience {
    if let Some(operation) = OperationSpec::by_path(path) {
        return match operation.audience {
            OperationAudience::Principals => CallAudience::Principals,
            OperationAudience::Owner => CallAudience::Owner,
        };
    }
    match path.strip_prefix('/').and_then(|path| path.split_once('/')) {
        Some((HEALTH, _)) => CallAudience::Anyone,
        Some((service, _)) if REFLECTION.contains(&service) || is_for_principals(service) => {
            CallAudience::Principals
        }
        Some(_) | None => CallAudience::Owner,
    }
}

/// Returns whether all methods of a service are for everyone with an identity; an unknown method of such a service
/// keeps gRPC's own answer.
fn is_for_principals(service: &str) -> bool {
    let mut methods = OPERATIONS.iter().filter(|operation| operation.service == service).peekable();
    methods.peek().is_some() && methods.all(|method| method.audience == OperationAudience::Principals)
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
    Token(Content<String>),
}

impl CallerIdentity {
    /// Returns on whose behalf, and over which transport.
    pub(crate) fn caller(&self) -> Caller {
        self.caller
    }

    /// Returns whether it would be accepted again now; a token may have been revoked meanwhile.
    pub(crate) fn still_holds(&self, access: &AccessHandle) -> bool {
        match &self.proof {
            Proof::Socket => true,
            Proof::Token(token) => access.authenticate(token.expose()) == Some(self.caller.principal),
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
    fn admit(&self, request: &http::Request<Body>) -> Result<Option<CallerIdentity>, ApiError> {
        let audience = audience(request.uri().path());
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
                if audience == CallAudience::Anyone {
                    return Ok(None);
                }
                let identity = holder.ok_or_else(ApiError::unauthenticated)?;
                if audience == CallAudience::Owner {
                    return Err(ApiError::permission_denied(
                        "this call is only answered on the daemon's Unix socket",
                    ));
                }
                Ok(Some(identity))
            }
        }
    }

    fn owner(&self) -> CallerIdentity {
        let caller = Caller { principal: self.access.local_principal(), surface: Surface::LocalSocket };
        CallerIdentity { caller, proof: Proof::Socket }
    }

    fn holder(&self, headers: &http::HeaderMap) -> Option<CallerIdentity> {
        let token = bearer_token(headers)?;
        let principal: PrincipalId = self.access.authenticate(token)?;
        let caller = Caller { principal, surface: Surface::Tcp };
        Some(CallerIdentity { caller, proof: Proof::Token(token.into()) })
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
    let (scheme, token) = value.to_str().ok()?.split_once(' ')?;
    let whole = token.strip_prefix(TOKEN_PREFIX).is_some_and(|secret| !secret.is_empty());
    (scheme.eq_ignore_ascii_case("bearer") && whole).then_some(token)
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
                let response = status::of(&refusal).into_http();
                async move { Ok(response) }.boxed()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token_of(values: &[&str]) -> Option<String> {
        let mut headers = http::HeaderMap::new();
        for value in values {
            headers.append(http::header::AUTHORIZATION, value.parse().unwrap());
        }
        bearer_token(&headers).map(str::to_owned)
    }

    #[test]
    fn one_bearer_token_is_taken_and_all_else_is_not() {
        assert_eq!(token_of(&["Bearer palyra_ab"]).as_deref(), Some("palyra_ab"));
        assert_eq!(token_of(&["bearer palyra_ab"]).as_deref(), Some("palyra_ab"));
        let bad: &[&[&str]] = &[
            &[],
            &[""],
            &["Bearer"],
            &["Bearer "],
            &["Bearer palyra_"],
            &["Bearer other_ab"],
            &["Bearer  palyra_ab"],
            &["Basic palyra_ab"],
            &["palyra_ab"],
            &["Bearer palyra_ab", "Bearer palyra_ab"],
        ];
        for values in bad {
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
    fn a_service_that_is_not_listed_is_for_the_owner_alone() {
        assert_eq!(audience("/palyra.v1.GatewayService/NewMethod"), CallAudience::Principals);
        assert_eq!(audience("/palyra.v1.ProofService/GetCheckpoint"), CallAudience::Principals);
        assert_eq!(audience("/grpc.reflection.v1.ServerReflection/X"), CallAudience::Principals);
        assert_eq!(audience("/palyra.v1.GatewayService/RunStream"), CallAudience::Principals);
        assert_eq!(audience("/grpc.health.v1.Health/Check"), CallAudience::Anyone);
        for path in [
            "/palyra.v1.AdminService/Shutdown",
            "/palyra.v1.NewService/X",
            "/palyra.v1.ProofService/NewMethod",
            "/palyra.v1.ProofService/ExportJournal",
            "//grpc.health.v1.Health/Check",
            "/",
            "",
        ] {
            assert_eq!(audience(path), CallAudience::Owner, "{path}");
        }
    }
}
