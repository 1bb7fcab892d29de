//! How a failure is mended in a chat.

use palyra_client::ClientError;
use palyra_types::ErrorCode;

use crate::failure::{Failure, kept_model};
use palyra_explain::MODEL_ADDED_ELSEWHERE;
use palyra_screen_text::shell_word;

/// Returns a failure with the mend that can be typed in a chat, where that differs from a shell's.
pub(super) fn in_chat(failure: Failure) -> Failure {
    if let Failure::Client(error @ ClientError::OtherModel { in_force, own, terms, .. }) = &failure {
        let mend = kept_model(in_force, own, *terms).mend_in_chat();
        return Failure::WithMend { code: error.code(), message: error.to_string(), mend };
    }
    if let Failure::Client(error) = &failure
        && error.code() == ErrorCode::ModelNotConfigured
    {
        let mend = format!(
            "/model lists the models there are, and `/model NAME` has another one answer; {MODEL_ADDED_ELSEWHERE}"
        );
        return Failure::WithMend { code: error.code(), message: error.to_string(), mend };
    }
    failure.in_chat()
}

/// Names the session of a chat that takes no input, and where it is made active again.
pub(super) fn in_archived(failure: Failure, session: &str) -> Failure {
    match failure {
        Failure::Client(error) if error.code() == ErrorCode::SessionArchived => Failure::WithMend {
            code: error.code(),
            message: error.to_string(),
            mend: format!(
                "`palyra sessions restore {}` in another terminal makes it active again; here, /sessions lists others",
                shell_word(session)
            ),
        },
        failure => failure,
    }
}

/// Names what lists the places to branch from, in a chat.
pub(super) fn in_chat_out_of_range(failure: Failure) -> Failure {
    match failure {
        Failure::Client(error) if error.code() == ErrorCode::BranchOutOfRange => Failure::WithMend {
            code: error.code(),
            message: error.to_string(),
            mend: "/branch lists the places of the last run; in another terminal, `palyra runs tail RUN` shows those of a \
                   run"
                .to_owned(),
        },
        failure => failure,
    }
}

/// Returns whether a failure says that a session does not exist.
pub(super) fn is_missing_session(failure: &Failure) -> bool {
    match failure {
        Failure::Client(error) => error.code() == ErrorCode::SessionNotFound,
        Failure::Local { code, .. } => *code == ErrorCode::SessionNotFound,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archived_session_is_named_with_the_place_to_type() {
        let message = "the session is archived; restore it, or use another one".to_owned();
        let refused = ClientError::Refused { code: ErrorCode::SessionArchived, message };
        let lines = in_archived(refused.into(), "chat:/a b").lines();
        assert!(lines[1].contains("`palyra sessions restore 'chat:/a b'` in another terminal"), "{lines:?}");
    }

    #[test]
    fn a_model_that_is_not_configured_is_mended_in_the_chat() {
        let message = "no provider `nope` is configured".to_owned();
        let refused = ClientError::Refused { code: ErrorCode::ModelNotConfigured, message };
        let mend = in_chat(refused.into()).lines()[1].clone();
        assert!(
            mend.contains("`/model NAME`") && mend.contains("`palyra model add` in another terminal"),
            "{mend}"
        );
    }
}
