//! One operation called over HTTP: its request from path, query and body, its response as JSON.
//!
//! Everything comes from the declaration of the operation; there is no code for a single one.

use axum::body::Body;
use axum::extract::{FromRequestParts, RawPathParams, Request};
use axum::http::header::{CONTENT_TYPE, HeaderMap};
use axum::http::request::Parts;
use axum::http::{HeaderValue, Method};
use axum::response::Response;
use palyra_api::{ApiError, CONFIRMATION_HEADER};
use palyra_types::ErrorCode;
use palyra_wire::json::{JsonFault, JsonInputError, MessageText, bytes_to_json_with_defaults};
use palyra_wire::operations::OperationSpec;

use crate::identity::{EndedCredential, HttpIdentity};
use crate::limits::{BODY_BYTES_MAX, INPUT_BODY_BYTES_MAX};
use crate::media_type::JSON;
use crate::query;
use crate::refusal::refusal_response;
use crate::request_body::{check_length, read_body_at_most};
use crate::response_stream::{self, StreamForm};
use crate::services::HttpServices;

/// Operations whose requests carry files.
const TAKES_FILES: [&str; 2] = ["StartRun", "SendInput"];
/// Characters of a place in a body that a refusal shows.
const PLACE_CHARS_MAX: usize = 200;

/// Returns how many bytes the body of an operation may have.
pub(crate) fn body_bytes_max(operation: &OperationSpec) -> usize {
    if TAKES_FILES.contains(&operation.name) { INPUT_BODY_BYTES_MAX } else { BODY_BYTES_MAX }
}

/// The fields in a path, as the router found them.
pub(crate) struct PathParams(RawPathParams);

impl PathParams {
    /// Returns names and values, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter()
    }
}

impl<S: Send + Sync> FromRequestParts<S> for PathParams {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Response> {
        let refused =
            |_| refusal_response(&ApiError::invalid_argument("the path is not percent-encoded UTF-8"));
        RawPathParams::from_request_parts(parts, state).await.map(Self).map_err(refused)
    }
}

/// Answers a request for an operation.
pub(crate) async fn respond(
    services: &HttpServices,
    operation: &'static OperationSpec,
    params: PathParams,
    request: Request,
) -> Response {
    let called = call(services, operation, &params, request).await;
    called.unwrap_or_else(|refusal| refusal_response(&refusal))
}

async fn call(
    services: &HttpServices,
    operation: &'static OperationSpec,
    params: &PathParams,
    request: Request,
) -> Result<Response, ApiError> {
    // A body cannot be shared between threads, and what follows waits.
    let (parts, body) = request.into_parts();
    let identity = admitted(services, operation, &parts).await?;
    let caller = identity.caller();
    let message = message_of(operation, params, &parts, body).await?;
    if operation.server_streams {
        let share = services.stream_share(caller.actor.principal)?;
        let steps = services.operations.dispatch_stream(operation.path, caller, &message).await;
        let steps = steps.ok_or_else(no_handler)??;
        let form = StreamForm::of(&parts.headers);
        return response_stream::respond(form, operation, steps, services.watch(identity), share).await;
    }
    let answer = services.operations.dispatch(operation.path, caller, &message);
    let answer = tokio::time::timeout(services.limits.call_span, answer).await;
    let answer =
        answer.map_err(|_| ApiError::new(ErrorCode::CallTimeout, "the call took too long".to_owned()))?;
    let json = bytes_to_json_with_defaults(operation.output, &answer.ok_or_else(no_handler)??);
    Ok(json_response(&json.unwrap_or_default()))
}

/// Returns who calls, if the operation is for them; a refused change is recorded.
pub(crate) async fn admitted(
    services: &HttpServices,
    operation: &'static OperationSpec,
    parts: &Parts,
) -> Result<HttpIdentity, ApiError> {
    let access = &services.state.admin.access;
    let Some(identity) = parts.extensions.get::<HttpIdentity>() else {
        let refusal = ApiError::unauthenticated();
        if let Some(EndedCredential(actor)) = parts.extensions.get() {
            palyra_api::record_refusal(access, operation, *actor, &refusal).await;
        }
        return Err(refusal);
    };
    let code = parts.headers.get(CONFIRMATION_HEADER).and_then(|code| code.to_str().ok());
    let caller = palyra_api::confirmed(access, operation, identity.caller(), code);
    palyra_api::admit(access, operation, &caller).await?;
    Ok(identity.clone().acting_as(caller))
}

fn no_handler() -> ApiError {
    ApiError::new(ErrorCode::Internal, "an operation has no handler".to_owned())
}

pub(crate) fn json_response(json: &serde_json::Value) -> Response {
    let mut response = Response::new(Body::from(json.to_string()));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
    response
}

/// Reads the message of a request; returns its bytes.
async fn message_of(
    operation: &OperationSpec,
    params: &PathParams,
    parts: &Parts,
    body: Body,
) -> Result<Vec<u8>, ApiError> {
    let in_query = query::query_pairs(parts.uri.query().unwrap_or_default());
    let in_query = in_query.map_err(|fault| ApiError::invalid_argument(&fault.to_string()))?;
    let reads = parts.method != Method::POST;
    let bytes_max = body_bytes_max(operation);
    check_length(&parts.headers, bytes_max)?;
    let body = read_body_at_most(body, bytes_max).await?;
    if reads && !body.is_empty() {
        return Err(ApiError::invalid_argument(
            "this operation takes its fields in the query, not in a body",
        ));
    }
    if !reads && !in_query.is_empty() {
        return Err(ApiError::invalid_argument(
            "this operation takes its fields in the body, not in the query",
        ));
    }
    if !body.is_empty() {
        check_type(&parts.headers)?;
    }
    let text = std::str::from_utf8(&body).map_err(|_| ApiError::invalid_argument("the body is not UTF-8"))?;
    let message = MessageText {
        path: params.iter().collect(),
        query: in_query.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect(),
        body: text,
        bytes_max,
    };
    message.read(operation.input).map_err(json_refusal)
}

/// Refuses a body that does not say that it is JSON.
fn check_type(headers: &HeaderMap) -> Result<(), ApiError> {
    let mut types = headers.get_all(CONTENT_TYPE).iter();
    let named = types.next().and_then(|value| value.to_str().ok()).unwrap_or_default();
    let mut parts = named.split(';').map(str::trim);
    let is_json = parts.next().is_some_and(|name| name.eq_ignore_ascii_case(JSON));
    let in_utf8 = parts.all(|parameter| {
        let charset = parameter.split_once('=').filter(|(name, _)| name.eq_ignore_ascii_case("charset"));
        charset.is_none_or(|(_, value)| value.trim_matches('"').eq_ignore_ascii_case("utf-8"))
    });
    if is_json && in_utf8 && types.next().is_none() {
        return Ok(());
    }
    let text = "the body must be JSON: send `content-type: application/json`";
    Err(ApiError::new(ErrorCode::UnsupportedMediaType, text.to_owned()))
}

fn json_refusal(error: JsonInputError) -> ApiError {
    let code = match error.fault {
        JsonFault::TooLarge { .. } => ErrorCode::MessageTooLarge,
        _ => ErrorCode::InvalidArgument,
    };
    let shown = |text: String| match text.char_indices().nth(PLACE_CHARS_MAX) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    };
    ApiError::new(code, JsonInputError { path: shown(error.path), fault: error.fault }.to_string())
}

#[cfg(test)]
mod tests {
    use palyra_wire::operations::OPERATIONS;

    use super::*;

    #[test]
    fn a_body_says_that_it_is_json() {
        let checked = |values: &[&str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(CONTENT_TYPE, value.parse().expect("a value"));
            }
            check_type(&headers).map_err(|refusal| refusal.code())
        };
        for good in
            ["application/json", "Application/JSON; charset=utf-8", "application/json;charset=\"UTF-8\""]
        {
            assert_eq!(checked(&[good]), Ok(()), "{good}");
        }
        let bad: [&[&str]; 6] = [
            &[],
            &["text/plain"],
            &["application/x-www-form-urlencoded"],
            &["application/jsonp"],
            &["application/json; charset=latin1"],
            &["application/json", "application/json"],
        ];
        for values in bad {
            assert_eq!(checked(values), Err(ErrorCode::UnsupportedMediaType), "{values:?}");
        }
    }

    #[test]
    fn what_takes_files_is_an_operation_and_may_have_larger_bodies() {
        let larger = OPERATIONS.iter().filter(|operation| body_bytes_max(operation) > BODY_BYTES_MAX);
        assert_eq!(larger.map(|operation| operation.name).collect::<Vec<_>>(), TAKES_FILES);
    }
}
