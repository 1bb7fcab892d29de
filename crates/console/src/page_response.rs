//! Pages and redirections as responses, with the headers that they are sent with.

use axum::body::Body;
use axum::http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, LOCATION, REFERRER_POLICY};
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use maud::Markup;
use palyra_api::ApiError;

/// The policy of a page: our own style sheet and script, our own forms and streams, nothing else.
pub(crate) const PAGE_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
     img-src 'self' data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'; \
     require-trusted-types-for 'script'; trusted-types palyra-rows";

/// Returns the status of a refusal.
pub(crate) fn refusal_status(refusal: &ApiError) -> StatusCode {
    StatusCode::from_u16(refusal.code().class().http_status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

/// Returns a page as a response.
pub(crate) fn html_response(status: StatusCode, page: Markup) -> Response {
    let mut response = Response::new(Body::from(page.into_string()));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(PAGE_POLICY));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    response
}

/// Returns the way to a page after a form was taken.
pub(crate) fn see_other(path: &str) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SEE_OTHER;
    if let Ok(path) = HeaderValue::from_str(path) {
        response.headers_mut().insert(LOCATION, path);
    }
    response
}
