//! Classes for the errors that servers of this format report.
//!
//! From <https://platform.claude.com/docs/en/api/errors>; sentences only where the vendor has no type of its own.

use palyra_types::model::ModelFailureClass;

use crate::wire_format::failure::{FailureRow, FailureSign, Rows};

pub(super) const ROWS: Rows = {
    use FailureSign::{Any, Code, Words};
    use ModelFailureClass as Class;
    &[
        FailureRow(0, 499, Code("request_too_large"), Class::ContextExceeded),
        FailureRow(0, 499, Words("prompt is too long"), Class::ContextExceeded),
        FailureRow(0, 499, Words("exceed context limit"), Class::ContextExceeded),
        FailureRow(0, 499, Words("context window"), Class::ContextExceeded),
        FailureRow(0, 499, Words("context length"), Class::ContextExceeded),
        FailureRow(0, 499, Code("billing"), Class::Quota),
        FailureRow(0, 499, Code("spend_limit"), Class::Quota),
        FailureRow(0, 499, Words("credit balance"), Class::Quota),
        FailureRow(0, 499, Words("spend limit"), Class::Quota),
        FailureRow(0, 499, Words("api usage limits"), Class::Quota),
        FailureRow(0, 499, Words("content filtering policy"), Class::ContentPolicy),
        FailureRow(0, 499, Words("usage policy"), Class::ContentPolicy),
        FailureRow(0, 0, Code("authentication"), Class::Auth),
        FailureRow(0, 0, Code("permission"), Class::Permission),
        FailureRow(0, 0, Code("rate_limit"), Class::RateLimit),
        FailureRow(0, 0, Code("not_found"), Class::Permanent),
        FailureRow(0, 0, Code("invalid_request"), Class::Permanent),
        // Overloaded, internal and whatever may be new: it had begun, so it may work the next time.
        FailureRow(0, 0, Any, Class::Transient),
        FailureRow(401, 401, Any, Class::Auth),
        FailureRow(402, 402, Any, Class::Quota),
        FailureRow(403, 403, Any, Class::Permission),
        FailureRow(407, 407, Any, Class::Network),
        FailureRow(408, 409, Any, Class::Transient),
        FailureRow(413, 413, Any, Class::ContextExceeded),
        FailureRow(425, 425, Any, Class::Transient),
        FailureRow(429, 429, Any, Class::RateLimit),
        FailureRow(500, 599, Any, Class::Transient),
    ]
};

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::wire_format::failure::{status_failure, stream_failure};
    use ModelFailureClass as Class;

    #[test]
    fn statuses_types_and_words_have_their_class() {
        let check = |status: u16, kind: &str, words: &str, class: Class| {
            let body = json!({"type": "error", "error": {"type": kind, "message": words}, "request_id": "r"});
            let found = status_failure(ROWS, status, body.to_string().as_bytes(), None);
            assert_eq!(found.class, class, "{status} {kind} {words}");
        };
        check(400, "invalid_request_error", "x: Extra inputs are not permitted", Class::Permanent);
        check(
            400,
            "invalid_request_error",
            "prompt is too long: 2 tokens > 1 maximum",
            Class::ContextExceeded,
        );
        check(
            400,
            "invalid_request_error",
            "input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000",
            Class::ContextExceeded,
        );
        check(400, "invalid_request_error", "Your credit balance is too low", Class::Quota);
        check(
            400,
            "invalid_request_error",
            "You have reached your specified API usage limits.",
            Class::Quota,
        );
        check(
            400,
            "invalid_request_error",
            "Output blocked by content filtering policy",
            Class::ContentPolicy,
        );
        check(401, "authentication_error", "invalid x-api-key", Class::Auth);
        check(402, "billing_error", "pay first", Class::Quota);
        check(403, "permission_error", "no", Class::Permission);
        check(404, "not_found_error", "model: x", Class::Permanent);
        check(409, "conflict_error", "again", Class::Transient);
        check(413, "request_too_large", "too large", Class::ContextExceeded);
        check(429, "rate_limit_error", "slow down", Class::RateLimit);
        check(500, "api_error", "Internal server error", Class::Transient);
        check(504, "timeout_error", "took too long", Class::Transient);
        check(529, "overloaded_error", "Overloaded", Class::Transient);
        let spent = br#"{"error":{"type":"rate_limit_error","message":"no","details":{"error_code":"enforced_spend_limit_reached"}}}"#;
        assert_eq!(status_failure(ROWS, 429, spent, None).class, Class::Quota);
        for (status, class) in
            [(413, Class::ContextExceeded), (502, Class::Transient), (302, Class::Permanent)]
        {
            assert_eq!(status_failure(ROWS, status, b"<html>", None).class, class);
        }
    }

    #[test]
    fn errors_inside_a_stream_have_their_class() {
        let check = |kind: &str, words: &str, class: Class| {
            let event = json!({"type": "error", "error": {"type": kind, "message": words}});
            assert_eq!(stream_failure(ROWS, &event).class, class, "{kind} {words}");
        };
        check("overloaded_error", "Overloaded", Class::Transient);
        check("api_error", "Internal server error", Class::Transient);
        check("something_new", "", Class::Transient);
        check("rate_limit_error", "slow", Class::RateLimit);
        check("authentication_error", "revoked", Class::Auth);
        check("permission_error", "no", Class::Permission);
        check("invalid_request_error", "prompt is too long", Class::ContextExceeded);
        check("invalid_request_error", "Output blocked by content filtering policy", Class::ContentPolicy);
        check("invalid_request_error", "no", Class::Permanent);
        check("billing_error", "pay", Class::Quota);
    }
}
