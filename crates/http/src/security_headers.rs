//! Headers that every response carries, and those of pages and downloads.

use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderName, REFERRER_POLICY, STRICT_TRANSPORT_SECURITY,
    X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue};

use crate::origin::TransportSecurity;

/// The policy of data: in a browser it may do nothing.
const POLICY_OF_DATA: &str =
    "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";
/// A page of ours: its own style sheet, and no script at all.
pub(crate) const POLICY_OF_PAGES: &str = "default-src 'none'; style-src 'self'; img-src 'self'; frame-ancestors 'none'; \
     base-uri 'none'; form-action 'none'";
/// The policy of a file that a client sent: no script, no form, no origin.
pub(crate) const POLICY_OF_FILES: &str = "sandbox; default-src 'none'; frame-ancestors 'none'";
/// A year.
const TRANSPORT_SECURITY: &str = "max-age=31536000";

const FIXED: [(HeaderName, &str); 6] = [
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (X_FRAME_OPTIONS, "DENY"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("x-permitted-cross-domain-policies"), "none"),
    (HeaderName::from_static("permissions-policy"), "camera=(), geolocation=(), microphone=()"),
];

/// Adds what a response lacks.
pub(crate) fn harden(headers: &mut HeaderMap, security: TransportSecurity) {
    for (name, value) in FIXED {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(CONTENT_SECURITY_POLICY).or_insert(HeaderValue::from_static(POLICY_OF_DATA));
    // A page with forms keeps its own: without a referrer a browser names no origin in what a form sends.
    headers.entry(REFERRER_POLICY).or_insert(HeaderValue::from_static("no-referrer"));
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    if security == TransportSecurity::Tls {
        headers.insert(STRICT_TRANSPORT_SECURITY, HeaderValue::from_static(TRANSPORT_SECURITY));
    }
}
