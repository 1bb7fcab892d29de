//! The one place where an error becomes a response.
//!
//! Invariant: what a lower floor says is passed on only where it is about the client's own input; otherwise the summary
//! of the code is, which names no path and no tool.

use axum::body::Body;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::Response;
use palyra_api::ApiError;
use palyra_runtime::RequestError;
use palyra_runtime::tape::TapeError;
use palyra_types::ErrorCode;

use crate::error_reply::{ErrorReply, RetryAdvice};

/// Pause before a request is repeated whose outcome is not known.
const UNKNOWN_PAUSE: std::time::Duration = std::time::Duration::from_secs(2);

impl From<RequestError> for ErrorReply {
    fn from(error: RequestError) -> Self {
        Self::from(&ApiError::from(error))
    }
}

impl From<TapeError> for ErrorReply {
    fn from(error: TapeError) -> Self {
        Self::from(&ApiError::from(error))
    }
}

impl From<&ApiError> for ErrorReply {
    fn from(error: &ApiError) -> Self {
        let code = error.code();
        let about_input = matches!(
            code,
            ErrorCode::InvalidArgument
                | ErrorCode::MessageTooLarge
                | ErrorCode::AttachmentRefused
                | ErrorCode::InvalidFrame
                | ErrorCode::Unauthenticated
                | ErrorCode::PermissionDenied
                | ErrorCode::ScopeMissing
        );
        let reply = Self::of_code(code, if about_input { error.text() } else { code.summary() });
        match code {
            ErrorCode::Unauthenticated => reply.with_code("invalid_api_key"),
            // A repetition finds out, and attaches to the run if there is one.
            ErrorCode::WriteUnknown => reply.with_retry(RetryAdvice::After(UNKNOWN_PAUSE)),
            _ => reply,
        }
    }
}

/// Returns the response of an error.
#[must_use]
pub(crate) fn error_response(error: &ErrorReply) -> Response {
    let mut response = Response::new(Body::from(error.body().to_string()));
    *response.status_mut() =
        StatusCode::from_u16(error.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    for (name, value) in error.headers() {
        if let Ok(value) = HeaderValue::from_str(&value) {
            response.headers_mut().insert(HeaderName::from_static(name), value);
        }
    }
    response
}

/// Words a refusal of the gate before the routes.
#[must_use]
pub(crate) fn gate_refusal(refusal: &ApiError) -> Response {
    error_response(&ErrorReply::from(refusal))
}
