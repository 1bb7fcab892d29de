//! The one place where a refusal becomes a response.
//!
//! `{"error":{"code","name","message","hint","page"}}` with the stable code, its short name, what happened, what to do,
//! and the page that says more. The status comes from the class of the code.

use axum::body::Body;
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use palyra_api::ApiError;
use palyra_types::{ErrorClass, ErrorCode};
use serde_json::{Value, json};

use crate::media_type::JSON;

/// When a client that met a queue may come back.
const RETRY_SECONDS: &str = "1";

/// Returns the response of a refusal.
#[must_use]
pub fn refusal_response(refusal: &ApiError) -> Response {
    let code = refusal.code();
    if code == ErrorCode::Internal {
        tracing::error!(text = refusal.text(), "a call failed on a broken invariant");
    }
    let mut response = Response::new(Body::from(error_json(refusal).to_string()));
    *response.status_mut() = status_of(code);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
    if code.class() == ErrorClass::Unauthenticated {
        let scheme = HeaderValue::from_static("Bearer realm=\"palyra\"");
        response.headers_mut().insert(WWW_AUTHENTICATE, scheme);
    }
    if matches!(code.class(), ErrorClass::Overloaded | ErrorClass::Unavailable) {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static(RETRY_SECONDS));
    }
    response
}

/// Returns the JSON of a refusal, which is also the last line of a stream that fails.
pub(crate) fn error_json(refusal: &ApiError) -> Value {
    let code = refusal.code();
    json!({ "error": {
        "code": code.to_string(),
        "name": code.slug(),
        "message": refusal.text(),
        "hint": code.mend(),
        "page": format!("docs/errors/{code}.md"),
    }})
}

fn status_of(code: ErrorCode) -> StatusCode {
    StatusCode::from_u16(code.class().http_status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_the_status_of_its_class_and_its_page() {
        for code in ErrorCode::ALL {
            let refusal = ApiError::new(*code, "what happened".to_owned());
            let response = refusal_response(&refusal);
            assert_eq!(response.status().as_u16(), code.class().http_status(), "{code}");
            let json = error_json(&refusal);
            assert_eq!(
                (&json["error"]["code"], &json["error"]["message"]),
                (&code.to_string().into(), &"what happened".into())
            );
            assert_eq!(json["error"]["page"], format!("docs/errors/{code}.md"));
        }
    }
}
