//! The OpenAPI document, and the page that people read it on.
//!
//! The page is made of the document when it is first opened; it has no script, and its style is served beside it.

mod html;

use std::sync::LazyLock;

use axum::body::Body;
use axum::http::HeaderValue;
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::response::Response;

use crate::media_type::JSON;
use crate::security_headers::POLICY_OF_PAGES;

/// Written by `cargo xtask openapi`.
const DOCUMENT: &str = include_str!("../../../docs/reference/openapi.json");
const STYLE: &str = include_str!("reference_page/reference.css");
/// The same until the next version is installed.
const CACHED: &str = "max-age=300";

static PAGE: LazyLock<String> = LazyLock::new(|| {
    let document = serde_json::from_str(DOCUMENT).unwrap_or_default();
    html::page(&document)
});

/// Answers with the document.
pub(crate) async fn document() -> Response {
    text(DOCUMENT, JSON)
}

/// Answers with the page.
pub(crate) async fn page() -> Response {
    let mut response = text(PAGE.as_str(), "text/html; charset=utf-8");
    response.headers_mut().insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY_OF_PAGES));
    response
}

/// Answers with the style of the page.
pub(crate) async fn style() -> Response {
    text(STYLE, "text/css; charset=utf-8")
}

fn text(text: &'static str, media_type: &'static str) -> Response {
    let mut response = Response::new(Body::from(text));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static(CACHED));
    response
}
