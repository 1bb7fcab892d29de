//! One call of a client: who calls, what came with it, and how its body is read.

use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Body;
use axum::extract::{RawPathParams, Request};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, HeaderValue};
use axum::response::Response;
use palyra_api::ApiError;
use palyra_http::{HttpIdentity, StreamWatch, read_body};
use palyra_ports::{GATEWAY_HEADER, GATEWAY_LOOP_CODE};
use palyra_runtime::Caller;
use palyra_types::surface::Surface;
use palyra_types::{Content, ErrorCode};
use serde_json::Value;

use super::client_hints::ClientHints;
use super::services::OpenAiServices;
use crate::conversation::body_digest;
use crate::error_reply::ErrorReply;
use crate::identifiers::ResponseId;

/// A call that passed the gate.
pub(crate) struct OpenAiCall {
    pub(crate) services: OpenAiServices,
    pub(crate) identity: HttpIdentity,
    pub(crate) headers: HeaderMap,
    /// The parameter in the path, decoded.
    pub(crate) name: String,
    pub(crate) query: String,
    /// The gateways that the request passed.
    gateways: Vec<String>,
    /// Behind a lock only so that a call can be shared between threads; it is read once.
    body: Mutex<Body>,
}

/// A body that is JSON, and its digest.
pub(crate) struct JsonBody {
    pub(crate) value: Value,
    pub(crate) digest: Content<String>,
}

impl OpenAiCall {
    /// Takes a request apart; `None` where it did not pass the gate.
    pub(crate) fn of(services: &OpenAiServices, params: &RawPathParams, request: Request) -> Option<Self> {
        let (parts, body) = request.into_parts();
        let identity = parts.extensions.get::<HttpIdentity>().cloned()?;
        Some(Self {
            services: services.clone(),
            identity,
            headers: parts.headers,
            name: params.iter().next().map(|(_, value)| value.to_owned()).unwrap_or_default(),
            query: parts.uri.query().unwrap_or_default().to_owned(),
            gateways: Vec::new(),
            body: Mutex::new(body),
        })
    }

    /// Returns who calls: over this surface, whose profile says what a program may not decide.
    pub(crate) fn caller(&self) -> Caller {
        Caller::with_credential(self.identity.credential(), Surface::Openai)
    }

    pub(crate) fn watch(&self) -> StreamWatch {
        let OpenAiServices { state, clock, stop, .. } = &self.services;
        StreamWatch::new(self.identity.clone(), state, Arc::clone(clock), stop.clone())
    }

    /// Reads which gateways the request passed; refuses it where this one is among them.
    pub(crate) fn read_gateways(&mut self) -> Result<(), ErrorReply> {
        let Some(header) = self.headers.get(GATEWAY_HEADER).and_then(|value| value.to_str().ok()) else {
            return Ok(());
        };
        let passed = self.services.gateways.check(header);
        let passed =
            passed.map_err(|found| ErrorReply::malformed(found.to_string()).with_code(GATEWAY_LOOP_CODE));
        self.gateways = passed?;
        Ok(())
    }

    pub(crate) fn hints(&self) -> Result<ClientHints, ErrorReply> {
        Ok(ClientHints { gateways: self.gateways.clone(), ..ClientHints::of(&self.headers)? })
    }

    /// Reads the body.
    pub(crate) async fn json(&mut self) -> Result<JsonBody, ErrorReply> {
        let is_json = self
            .headers
            .get(CONTENT_TYPE)
            .and_then(|value| value.to_str().ok())
            .is_none_or(|text| text.trim_start().to_ascii_lowercase().starts_with("application/json"));
        if !is_json {
            return Err(ErrorReply::malformed(
                "The body must be JSON: send `Content-Type: application/json`.",
            ));
        }
        let body = std::mem::take(self.body.get_mut().unwrap_or_else(PoisonError::into_inner));
        let bytes = read_body(body).await.map_err(|fault| ErrorReply::from(&ApiError::from(fault)))?;
        let value = serde_json::from_slice(&bytes).map_err(|error| {
            let text =
                format!("The body is not valid JSON (line {}, column {}).", error.line(), error.column());
            ErrorReply::malformed(text)
        })?;
        Ok(JsonBody { value, digest: body_digest(&bytes) })
    }

    /// Returns a parameter of the query; values are numbers and words, which need no decoding.
    pub(crate) fn parameter(&self, name: &str) -> Option<&str> {
        self.query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))
    }
}

/// Returns the response of an object.
pub(crate) fn object_response(object: &Value) -> Response {
    let mut response = Response::new(Body::from(object.to_string()));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// Returns the error of a previous response that does not exist; without one, another error.
pub(crate) fn previous_or_unknown(
    previous: Option<ResponseId>,
    unknown: impl FnOnce() -> ErrorReply,
) -> ErrorReply {
    previous.map_or_else(unknown, |previous| ErrorReply::previous_response_not_found(&previous.to_string()))
}

/// Returns the error of a response that does not exist, or is not the caller's.
pub(crate) fn no_response() -> ErrorReply {
    ErrorReply::not_found(format!("No such response ({}).", ErrorCode::RunNotFound))
}
