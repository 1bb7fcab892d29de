//! Classifies failures: a table, read from top to bottom.
//!
//! Owns the sentence a failure carries, bounded to 2 KiB. Knows no credential: who has one scrubs it.

use std::time::Duration;

use palyra_types::Redacted;
use palyra_types::model::{ModelFailure, ModelFailureClass};
use serde_json::Value;

/// How much of what a provider said is kept.
const DETAIL_BYTES_MAX: usize = 2 * 1024;

/// Where a sign is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sign {
    /// In the error's code or type.
    Code(&'static str),
    /// In the error's words, where servers have no code for it.
    Words(&'static str),
    /// Nowhere: the status is enough.
    Any,
}

/// A row fits when the status lies between its two and the sign is there. Errors inside a stream,
/// which has begun with 200, are looked up under status 0.
struct Row(u16, u16, Sign, ModelFailureClass);

const ROWS: &[Row] = {
    use ModelFailureClass as Class;
    use Sign::{Any, Code, Words};
    &[
        Row(0, 499, Code("context_length"), Class::ContextExceeded),
        Row(0, 499, Code("exceed_context_size"), Class::ContextExceeded),
        Row(0, 499, Words("maximum context length"), Class::ContextExceeded),
        Row(0, 499, Words("context window"), Class::ContextExceeded),
        Row(0, 499, Words("context size"), Class::ContextExceeded),
        Row(0, 499, Words("prompt is too long"), Class::ContextExceeded),
        Row(0, 499, Code("insufficient_quota"), Class::Quota),
        Row(0, 499, Code("billing"), Class::Quota),
        Row(0, 499, Words("credit balance"), Class::Quota),
        Row(0, 499, Code("content_policy"), Class::ContentPolicy),
        Row(0, 499, Code("content_filter"), Class::ContentPolicy),
        Row(0, 499, Code("content_blocked"), Class::ContentPolicy),
        Row(403, 403, Words("moderation"), Class::ContentPolicy),
        Row(401, 401, Any, Class::Auth),
        Row(402, 402, Any, Class::Quota),
        Row(403, 403, Any, Class::Permission),
        Row(407, 407, Any, Class::Network),
        Row(408, 409, Any, Class::Transient),
        Row(413, 413, Any, Class::ContextExceeded),
        Row(425, 425, Any, Class::Transient),
        Row(429, 429, Any, Class::RateLimit),
        Row(500, 599, Any, Class::Transient),
        Row(1, 999, Any, Class::Permanent),
        Row(0, 0, Code("invalid_api_key"), Class::Auth),
        Row(0, 0, Code("authentication"), Class::Auth),
        Row(0, 0, Code("permission"), Class::Permission),
        Row(0, 0, Code("rate_limit"), Class::RateLimit),
        Row(0, 0, Code("not_found"), Class::Permanent),
        Row(0, 0, Code("invalid_request"), Class::Permanent),
        Row(0, 0, Any, Class::Transient),
    ]
};

/// Makes the failure of an answer that breaks its own format.
pub(super) fn malformed(detail: &str) -> ModelFailure {
    failure(ModelFailureClass::Malformed, detail)
}

/// Makes a failure with a bounded detail.
pub(super) fn failure(class: ModelFailureClass, detail: &str) -> ModelFailure {
    ModelFailure { class, detail: Redacted::new(bounded(detail)), retry_after: None }
}

/// Makes the failure that an object inside a stream reports.
pub(super) fn stream_failure(value: &Value) -> ModelFailure {
    let said = Said::read(value);
    failure(classify(said.status.unwrap_or(0), &said), &said.sentence())
}

/// Makes the failure that a refused request reports.
pub(super) fn status_failure(status: u16, body: &[u8], retry_after: Option<Duration>) -> ModelFailure {
    let said = match serde_json::from_slice::<Value>(body) {
        Ok(value) => Said::read(&value),
        Err(_) => Said { words: String::from_utf8_lossy(body).trim().to_owned(), ..Said::default() },
    };
    let sentence = said.sentence();
    let detail = match (status, sentence.as_str()) {
        (300..=399, _) => {
            format!("HTTP {status}: the server answers with a redirect, and redirects are not followed")
        }
        (_, "") => format!("HTTP {status}"),
        _ => format!("HTTP {status}: {sentence}"),
    };
    let detail = match retry_after {
        Some(pause) => format!("{}; it asks to wait {} s", bounded(&detail), pause.as_secs_f64().ceil()),
        None => detail,
    };
    ModelFailure { retry_after, ..failure(classify(status, &said), &detail) }
}

fn classify(status: u16, said: &Said) -> ModelFailureClass {
    let code = said.code.to_ascii_lowercase();
    let words = said.words.to_ascii_lowercase();
    let fits = |row: &&Row| {
        (row.0..=row.1).contains(&status)
            && match row.2 {
                Sign::Code(sign) => code.contains(sign),
                Sign::Words(sign) => words.contains(sign),
                Sign::Any => true,
            }
    };
    ROWS.iter().find(fits).map_or(ModelFailureClass::Permanent, |row| row.3)
}

/// What an error object says.
#[derive(Debug, Default)]
struct Said {
    status: Option<u16>,
    code: String,
    words: String,
}

impl Said {
    /// Reads the shapes in use: `{"error": {...}}`, `{"error": "..."}`, `{"message"}`, `{"detail"}`, a list of one.
    fn read(value: &Value) -> Self {
        let value = value.as_array().and_then(|all| all.first()).unwrap_or(value);
        let error = value.get("error").filter(|error| !error.is_null()).unwrap_or(value);
        let text = |name: &str| error.get(name).and_then(Value::as_str).unwrap_or_default();
        let words = ["message", "detail"].iter().map(|name| text(name)).find(|words| !words.is_empty());
        let words = words.or_else(|| error.as_str()).unwrap_or_default().to_owned();
        let number = error.get("code").or_else(|| error.get("status")).and_then(Value::as_u64);
        let status = number.and_then(|n| u16::try_from(n).ok()).filter(|n| (400..=599).contains(n));
        let mut code = String::new();
        for part in [text("code"), text("type"), text("status")] {
            // Servers like to say it twice.
            if !part.is_empty() && !code.split(' ').any(|said| said == part) {
                code = format!("{code} {part}").trim().to_owned();
            }
        }
        Self { status, code, words }
    }

    fn sentence(&self) -> String {
        match (self.words.as_str(), self.code.as_str()) {
            ("", code) => code.to_owned(),
            (words, "") => words.to_owned(),
            (words, code) => format!("{words} ({code})"),
        }
    }
}

fn bounded(text: &str) -> String {
    text[..text.floor_char_boundary(DETAIL_BYTES_MAX)].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ModelFailureClass as Class;

    #[test]
    fn statuses_and_codes_have_their_class() {
        let check = |status: u16, body: &str, class: Class| {
            assert_eq!(status_failure(status, body.as_bytes(), None).class, class, "{status} {body}");
        };
        check(401, r#"{"error":{"message":"Incorrect API key","code":"invalid_api_key"}}"#, Class::Auth);
        check(403, r#"{"error":{"message":"no access to this model"}}"#, Class::Permission);
        check(403, r#"{"error":{"message":"flagged by moderation","code":403}}"#, Class::ContentPolicy);
        check(404, r#"{"error":{"message":"no such model","code":"model_not_found"}}"#, Class::Permanent);
        check(400, r#"{"error":{"message":"bad","type":"invalid_request_error"}}"#, Class::Permanent);
        check(
            400,
            r#"{"error":{"message":"too long","code":"context_length_exceeded"}}"#,
            Class::ContextExceeded,
        );
        check(
            400,
            r#"{"error":{"code":400,"message":"the request exceeds the available context size"}}"#,
            Class::ContextExceeded,
        );
        check(
            400,
            r#"{"object":"error","message":"This model's maximum context length is 4096 tokens"}"#,
            Class::ContextExceeded,
        );
        check(
            400,
            r#"{"error":{"message":"refused","code":"content_policy_violation"}}"#,
            Class::ContentPolicy,
        );
        check(402, "", Class::Quota);
        check(413, "", Class::ContextExceeded);
        check(429, r#"{"error":{"message":"slow down","code":"rate_limit_exceeded"}}"#, Class::RateLimit);
        check(429, r#"{"error":{"message":"pay","type":"insufficient_quota"}}"#, Class::Quota);
        check(500, "<html>", Class::Transient);
        check(503, "[]", Class::Transient);
        check(529, r#"{"error":{"type":"overloaded_error"}}"#, Class::Transient);
        check(302, "", Class::Permanent);
        check(418, "tea", Class::Permanent);
    }

    #[test]
    fn errors_inside_a_stream_have_their_class() {
        let check = |body: &str, class: Class| {
            let value = serde_json::from_str(body).expect("test data");
            assert_eq!(stream_failure(&value).class, class, "{body}");
        };
        check(r#"{"error":{"message":"The server had an error","type":"server_error"}}"#, Class::Transient);
        check(r#"{"error":{"message":"slow down","code":429}}"#, Class::RateLimit);
        check(r#"{"error":{"message":"slow down","type":"rate_limit_error"}}"#, Class::RateLimit);
        check(r#"{"error":{"code":"context_length_exceeded"}}"#, Class::ContextExceeded);
        check(r#"{"error":"out of memory"}"#, Class::Transient);
        check(r#"{"error":{"type":"invalid_request_error","message":"no"}}"#, Class::Permanent);
    }

    #[test]
    fn details_are_told_and_bounded() {
        let detail =
            |status, body: &str| status_failure(status, body.as_bytes(), None).detail.expose().clone();
        assert_eq!(detail(400, r#"{"error":{"message":"bad","code":"x"}}"#), "HTTP 400: bad (x)");
        assert_eq!(detail(500, ""), "HTTP 500");
        assert_eq!(detail(422, r#"{"detail":"field required"}"#), "HTTP 422: field required");
        assert!(detail(307, "x").contains("redirects are not followed"));
        let long = detail(500, &"\u{e9}".repeat(5_000));
        assert!(long.len() <= DETAIL_BYTES_MAX && long.len() > DETAIL_BYTES_MAX - 4);
    }
}
