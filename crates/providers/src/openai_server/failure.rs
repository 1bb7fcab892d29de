//! Classes for the errors that servers of both formats report.
//!
//! The table grew from the error bodies of OpenAI, Azure, OpenRouter, vLLM, llama.cpp, Ollama, Groq, Mistral,
//! DeepSeek, xAI and Google's compatible endpoint.

use palyra_ports::GATEWAY_LOOP_CODE;
use palyra_types::model::ModelFailureClass;

use crate::wire_format::failure::{FailureRow, FailureSign, Rows};

pub(crate) const ROWS: Rows = {
    use FailureSign::{Any, Code, Words};
    use ModelFailureClass as Class;
    &[
        // Its words name models and settings, which other rows look for.
        FailureRow(0, 499, Code(GATEWAY_LOOP_CODE), Class::Permanent),
        FailureRow(0, 499, Code("context_length"), Class::ContextExceeded),
        FailureRow(0, 499, Code("exceed_context_size"), Class::ContextExceeded),
        FailureRow(0, 499, Words("maximum context length"), Class::ContextExceeded),
        FailureRow(0, 499, Words("context window"), Class::ContextExceeded),
        FailureRow(0, 499, Words("context size"), Class::ContextExceeded),
        FailureRow(0, 499, Words("prompt is too long"), Class::ContextExceeded),
        FailureRow(0, 499, Words("context length"), Class::ContextExceeded),
        FailureRow(0, 499, Words("context the overflows"), Class::ContextExceeded),
        FailureRow(0, 499, Words("input token count"), Class::ContextExceeded),
        FailureRow(0, 499, Words("`max_new_tokens` must be"), Class::ContextExceeded),
        FailureRow(0, 499, Words("body is too large"), Class::ContextExceeded),
        FailureRow(0, 499, Words("request too large"), Class::ContextExceeded),
        FailureRow(0, 499, Code("insufficient_quota"), Class::Quota),
        FailureRow(0, 499, Code("billing"), Class::Quota),
        FailureRow(0, 499, Words("credit balance"), Class::Quota),
        FailureRow(0, 499, Words("insufficient balance"), Class::Quota),
        FailureRow(0, 499, Code("content_policy"), Class::ContentPolicy),
        FailureRow(0, 499, Code("content_filter"), Class::ContentPolicy),
        FailureRow(0, 499, Code("content_blocked"), Class::ContentPolicy),
        FailureRow(0, 499, Code("data_inspection_failed"), Class::ContentPolicy),
        FailureRow(0, 499, Words("content management policy"), Class::ContentPolicy),
        FailureRow(0, 499, Words("safety system"), Class::ContentPolicy),
        // A prompt that the service does not take for what it says; the code is Responses' own.
        FailureRow(0, 499, Code("invalid_prompt"), Class::ContentPolicy),
        FailureRow(0, 499, Words("usage policy"), Class::ContentPolicy),
        FailureRow(403, 403, Words("moderation"), Class::ContentPolicy),
        // Some say it with 400.
        FailureRow(0, 499, Words("incorrect api key"), Class::Auth),
        FailureRow(0, 499, Words("api key not valid"), Class::Auth),
        FailureRow(401, 401, Any, Class::Auth),
        FailureRow(402, 402, Any, Class::Quota),
        FailureRow(403, 403, Any, Class::Permission),
        FailureRow(407, 407, Any, Class::Network),
        FailureRow(408, 409, Any, Class::Transient),
        FailureRow(413, 413, Any, Class::ContextExceeded),
        FailureRow(425, 425, Any, Class::Transient),
        FailureRow(429, 429, Any, Class::RateLimit),
        // llama.cpp says so with 500.
        FailureRow(500, 599, Words("image input is not supported"), Class::Permanent),
        FailureRow(500, 599, Any, Class::Transient),
        FailureRow(1, 999, Any, Class::Permanent),
        FailureRow(0, 0, Code("invalid_api_key"), Class::Auth),
        FailureRow(0, 0, Code("authentication"), Class::Auth),
        FailureRow(0, 0, Code("permission"), Class::Permission),
        FailureRow(0, 0, Words("does not have access"), Class::Permission),
        FailureRow(0, 0, Code("rate_limit"), Class::RateLimit),
        FailureRow(0, 0, Code("not_found"), Class::Permanent),
        FailureRow(0, 0, Code("image"), Class::Permanent),
        FailureRow(0, 0, Code("invalid_"), Class::Permanent),
        FailureRow(0, 0, Any, Class::Transient),
    ]
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire_format::failure::{status_failure, stream_failure};
    use ModelFailureClass as Class;

    #[test]
    fn statuses_and_codes_have_their_class() {
        let check = |status: u16, body: &str, class: Class| {
            assert_eq!(status_failure(ROWS, status, body.as_bytes(), None).class, class, "{status} {body}");
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
        check(
            400,
            r#"{"error":{"message":"Invalid prompt: we've limited access to this content.","type":"invalid_request_error","code":"invalid_prompt"}}"#,
            Class::ContentPolicy,
        );
        check(402, "", Class::Quota);
        check(402, r#"{"error":{"message":"Insufficient Balance","type":"unknown_error"}}"#, Class::Quota);
        check(
            400,
            r#"{"error":{"message":"The response was filtered due to the prompt triggering Azure OpenAI's content management policy.","code":"content_filter"}}"#,
            Class::ContentPolicy,
        );
        check(
            400,
            r#"[{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}]"#,
            Class::Auth,
        );
        check(
            400,
            r#"{"code":"Client specified an invalid argument","error":"Incorrect API key provided: x"}"#,
            Class::Auth,
        );
        check(
            400,
            r#"{"error":{"code":400,"message":"The input token count (9) exceeds the maximum number of tokens allowed (8)."}}"#,
            Class::ContextExceeded,
        );
        check(
            422,
            r#"{"error":"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096","error_type":"validation"}"#,
            Class::ContextExceeded,
        );
        check(
            422,
            r#"{"detail":[{"type":"missing","loc":["body"],"msg":"Field required"}]}"#,
            Class::Permanent,
        );
    }

    #[test]
    fn a_status_alone_has_its_class() {
        let check = |status: u16, body: &str, class: Class| {
            assert_eq!(status_failure(ROWS, status, body.as_bytes(), None).class, class, "{status} {body}");
        };
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
    fn a_server_that_takes_no_images_refuses_for_good() {
        let body = r#"{"error":{"code":500,"message":"image input is not supported - hint: if this is unexpected, you may need to provide the mmproj","type":"server_error"}}"#;
        assert_eq!(status_failure(ROWS, 500, body.as_bytes(), None).class, Class::Permanent);
    }

    #[test]
    fn errors_inside_a_stream_have_their_class() {
        let check = |body: &str, class: Class| {
            let value = serde_json::from_str(body).expect("test data");
            assert_eq!(stream_failure(ROWS, &value).class, class, "{body}");
        };
        check(r#"{"error":{"message":"The server had an error","type":"server_error"}}"#, Class::Transient);
        check(r#"{"error":{"message":"slow down","code":429}}"#, Class::RateLimit);
        check(r#"{"error":{"message":"slow down","type":"rate_limit_error"}}"#, Class::RateLimit);
        check(r#"{"error":{"code":"context_length_exceeded"}}"#, Class::ContextExceeded);
        check(r#"{"error":"out of memory"}"#, Class::Transient);
        check(r#"{"error":{"code":"rate_limit_exceeded","message":"slow down"}}"#, Class::RateLimit);
        check(r#"{"error":{"code":"server_error","message":"sorry"}}"#, Class::Transient);
        check(r#"{"error":{"code":"invalid_image_format","message":"no"}}"#, Class::Permanent);
        check(
            r#"{"error":{"code":"invalid_prompt","message":"flagged as potentially violating our usage policy"}}"#,
            Class::ContentPolicy,
        );
        check(r#"{"error":{"type":"invalid_request_error","message":"no"}}"#, Class::Permanent);
    }
}
