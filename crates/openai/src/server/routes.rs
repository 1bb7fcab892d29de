//! The routes below `/v1`. Begin at [`openai_routes`].

use std::sync::Arc;

use axum::Router;
use axum::extract::{RawPathParams, Request};
use axum::response::Response;
use axum::routing::{any, get, post};
use palyra_http::{MountedCallers, MountedRoutes, OPENAI_BODY_BYTES_MAX};
use palyra_ports::{Clock, GatewayTrail};
use palyra_runtime::GatewayRuntimeState;
use palyra_types::access::AccessScope;
use tokio_util::sync::CancellationToken;

use super::openai_call::OpenAiCall;
use super::refusals::{error_response, gate_refusal};
use super::services::{OpenAiServices, OpenAiSpans};
use super::{chat, embeddings, models, responses};
use crate::error_reply::ErrorReply;

/// Returns the routes below `/v1`, for the HTTP server to mount; `spans` are measured by `clock`, and `gateways` finds a
/// request that this daemon made itself.
#[must_use]
pub fn openai_routes(
    state: GatewayRuntimeState,
    spans: OpenAiSpans,
    clock: Arc<dyn Clock>,
    stop: CancellationToken,
    gateways: GatewayTrail,
) -> MountedRoutes {
    let services = OpenAiServices::new(state, spans, clock, stop, gateways);
    MountedRoutes {
        prefix: "/v1/",
        callers: MountedCallers::Programs,
        router: router(&services),
        body_bytes_max: OPENAI_BODY_BYTES_MAX,
        refuse: gate_refusal,
    }
}

/// Makes a route of a function that takes a call.
macro_rules! route {
    ($services:expr, $answer:path) => {{
        let services = $services.clone();
        async move |params: RawPathParams, request: Request| -> Response {
            match OpenAiCall::of(&services, &params, request) {
                Some(call) if !call.caller().scopes.contains(AccessScope::Openai) => {
                    gate_refusal(&palyra_api::ApiError::scope_missing(AccessScope::Openai))
                }
                Some(mut call) => match call.read_gateways() {
                    Ok(()) => $answer(call).await.unwrap_or_else(|error| error_response(&error)),
                    Err(error) => error_response(&error),
                },
                None => gate_refusal(&palyra_api::ApiError::unauthenticated()),
            }
        }
    }};
}

fn router(services: &OpenAiServices) -> Router {
    Router::new()
        .route("/v1/models", get(route!(services, models::list)))
        .route("/v1/models/{*id}", get(route!(services, models::get)))
        .route("/v1/chat/completions", post(route!(services, chat::create)))
        .route("/v1/embeddings", post(route!(services, embeddings::create)))
        // A client that asks for a WebSocket here goes on without one.
        .route("/v1/responses", post(route!(services, responses::create)).get(no_route))
        .route("/v1/responses/compact", any(no_route))
        .route(
            "/v1/responses/{id}",
            get(route!(services, responses::retrieve)).delete(route!(services, responses::delete)),
        )
        .route("/v1/responses/{id}/cancel", post(route!(services, responses::cancel)))
        .route("/v1/responses/{id}/input_items", get(route!(services, responses::input_items)))
        .fallback(no_route)
        .method_not_allowed_fallback(no_method)
}

async fn no_route() -> Response {
    error_response(&ErrorReply::not_found(
        "There is nothing at this path. Offered are /v1/models, /v1/chat/completions, /v1/responses and /v1/embeddings.",
    ))
}

async fn no_method() -> Response {
    error_response(&ErrorReply::malformed("This path takes another method.").with_status(405))
}
