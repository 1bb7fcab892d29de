//! How Anthropic refuses, by status and inside a stream.

use serde_json::{Value, json};

use super::events::framed;
use crate::exchange::ModelExchange;
use crate::fault::Fault;
use crate::refusal::Refusal;

/// Returns status, body and headers of a refusal.
pub(crate) fn refusal(fault: Fault, exchange: &ModelExchange) -> (u16, Value, Vec<(String, String)>) {
    let refusal = said(fault, &exchange.model);
    let headers: &[(&str, &str)] = match fault {
        Fault::RateLimit(_) => &[
            ("anthropic-ratelimit-requests-limit", "50"),
            ("anthropic-ratelimit-requests-remaining", "0"),
            ("anthropic-ratelimit-requests-reset", "2015-10-21T07:28:20Z"),
        ],
        _ => &[],
    };
    let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    (refusal.status, plain(exchange.number, refusal.kind, &refusal.message), headers)
}

/// Returns the event that tells of a refusal inside a stream.
pub(crate) fn event(fault: Fault, exchange: &ModelExchange) -> Vec<u8> {
    let refusal = said(fault, &exchange.model);
    framed(&plain(exchange.number, refusal.kind, &refusal.message))
}

/// Makes the body of an error.
pub(crate) fn plain(number: usize, kind: &str, message: &str) -> Value {
    json!({
        "type": "error",
        "error": {"type": kind, "message": message},
        "request_id": request_id(number),
    })
}

/// Returns the id that every reply bears, also as a header.
pub(crate) fn request_id(number: usize) -> String {
    format!("req_test_{number}")
}

fn said(fault: Fault, model: &str) -> Refusal {
    const INVALID: &str = "invalid_request_error";
    match fault {
        Fault::Auth => Refusal::new(401, "authentication_error", "invalid x-api-key"),
        Fault::Permission => Refusal::new(
            403,
            "permission_error",
            "Your API key does not have permission to use the specified resource.",
        ),
        Fault::RateLimit(_) => Refusal::new(
            429,
            "rate_limit_error",
            "This request would exceed your organization's rate limit of 50 requests per minute.",
        ),
        Fault::Quota => Refusal::new(
            400,
            INVALID,
            "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.",
        ),
        Fault::Server(504) => Refusal::new(504, "timeout_error", "The request timed out while processing."),
        Fault::Server(status) => Refusal::new(status, "api_error", "Internal server error"),
        Fault::Overloaded => Refusal::new(529, "overloaded_error", "Overloaded"),
        Fault::BadRequest => Refusal::new(400, INVALID, "x: Extra inputs are not permitted"),
        Fault::UnknownModel => Refusal::new(404, "not_found_error", &format!("model: {model}")),
        Fault::ContextExceeded => {
            Refusal::new(400, INVALID, "prompt is too long: 210042 tokens > 200000 maximum")
        }
        Fault::TooLarge => Refusal::new(413, "request_too_large", "Request exceeds the maximum size"),
        Fault::ContentPolicy => Refusal::new(400, INVALID, "Output blocked by content filtering policy"),
        _ => panic!("{fault:?} is no refusal"),
    }
}
