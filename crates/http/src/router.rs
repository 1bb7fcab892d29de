//! The routes: one for every operation that declares an HTTP form, and the few that are no operation.

use std::sync::Arc;

use axum::Router;
use axum::extract::{RawPathParams, Request};
use axum::http::header::LOCATION;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, MethodRouter, get, on};
use palyra_api::ApiError;
use palyra_types::ErrorCode;
use palyra_wire::operations::{OPERATIONS, OperationSpec};

use crate::operation_call::{self, identity_of};
use crate::refusal::refusal_response;
use crate::services::HttpServices;
use crate::{downloads, metrics, probes, query, reference_page, run_events};

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
pub(crate) fn build_router(services: Arc<HttpServices>) -> Router {
    let mut router = Router::new();
    for operation in OPERATIONS {
        if let Some((path, route)) = operation_route(&services, operation) {
            router = router.route(path, route);
        }
    }
    let (events, files) = (Arc::clone(&services), Arc::clone(&services));
    let (ready, counters) = (Arc::clone(&services), services);
    router
        .route(
            EVENTS_PATH,
            get(async move |params, request| run_event_route(&events, &params, request).await),
        )
        .route(FILE_PATH, get(async move |params, request| file_route(&files, &params, request).await))
        .route(HEALTH_PATH, get(probes::health))
        .route(READINESS_PATH, get(async move || probes::readiness(&ready).await))
        .route(METRICS_PATH, get(async move || metrics::exposition(&counters).await))
        .route(DOCUMENT_PATH, get(reference_page::document))
        .route(REFERENCE_PATH, get(reference_page::page))
        .route(STYLE_PATH, get(reference_page::style))
        .route("/", get(to_reference))
        .fallback(no_route)
        .method_not_allowed_fallback(no_method)
}

/// Returns the path and the handler of an operation; `None` where it has no HTTP form.
fn operation_route(
    services: &Arc<HttpServices>,
    operation: &'static OperationSpec,
) -> Option<(&'static str, MethodRouter)> {
    let (method, path) = operation.http.split_once(' ')?;
    let method = if method == "POST" { MethodFilter::POST } else { MethodFilter::GET };
    let services = Arc::clone(services);
    let handler = async move |params: RawPathParams, request: Request| {
        let mut response = operation_call::respond(&services, operation, params, request).await;
        response.extensions_mut().insert(AnsweredBy(operation.name));
        response
    };
    Some((path, on(method, handler)))
}

async fn run_event_route(services: &HttpServices, params: &RawPathParams, request: Request) -> Response {
    // A body cannot be shared between threads, and what follows waits.
    let (parts, _) = request.into_parts();
    let opened = async {
        let identity = identity_of(&parts.extensions)?;
        let query = query::pairs(parts.uri.query().unwrap_or_default());
        let query = query.map_err(|fault| ApiError::invalid_argument(&fault.to_string()))?;
        run_events::respond(services, identity, param(params, "run_id"), &query, &parts.headers).await
    };
    named("RunEvents", opened.await)
}

async fn file_route(services: &HttpServices, params: &RawPathParams, request: Request) -> Response {
    let (parts, _) = request.into_parts();
    let opened = async {
        let identity = identity_of(&parts.extensions)?;
        let place = downloads::FilePlace {
            run_id: param(params, "run_id"),
            tape_seq: param(params, "tape_seq"),
            index: param(params, "index"),
        };
        downloads::respond(services, &identity, place, parts.uri.query().unwrap_or_default()).await
    };
    named("AttachmentContent", opened.await)
}

fn named(name: &'static str, answer: Result<Response, ApiError>) -> Response {
    let mut response = answer.unwrap_or_else(|refusal| refusal_response(&refusal));
    response.extensions_mut().insert(AnsweredBy(name));
    response
}

fn param<'a>(params: &'a RawPathParams, name: &str) -> &'a str {
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
