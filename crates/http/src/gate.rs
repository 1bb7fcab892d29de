//! What every request passes before a route sees it, and every response before it leaves.
//!
//! In order: the framing, the name and the page that made the request, the credential, the length of the body. A path
//! that is not listed as public is for callers with a token, whether there is a route or not. Begin at [`RequestGate::answer`].

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::Router;
use axum::body::Body;
use axum::http::header::{CONNECTION, LOCATION, TRANSFER_ENCODING};
use axum::http::{HeaderName, HeaderValue, Method, Request, StatusCode};
use axum::response::Response;
use hyper::body::Incoming;
use palyra_api::ApiError;
use palyra_types::ErrorCode;
use tokio::time::Instant;
use tower::ServiceExt;

use crate::identity::{EndedCredential, HttpIdentity, ShownIdentity, identify, identify_page};
use crate::limits::INPUT_BODY_BYTES_MAX;
use crate::origin::{OriginRefusal, OriginRules, ShownCredential, TargetKind, TransportSecurity};
use crate::quota::PrincipalQuota;
use crate::refusal::refusal_response;
use crate::request_body::{BodyAllowance, BodyShare, MeteredBody, check_length};
use crate::router::{self, AnsweredBy};
use crate::security_headers::harden;
use crate::services::HttpServices;
use crate::socket::ConnectionState;

/// The header that names a request in answers and in the log.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// Pages that hold nothing of anyone.
const PAGES: [&str; 4] = ["/", router::REFERENCE_PATH, router::STYLE_PATH, router::DOCUMENT_PATH];
/// Probes of supervisors, which hold no token.
const PROBES: [&str; 2] = [router::HEALTH_PATH, router::READINESS_PATH];

/// The credential that the routes of a surface take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MountedCallers {
    /// A token in the `authorization` header; without one nothing is answered.
    Programs,
    /// The cookie of a page session, and nothing else. Without one the routes are reached as well: they answer with a
    /// way to sign in.
    Pages,
}

/// Routes of another surface, served behind the same gate.
///
/// Handlers find the caller as [`HttpIdentity`] and the request's number as [`RequestId`] in the extensions of a request.
pub struct MountedRoutes {
    /// Paths that begin with it belong to the surface, such as `/v1/`.
    pub prefix: &'static str,
    /// The credential of their callers.
    pub callers: MountedCallers,
    /// The routes, with full paths.
    pub router: Router,
    /// Bytes of a body, at most.
    pub body_bytes_max: usize,
    /// How the surface words a refusal of the gate.
    pub refuse: fn(&ApiError) -> Response,
}

/// The name of a request, which its response carries as `x-request-id`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestId(Arc<str>);

impl RequestId {
    /// Returns the name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Names requests: a number of this start, and a count.
struct RequestNames {
    start: u64,
    count: AtomicU64,
}

impl RequestNames {
    fn new() -> Self {
        Self { start: RandomState::new().build_hasher().finish(), count: AtomicU64::new(0) }
    }

    fn next(&self) -> RequestId {
        let count = self.count.fetch_add(1, Ordering::Relaxed);
        RequestId(format!("req_{:016x}{count:08x}", self.start).into())
    }
}

/// What every request of one listener passes first.
pub(crate) struct RequestGate {
    rules: OriginRules,
    security: TransportSecurity,
    services: Arc<HttpServices>,
    own: Router,
    mounted: Vec<MountedRoutes>,
    bodies: Arc<PrincipalQuota>,
    names: RequestNames,
}

/// A request that goes on.
struct AdmittedRequest {
    identity: Option<HttpIdentity>,
    /// The holder of a token that no longer works: the request is refused, and the route records its operation.
    ended: Option<EndedCredential>,
    bytes_max: usize,
}

/// Why a request does not go on.
enum GateRefusal {
    Refused(ApiError),
    /// To the canonical origin.
    Moved,
}

impl From<ApiError> for GateRefusal {
    fn from(refusal: ApiError) -> Self {
        Self::Refused(refusal)
    }
}

impl RequestGate {
    pub(crate) fn new(
        services: Arc<HttpServices>,
        rules: OriginRules,
        security: TransportSecurity,
        mounted: Vec<MountedRoutes>,
    ) -> Self {
        let own = router::build_router(&services);
        let limits = services.limits;
        let bodies = Arc::new(PrincipalQuota::new(limits.bodies_kib_max, limits.bodies_of_one_kib_max));
        Self { rules, security, services, own, mounted, bodies, names: RequestNames::new() }
    }

    /// Answers a request.
    pub(crate) async fn answer(&self, request: Request<Incoming>, connection: &ConnectionState) -> Response {
        let began = Instant::now();
        connection.newcomer.note_call();
        let name = self.names.next();
        let is_chunked = request.headers().contains_key(TRANSFER_ENCODING);
        let mount = self.mounted.iter().find(|mount| request.uri().path().starts_with(mount.prefix));
        let mut response = match self.admit(&request, mount) {
            Ok(admitted) => {
                if admitted.identity.is_some() {
                    connection.newcomer.prove();
                }
                self.pass(request, admitted, mount, name.clone()).await
            }
            Err(GateRefusal::Refused(refusal)) => {
                mount.map_or(refusal_response as fn(&ApiError) -> Response, |mount| mount.refuse)(&refusal)
            }
            Err(GateRefusal::Moved) => self.moved(&request),
        };
        if is_chunked || response.status() == StatusCode::PAYLOAD_TOO_LARGE {
            connection.note_unread_body();
        }
        harden(response.headers_mut(), self.security);
        if let Ok(value) = HeaderValue::from_str(name.as_str()) {
            response.headers_mut().insert(REQUEST_ID, value);
        }
        if is_chunked {
            // Where a proxy reads a length and we read chunks, nothing that follows is taken for a request.
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
        let operation = response.extensions().get().map_or("other", |by: &AnsweredBy| by.0);
        self.services.metrics.note(operation, response.status(), began.elapsed());
        response
    }

    fn admit(
        &self,
        request: &Request<Incoming>,
        mount: Option<&MountedRoutes>,
    ) -> Result<AdmittedRequest, GateRefusal> {
        if request.uri().authority().is_some() || request.method() == Method::CONNECT {
            return Err(ApiError::invalid_frame("this server is not a proxy: send the path alone").into());
        }
        if let Some(mount) = mount.filter(|mount| mount.callers == MountedCallers::Pages) {
            return self.admit_page(request, mount);
        }
        let target = target_of(request.uri().path());
        let shown = identify(&self.services.state.admin.access, request.headers());
        let credential = match &shown {
            ShownIdentity::Nothing => ShownCredential::Nothing,
            ShownIdentity::Holder(_) | ShownIdentity::Rejected(_) => ShownCredential::Token,
        };
        let checked = self.rules.check(request.method(), request.headers(), target, credential);
        checked.map_err(|refusal| self.origin_refusal(&refusal))?;
        let identity = match shown {
            ShownIdentity::Holder(identity) => Some(*identity),
            ShownIdentity::Nothing if target != TargetKind::Data => None,
            ShownIdentity::Rejected(Some(actor)) if target == TargetKind::Data && mount.is_none() => {
                return Ok(AdmittedRequest {
                    identity: None,
                    ended: Some(EndedCredential(actor)),
                    bytes_max: 0,
                });
            }
            ShownIdentity::Nothing | ShownIdentity::Rejected(_) => {
                return Err(ApiError::unauthenticated().into());
            }
        };
        let bytes_max = match (target, mount) {
            (TargetKind::Page | TargetKind::Probe, _) => 0,
            (TargetKind::Data, Some(mount)) => mount.body_bytes_max,
            (TargetKind::Data, None) => INPUT_BODY_BYTES_MAX,
        };
        check_length(request.headers(), bytes_max)?;
        Ok(AdmittedRequest { identity, ended: None, bytes_max })
    }

    /// Admits a request for a page of a surface: by the canonical name only, since cookies ignore ports.
    fn admit_page(
        &self,
        request: &Request<Incoming>,
        mount: &MountedRoutes,
    ) -> Result<AdmittedRequest, GateRefusal> {
        let headers = request.headers();
        let checked = self.rules.check(request.method(), headers, TargetKind::Page, ShownCredential::Nothing);
        checked.map_err(|refusal| self.origin_refusal(&refusal))?;
        let bytes_max = if request.method() == Method::POST { mount.body_bytes_max } else { 0 };
        check_length(headers, bytes_max)?;
        let security = self.rules.canonical().security();
        let identity = identify_page(&self.services.state.admin.access, headers, security);
        Ok(AdmittedRequest { identity, ended: None, bytes_max })
    }

    fn origin_refusal(&self, refusal: &OriginRefusal) -> GateRefusal {
        let refusal = match refusal {
            OriginRefusal::Moved => return GateRefusal::Moved,
            OriginRefusal::BadHost => {
                ApiError::invalid_frame("exactly one well-formed `host` header is needed")
            }
            OriginRefusal::UnknownHost => {
                let text = format!(
                    "this server is {}; with a token also 127.0.0.1 and [::1] are taken",
                    self.rules.canonical()
                );
                ApiError::new(ErrorCode::UnknownHost, text)
            }
            OriginRefusal::CrossSite => {
                let text =
                    format!("a page of another origin than {} may not call this", self.rules.canonical());
                ApiError::new(ErrorCode::CrossSiteRequest, text)
            }
        };
        GateRefusal::Refused(refusal)
    }

    /// Hands a request to the routes.
    async fn pass(
        &self,
        request: Request<Incoming>,
        admitted: AdmittedRequest,
        mount: Option<&MountedRoutes>,
        name: RequestId,
    ) -> Response {
        let share = BodyShare::default();
        let allowance = BodyAllowance {
            bytes_max: admitted.bytes_max,
            span: self.services.limits.body_span,
            quota: Arc::clone(&self.bodies),
            principal: admitted.identity.as_ref().map(|identity| identity.caller().actor.principal),
            share: Arc::clone(&share),
        };
        let mut request = request.map(|body| Body::new(MeteredBody::new(body, allowance)));
        request.extensions_mut().insert(name);
        if let Some(identity) = admitted.identity {
            request.extensions_mut().insert(identity);
        }
        if let Some(ended) = admitted.ended {
            request.extensions_mut().insert(ended);
        }
        let routes = mount.map_or(&self.own, |mount| &mount.router);
        let response = routes.clone().oneshot(request).await.unwrap_or_else(|never| match never {});
        drop(share);
        if admitted.ended.is_some() { refusal_response(&ApiError::unauthenticated()) } else { response }
    }

    fn moved(&self, request: &Request<Incoming>) -> Response {
        let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::PERMANENT_REDIRECT;
        if let Ok(location) = HeaderValue::from_str(&self.rules.canonical().url(path)) {
            response.headers_mut().insert(LOCATION, location);
        }
        response
    }
}

fn target_of(path: &str) -> TargetKind {
    if PAGES.contains(&path) {
        TargetKind::Page
    } else if PROBES.contains(&path) {
        TargetKind::Probe
    } else {
        TargetKind::Data
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_listed_is_for_callers_with_a_token() {
        for data in
            ["/api/v1/status", "/api/v1", "/metrics", "/v1/models", "/healthz/", "//healthz", "/nothing", ""]
        {
            assert_eq!(target_of(data), TargetKind::Data, "{data}");
        }
        assert_eq!((target_of("/healthz"), target_of("/api")), (TargetKind::Probe, TargetKind::Page));
    }

    #[test]
    fn names_of_requests_are_never_repeated() {
        let names = RequestNames::new();
        assert_ne!(names.next(), names.next());
        assert_ne!(names.next(), RequestNames::new().next());
    }
}
