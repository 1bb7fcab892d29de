//! The one place where a `tonic::Status` is made.
//!
//! A status carries the stable code of a refusal as metadata `palyra-error-code`, and the message `slug: text`.
//! Begin at [`of`].

use palyra_api::ApiError;
use palyra_types::ErrorCode;
use tonic::body::Body;
use tonic::codegen::http;
use tonic::metadata::{MetadataMap, MetadataValue};
use tonic::{Code, Status};

use crate::limits::MESSAGE_BYTES_MAX;

/// The metadata key of the stable error code.
const ERROR_CODE_KEY: &str = "palyra-error-code";

/// Returns the refusal of a message that did not arrive whole, from what the library below says about it.
pub(crate) fn undelivered(status: &Status) -> ApiError {
    if status.code() == Code::OutOfRange {
        let text = format!("a message may have at most {MESSAGE_BYTES_MAX} bytes");
        return ApiError::new(ErrorCode::MessageTooLarge, text);
    }
    ApiError::invalid_frame("the message cannot be decoded")
}

/// Returns the status of a refusal.
pub(crate) fn of(refusal: &ApiError) -> Status {
    let (code, text) = (refusal.code(), refusal.text());
    if code == ErrorCode::Internal {
        tracing::error!(%text, "a call failed on a broken invariant");
    }
    let mut metadata = MetadataMap::new();
    let value = MetadataValue::try_from(code.to_string()).expect("PLY-nnnn is printable ASCII");
    metadata.insert(ERROR_CODE_KEY, value);
    Status::with_metadata(grpc_code(code), format!("{}: {text}", code.slug()), metadata)
}

/// Gives refusals that the library made before a handler was reached our form; leaves all else as it is.
pub(crate) fn dress(response: http::Response<Body>) -> http::Response<Body> {
    if response.headers().contains_key(ERROR_CODE_KEY) {
        return response;
    }
    match Status::from_header_map(response.headers()) {
        Some(status) if came_undelivered(&status) => of(&undelivered(&status)).into_http(),
        Some(_) | None => response,
    }
}

/// Whether the library refused the message itself; an unknown method keeps gRPC's own answer.
fn came_undelivered(status: &Status) -> bool {
    matches!(status.code(), Code::OutOfRange | Code::Internal)
}

/// Returns the gRPC code of a stable code: which class of reaction it asks of a client that knows only gRPC.
fn grpc_code(code: ErrorCode) -> Code {
    Code::from_i32(code.class().grpc_code())
}

#[cfg(test)]
mod tests;
