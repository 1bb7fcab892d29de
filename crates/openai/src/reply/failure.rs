//! The end of a run that has no answer, as clients read it: a code they know, a sentence, a status.
//!
//! Owns the table from our codes to those of OpenAI. Invariant: a sentence is our own summary of the code; what a
//! provider, a tool or a run said is never quoted.

use std::time::Duration;

use palyra_types::ErrorCode;
use palyra_types::model::ModelFailureClass;

use crate::error_reply::{ErrorReply, RetryAdvice};
use crate::reply::answer_reader::AnswerOutcome;

/// Pause that a client is asked to make where the provider named none.
const RATE_LIMIT_PAUSE: Duration = Duration::from_secs(20);
/// Pause before a single request is repeated where nothing says how long the cause lasts.
const REPEAT_PAUSE: Duration = Duration::from_secs(2);

/// Returns the error of an outcome; `None` for an answer, whole or cut off.
#[must_use]
pub fn failure(outcome: &AnswerOutcome) -> Option<ErrorReply> {
    match outcome {
        AnswerOutcome::Complete
        | AnswerOutcome::FunctionCalls
        | AnswerOutcome::Length
        | AnswerOutcome::ContentFilter => None,
        AnswerOutcome::Cancelled => {
            Some(ErrorReply::of_code(ErrorCode::RunFinished, "The run was cancelled.").with_code("cancelled"))
        }
        AnswerOutcome::Failed { code, pause } => Some(of_code(*code, *pause)),
    }
}

/// Returns the error of a single request to a model, which nothing here repeats: the client is asked to where that can help.
#[must_use]
pub fn request_failure(class: ModelFailureClass, pause: Option<Duration>) -> ErrorReply {
    let error = of_code(class.code(), pause);
    match class {
        ModelFailureClass::RateLimit => {
            error.with_retry(RetryAdvice::After(pause.unwrap_or(RATE_LIMIT_PAUSE)))
        }
        ModelFailureClass::Transient
        | ModelFailureClass::Network
        | ModelFailureClass::Timeout
        | ModelFailureClass::Malformed => error.with_retry(RetryAdvice::After(pause.unwrap_or(REPEAT_PAUSE))),
        ModelFailureClass::Auth
        | ModelFailureClass::Permission
        | ModelFailureClass::Quota
        | ModelFailureClass::Permanent
        | ModelFailureClass::ContextExceeded
        | ModelFailureClass::ContentPolicy => error,
    }
}

/// Returns the error of a single request that was not sent because of a budget, or because it could not be counted.
#[must_use]
pub fn budget_refusal(code: ErrorCode) -> ErrorReply {
    let mend = match code {
        ErrorCode::OverBudget => {
            "Raise the limit with `palyra budget set`, top the budget up with `palyra budget top-up`, or ask again in its next \
             window."
        }
        ErrorCode::ModelWithoutPrice => {
            "Add a price for the model to the file that `prices.file` names, or limit tokens in place of money."
        }
        _ => return ErrorReply::of_code(code, code.summary()),
    };
    of_code(code, None).with_message(format!("{} {mend} ({code})", code.summary()))
}

fn of_code(code: ErrorCode, pause: Option<Duration>) -> ErrorReply {
    let error = ErrorReply::of_code(code, code.summary()).with_retry(RetryAdvice::Never);
    match code {
        ErrorCode::ModelContextExceeded | ErrorCode::ContextExhausted => {
            // LangChain reads the sentence instead of the code: it looks for both of these phrases.
            let message =
                format!("{} It exceeds the context window (context_length_exceeded).", code.summary());
            let error = ErrorReply::of_code(code, message).with_retry(RetryAdvice::Never);
            error.with_status(400).with_code("context_length_exceeded")
        }
        ErrorCode::ModelQuota => error.with_code("insufficient_quota"),
        // A client that repeats other failures by itself takes this code as final: the next run would use up as much.
        ErrorCode::TurnLimit | ErrorCode::ToolLimit | ErrorCode::TimeLimit | ErrorCode::OverBudget => {
            error.with_status(429).with_code("insufficient_quota")
        }
        ErrorCode::ModelRateLimited => {
            let seconds = pause.unwrap_or(RATE_LIMIT_PAUSE).as_secs().max(1);
            let message = format!("{} Please try again in {seconds}s.", code.summary());
            ErrorReply::of_code(code, message).with_retry(RetryAdvice::Never).with_code("rate_limit_exceeded")
        }
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(code: ErrorCode) -> ErrorReply {
        failure(&AnswerOutcome::Failed { code, pause: None }).unwrap()
    }

    #[test]
    fn codes_with_a_meaning_for_clients_are_used() {
        assert_eq!(failed(ErrorCode::ModelContextExceeded).code(), Some("context_length_exceeded"));
        assert_eq!(failed(ErrorCode::ContextExhausted).code(), Some("context_length_exceeded"));
        assert_eq!(failed(ErrorCode::ContextExhausted).status(), 400);
        assert_eq!(failed(ErrorCode::ModelQuota).code(), Some("insufficient_quota"));
        assert_eq!(failed(ErrorCode::ModelQuota).status(), 429);
        let limited = failed(ErrorCode::ModelRateLimited);
        assert_eq!((limited.code(), limited.status()), (Some("rate_limit_exceeded"), 429));
        assert!(limited.message().contains("try again in 20s"), "{}", limited.message());
    }

    #[test]
    fn a_conversation_that_does_not_fit_is_named_in_the_sentence_as_well() {
        for code in [ErrorCode::ModelContextExceeded, ErrorCode::ContextExhausted] {
            let error = failed(code);
            for phrase in ["exceeds the context window", "context_length_exceeded", &code.to_string()] {
                assert!(error.message().contains(phrase), "{}", error.message());
            }
        }
    }

    #[test]
    fn a_run_that_used_up_its_limits_is_final() {
        for code in [ErrorCode::TurnLimit, ErrorCode::ToolLimit, ErrorCode::TimeLimit] {
            let error = failed(code);
            assert_eq!((error.status(), error.code()), (429, Some("insufficient_quota")));
            assert!(error.message().contains(&code.to_string()), "{}", error.message());
        }
    }

    #[test]
    fn a_request_that_a_budget_refuses_names_the_mend_and_is_final() {
        for (code, status, slug, mend) in [
            (ErrorCode::OverBudget, 429, "insufficient_quota", "`palyra budget top-up`"),
            (ErrorCode::ModelWithoutPrice, 409, "model_without_price", "`prices.file`"),
        ] {
            let error = budget_refusal(code);
            assert_eq!((error.status(), error.code()), (status, Some(slug)), "{code}");
            assert!(error.message().contains(mend) && error.message().contains(&code.to_string()));
            assert_eq!(error.headers(), [("x-should-retry", "false".to_owned())]);
        }
        let busy = budget_refusal(ErrorCode::JournalBusy);
        assert_eq!(busy.headers()[0], ("x-should-retry", "true".to_owned()));
    }

    #[test]
    fn the_pause_that_a_provider_asked_for_is_passed_on() {
        let pause = Some(Duration::from_secs(7));
        let limited = failure(&AnswerOutcome::Failed { code: ErrorCode::ModelRateLimited, pause }).unwrap();
        assert!(limited.message().contains("try again in 7s"), "{}", limited.message());
    }

    #[test]
    fn a_failed_run_is_not_repeated_by_an_sdk() {
        for code in ErrorCode::ALL {
            assert_eq!(failed(*code).headers(), [("x-should-retry", "false".to_owned())], "{code}");
        }
    }
    #[test]
    fn a_single_request_is_repeated_by_a_client_where_that_can_help() {
        use ModelFailureClass as Class;
        let seconds = |number| Some(Duration::from_secs(number));
        for (class, pause, status, retry_after) in [
            (Class::RateLimit, None, 429, Some("20")),
            (Class::RateLimit, seconds(7), 429, Some("7")),
            (Class::Transient, None, 502, Some("2")),
            (Class::Transient, seconds(30), 502, Some("30")),
            (Class::Network, None, 502, Some("2")),
            (Class::Timeout, None, 504, Some("2")),
            (Class::Malformed, None, 502, Some("2")),
            (Class::Auth, None, 502, None),
            (Class::Quota, None, 429, None),
            (Class::Permanent, None, 502, None),
            (Class::ContextExceeded, None, 400, None),
            (Class::ContentPolicy, None, 422, None),
        ] {
            let error = request_failure(class, pause);
            let headers = error.headers();
            let named =
                headers.iter().find(|(name, _)| *name == "retry-after").map(|(_, value)| value.as_str());
            assert_eq!(named, retry_after, "{class:?}");
            assert_eq!(error.status(), status, "{class:?}: {}", error.message());
        }
    }
}
