//! The routes: one for every operation that declares an HTTP form, and a few by hand.

use std::future::Future;
use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::http::header::LOCATION;
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, MethodRouter, get, on};
use palyra_api::ApiError;
use palyra_types::ErrorCode;
use palyra_types::access::AccessScope;
use palyra_wire::operations::{OPERATIONS, OperationSpec};

use crate::identity::HttpIdentity;
use crate::operation_call::{self, PathParams};
use crate::refusal::refusal_response;
use crate::services::HttpServices;
use crate::{downloads, metrics_page, probes, query, reference_page, run_events};

/// The OpenAPI document.
pub(crate) const DOCUMENT_PATH: &str = "/api/v1/openapi.json";
/// The reference page made of it.
pub(crate) const REFERENCE_PATH: &str = "/api";
/// Its style sheet.
pub(crate) const STYLE_PATH: &str = "/api/reference.css";
/// Whether the process lives.
pub(crate) const HEALTH_PATH: &str = "/healthz";
/// Whether it can work.
pub(crate) const READINESS_PATH: &str = "/readyz";
/// Counters for Prometheus.
pub(crate) const METRICS_PATH: &str = "/metrics";
/// The events of a run.
const EVENTS_PATH: &str = "/api/v1/runs/{run_id}/events";
/// The bytes of a file that came with an input.
const FILE_PATH: &str = "/api/v1/runs/{run_id}/attachments/{tape_seq}/{index}/content";

/// Which operation answered; for metrics.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AnsweredBy(pub(crate) &'static str);

/// Returns the router of everything that is ours.
pub(crate) fn build_router(services: &Arc<HttpServices>) -> Router {
    let mut router = Router::new();
    for operation in OPERATIONS {
        if let Some((path, route)) = operation_route(services, operation) {
            router = router.route(path, route);
        }
    }
    router
        .route(EVENTS_PATH, with_services(services, run_event_route))
        .route(FILE_PATH, with_services(services, file_route))
        .route(READINESS_PATH, with_services(services, readiness_route))
        .route(METRICS_PATH, with_services(services, metrics_route))
        .route(HEALTH_PATH, get(probes::health))
        .route(DOCUMENT_PATH, get(reference_page::document))
        .route(REFERENCE_PATH, get(reference_page::page))
        .route(STYLE_PATH, get(reference_page::style))
        .route("/", get(to_reference))
        .fallback(no_route)
        .method_not_allowed_fallback(no_method)
}

/// What a route by hand is given.
struct RouteCall {
    services: Arc<HttpServices>,
    params: PathParams,
    parts: Parts,
}

impl RouteCall {
    /// Returns who calls, if what an operation reads is for them.
    async fn admitted(&self, operation: &str) -> Result<HttpIdentity, ApiError> {
        let operation = OperationSpec::by_name(operation).ok_or_else(ApiError::unauthenticated)?;
        operation_call::admitted(&self.services, operation, &self.parts).await
    }
}

/// Returns a GET route by hand; its name is the one in metrics.
fn with_services<F>(services: &Arc<HttpServices>, route: fn(RouteCall) -> F) -> MethodRouter
where
    F: Future<Output = (&'static str, Result<Response, ApiError>)> + Send + 'static,
{
    let services = Arc::clone(services);
    get(async move |params: PathParams, request: Request| {
        // A body cannot be shared between threads, and what follows waits.
        let (parts, _) = request.into_parts();
        let (name, answer) = route(RouteCall { services, params, parts }).await;
        let mut response = answer.unwrap_or_else(|refusal| refusal_response(&refusal));
        response.extensions_mut().insert(AnsweredBy(name));
        response
    })
}

/// Returns the path and the handler of an operation; `None` where it has no HTTP form.
fn operation_route(
    services: &Arc<HttpServices>,
    operation: &'static OperationSpec,
) -> Option<(&'static str, MethodRouter)> {
    let (method, path) = operation.http.split_once(' ')?;
    let method = if method == "POST" { MethodFilter::POST } else { MethodFilter::GET };
    let services = Arc::clone(services);
    let handler = async move |params: PathParams, request: Request| {
        let mut response = operation_call::respond(&services, operation, params, request).await;
        response.extensions_mut().insert(AnsweredBy(operation.name));
        response
    };
    Some((path, on(method, handler)))
}

async fn run_event_route(call: RouteCall) -> (&'static str, Result<Response, ApiError>) {
    let answer = async {
        let identity = call.admitted("ReadTape").await?;
        let query = query::query_pairs(call.parts.uri.query().unwrap_or_default());
        let query = query.map_err(|fault| ApiError::invalid_argument(&fault.to_string()))?;
        let run_id = param(&call.params, "run_id");
        run_events::respond(&call.services, identity, run_id, &query, &call.parts.headers).await
    };
    ("RunEvents", answer.await)
}

async fn file_route(call: RouteCall) -> (&'static str, Result<Response, ApiError>) {
    let answer = async {
        let identity = call.admitted("ReadAttachment").await?;
        let place = downloads::FilePlace {
            run_id: param(&call.params, "run_id"),
            tape_seq: param(&call.params, "tape_seq"),
            index: param(&call.params, "index"),
        };
        downloads::respond(&call.services, &identity, place, call.parts.uri.query().unwrap_or_default()).await
    };
    ("AttachmentContent", answer.await)
}

async fn readiness_route(call: RouteCall) -> (&'static str, Result<Response, ApiError>) {
    ("Readiness", Ok(probes::readiness(&call.services).await))
}

async fn metrics_route(call: RouteCall) -> (&'static str, Result<Response, ApiError>) {
    let may_see = call
        .parts
        .extensions
        .get::<HttpIdentity>()
        .is_some_and(|identity| identity.caller().scopes.contains(AccessScope::Metrics));
    let answer = if may_see {
        Ok(metrics_page::exposition(&call.services).await)
    } else {
        Err(ApiError::scope_missing(AccessScope::Metrics))
    };
    ("Metrics", answer)
}

fn param<'a>(params: &'a PathParams, name: &str) -> &'a str {
    params.iter().find(|(known, _)| *known == name).map(|(_, value)| value).unwrap_or_default()
}

async fn to_reference() -> Response {
    (StatusCode::TEMPORARY_REDIRECT, [(LOCATION, HeaderValue::from_static(REFERENCE_PATH))]).into_response()
}

async fn no_route() -> Response {
    let text = format!("there is nothing at this path; {DOCUMENT_PATH} lists the paths there are");
    refusal_response(&ApiError::new(ErrorCode::RouteNotFound, text))
}

async fn no_method() -> Response {
    let text = format!("this path takes another method; {DOCUMENT_PATH} lists the methods of each path");
    refusal_response(&ApiError::new(ErrorCode::MethodNotAllowed, text))
}
