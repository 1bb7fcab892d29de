//! An error as OpenAI clients read it: a status, a JSON object, and whether a repetition can help.
//!
//! Owns the shape `{"error":{message,type,param,code}}` and the headers that decide whether an SDK repeats by itself.
//! Invariant: `message` and `type` are never empty, and a message names no path, no tool and no kind of entry.

use std::time::Duration;

use palyra_types::{ErrorCode, error_class::ErrorClass};
use serde_json::{Value, json};

/// Whether a client that repeats by itself should do so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryAdvice {
    /// A repetition fails the same way.
    Never,
    /// A repetition can succeed after this span.
    After(Duration),
}

/// An error and its status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorReply {
    status: u16,
    kind: &'static str,
    message: String,
    param: Option<String>,
    code: Option<String>,
    retry: RetryAdvice,
}

/// Pause before a repetition where nothing says how long the cause lasts.
const RETRY_PAUSE: Duration = Duration::from_secs(2);

impl ErrorReply {
    /// Refuses a field that has a value it cannot have.
    #[must_use]
    pub fn invalid(param: impl Into<String>, message: impl Into<String>) -> Self {
        Self::invalid_request(400, message).with_param(param)
    }

    /// Refuses a field that this server does not support.
    #[must_use]
    pub fn unsupported(param: impl Into<String>, message: impl Into<String>) -> Self {
        Self::invalid(param, message).with_code("unsupported_parameter")
    }

    /// Refuses a body that is not the JSON object that an endpoint takes.
    #[must_use]
    pub fn malformed(message: impl Into<String>) -> Self {
        Self::invalid_request(400, message)
    }

    /// Reports that something does not exist, or is not visible to this credential.
    #[must_use]
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::invalid_request(404, message)
    }

    /// Reports a model that does not exist.
    #[must_use]
    pub fn model_not_found(model: &str) -> Self {
        let shown = Self::shown_model(model);
        let message = format!("The model `{shown}` does not exist; `GET /v1/models` lists the models.");
        Self::not_found(message).with_param("model").with_code("model_not_found")
    }

    /// Returns the beginning of a model's name, as messages show it.
    #[must_use]
    pub fn shown_model(model: &str) -> String {
        model.chars().take(MODEL_CHARS_SHOWN_MAX).collect()
    }

    /// Reports a previous response that cannot be continued.
    #[must_use]
    pub fn previous_response_not_found(id: &str) -> Self {
        let shown: String = id.chars().take(MODEL_CHARS_SHOWN_MAX).collect();
        Self::invalid("previous_response_id", format!("Previous response with id `{shown}` not found."))
            .with_code("previous_response_not_found")
    }

    fn invalid_request(status: u16, message: impl Into<String>) -> Self {
        Self {
            status,
            kind: "invalid_request_error",
            message: message.into(),
            param: None,
            code: None,
            retry: RetryAdvice::Never,
        }
    }

    /// Reports a refusal of an operation by its stable code; `message` is what the operation says.
    #[must_use]
    pub fn of_code(code: ErrorCode, message: impl Into<String>) -> Self {
        let class = code.class();
        let message = format!("{} ({code})", message.into());
        let retry = match class {
            ErrorClass::Overloaded | ErrorClass::Unavailable | ErrorClass::Aborted => {
                RetryAdvice::After(RETRY_PAUSE)
            }
            _ => RetryAdvice::Never,
        };
        let status = class.http_status();
        Self {
            status,
            kind: kind_of(status),
            message,
            param: None,
            code: Some(code.slug().to_owned()),
            retry,
        }
    }

    /// Returns the same error about a field.
    #[must_use]
    pub fn with_param(self, param: impl Into<String>) -> Self {
        Self { param: Some(param.into()), ..self }
    }

    /// Returns the same error with a code that clients know.
    #[must_use]
    pub fn with_code(self, code: impl Into<String>) -> Self {
        Self { code: Some(code.into()), ..self }
    }

    /// Returns the same error with another sentence.
    #[must_use]
    pub fn with_message(self, message: impl Into<String>) -> Self {
        Self { message: message.into(), ..self }
    }

    /// Returns the same error with another status, and the type that belongs to it.
    #[must_use]
    pub fn with_status(self, status: u16) -> Self {
        Self { status, kind: kind_of(status), ..self }
    }

    /// Returns the same error with other advice.
    #[must_use]
    pub fn with_retry(self, retry: RetryAdvice) -> Self {
        Self { retry, ..self }
    }

    /// Returns the HTTP status.
    #[must_use]
    pub fn status(&self) -> u16 {
        self.status
    }

    /// Returns the code, if it has one.
    #[must_use]
    pub fn code(&self) -> Option<&str> {
        self.code.as_deref()
    }

    /// Returns the field it is about.
    #[must_use]
    pub fn param(&self) -> Option<&str> {
        self.param.as_deref()
    }

    /// Returns the sentence.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Returns the body of the answer.
    #[must_use]
    pub fn body(&self) -> Value {
        json!({ "error": {
            "message": self.message,
            "type": self.kind,
            "param": self.param,
            "code": self.code,
        }})
    }

    /// Returns the headers that decide whether an SDK repeats the request.
    #[must_use]
    pub fn headers(&self) -> Vec<(&'static str, String)> {
        match self.retry {
            RetryAdvice::Never => vec![("x-should-retry", "false".to_owned())],
            RetryAdvice::After(span) => vec![
                ("x-should-retry", "true".to_owned()),
                ("retry-after", span.as_secs().max(1).to_string()),
            ],
        }
    }
}

const MODEL_CHARS_SHOWN_MAX: usize = 100;

fn kind_of(status: u16) -> &'static str {
    match status {
        401 => "authentication_error",
        403 => "permission_error",
        409 => "conflict_error",
        429 => "rate_limit_error",
        500.. => "server_error",
        _ => "invalid_request_error",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_has_four_members_and_message_and_type_are_never_null() {
        let error = ErrorReply::invalid("n", "`n` is 1 here");
        let body = error.body();
        let members: Vec<&String> = body["error"].as_object().unwrap().keys().collect();
        assert_eq!(members, ["message", "type", "param", "code"]);
        assert_eq!(body["error"]["param"], "n");
        assert_eq!(body["error"]["code"], Value::Null);
        for code in ErrorCode::ALL {
            let body = ErrorReply::of_code(*code, code.summary()).body();
            assert!(body["error"]["message"].as_str().is_some_and(|text| !text.is_empty()));
            assert!(body["error"]["type"].as_str().is_some_and(|text| !text.is_empty()));
        }
    }

    #[test]
    fn statuses_map_to_the_exception_classes_of_sdks() {
        let status = |code: ErrorCode| ErrorReply::of_code(code, "x").status();
        assert_eq!(ErrorReply::malformed("x").status(), 400);
        assert_eq!(status(ErrorCode::Unauthenticated), 401);
        assert_eq!(status(ErrorCode::PermissionDenied), 403);
        assert_eq!(ErrorReply::not_found("x").status(), 404);
        assert_eq!(status(ErrorCode::IdempotencyConflict), 409);
        assert_eq!(status(ErrorCode::ModelContextExceeded), 422);
        assert_eq!(status(ErrorCode::ModelRateLimited), 429);
        assert!(status(ErrorCode::ShuttingDown) >= 500);
    }

    #[test]
    fn a_conflict_is_never_repeated_and_an_overload_is() {
        let headers = |code: ErrorCode| ErrorReply::of_code(code, "x").headers();
        assert_eq!(headers(ErrorCode::IdempotencyConflict), [("x-should-retry", "false".to_owned())]);
        assert_eq!(headers(ErrorCode::RunFinished)[0].1, "false");
        let busy = headers(ErrorCode::QueueFull);
        assert_eq!(busy[0], ("x-should-retry", "true".to_owned()));
        assert_eq!(busy[1], ("retry-after", "2".to_owned()));
    }
}
