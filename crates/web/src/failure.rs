//! Why a fetch has no answer, in words a model can act on.

use palyra_ports::{FetchError, FetchFailure, FetchReach};
use palyra_types::ErrorCode;

/// Why a granted call failed; its text is the outcome that the model reads.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum WebFailure {
    /// The arguments do not say what to ask.
    #[error("{0}")]
    Arguments(String),
    /// The fetch has no answer.
    #[error("{told}")]
    Fetch {
        /// The stable code.
        code: ErrorCode,
        /// What a model reads.
        told: String,
    },
    /// The answer is no text.
    #[error("{0}")]
    Binary(String),
    /// A page could not be read.
    #[error("{0}")]
    Unread(String),
    /// The request may have been heard, and nobody can tell what came of it.
    #[error("the request may have been heard")]
    InDoubt,
}

impl WebFailure {
    /// Returns the stable code shown to clients.
    pub(crate) fn code(&self) -> ErrorCode {
        match self {
            Self::Arguments(_) => ErrorCode::ToolArgumentsInvalid,
            Self::Fetch { code, .. } => *code,
            Self::Binary(_) => ErrorCode::FetchBinary,
            Self::Unread(_) => ErrorCode::FetchFailed,
            Self::InDoubt => ErrorCode::ToolOutcomeUnknown,
        }
    }
}

impl From<FetchError> for WebFailure {
    fn from(error: FetchError) -> Self {
        let code = code_of(&error.failure);
        let FetchError { failure, reached } = error;
        let done = match (reached, Answered::of(&failure)) {
            (FetchReach::PerhapsDone, Answered::Perhaps) => return Self::InDoubt,
            (FetchReach::PerhapsDone, Answered::BySendingOn) => {
                "; the request itself was heard, and its server answered with that redirect"
            }
            (FetchReach::Nobody | FetchReach::OnlyAsked, _) => "",
        };
        Self::Fetch { code, told: format!("{failure}{}{done}", advice(&failure)) }
    }
}

/// Whether a server answered a request that was heard.
enum Answered {
    /// It did: what failed is the way to where it sends us on.
    BySendingOn,
    /// Nobody knows.
    Perhaps,
}

impl Answered {
    fn of(failure: &FetchFailure) -> Self {
        match failure {
            FetchFailure::Url { .. }
            | FetchFailure::Request { .. }
            | FetchFailure::HostNotGranted { .. }
            | FetchFailure::Address { .. }
            | FetchFailure::Unresolved { .. }
            | FetchFailure::Unreachable { .. }
            | FetchFailure::Tls { .. }
            | FetchFailure::Credential(_)
            | FetchFailure::Redirect { .. } => Self::BySendingOn,
            FetchFailure::Answer { .. } | FetchFailure::TimedOut { .. } | FetchFailure::Cancelled => {
                Self::Perhaps
            }
        }
    }
}

fn code_of(failure: &FetchFailure) -> ErrorCode {
    match failure {
        FetchFailure::Url { .. }
        | FetchFailure::Request { .. }
        | FetchFailure::HostNotGranted { .. }
        | FetchFailure::Address { .. }
        | FetchFailure::Redirect { .. } => ErrorCode::FetchRefused,
        FetchFailure::Credential(missing) => missing.code,
        FetchFailure::Unresolved { .. }
        | FetchFailure::Unreachable { .. }
        | FetchFailure::Tls { .. }
        | FetchFailure::Answer { .. } => ErrorCode::FetchFailed,
        FetchFailure::TimedOut { .. } => ErrorCode::FetchLimit,
        FetchFailure::Cancelled => ErrorCode::ToolCancelled,
    }
}

fn advice(failure: &FetchFailure) -> &'static str {
    match failure {
        FetchFailure::HostNotGranted { .. } => {
            ": a redirect leads there; make the call again with that address, or with that host in `hosts`"
        }
        FetchFailure::Address { .. } => "; only servers of the open network are asked",
        FetchFailure::Credential(_) => "; nothing was sent",
        FetchFailure::Url { .. }
        | FetchFailure::Request { .. }
        | FetchFailure::Unresolved { .. }
        | FetchFailure::Unreachable { .. }
        | FetchFailure::Tls { .. }
        | FetchFailure::Redirect { .. }
        | FetchFailure::Answer { .. }
        | FetchFailure::TimedOut { .. }
        | FetchFailure::Cancelled => "",
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn failure(failure: FetchFailure, reached: FetchReach) -> WebFailure {
        WebFailure::from(FetchError { failure, reached })
    }

    #[test]
    fn what_may_have_been_heard_is_in_doubt_unless_its_server_sent_us_on() {
        let late = || FetchFailure::TimedOut { limit: Duration::from_secs(30) };
        assert_eq!(failure(late(), FetchReach::PerhapsDone), WebFailure::InDoubt);
        assert_eq!(failure(FetchFailure::Cancelled, FetchReach::PerhapsDone), WebFailure::InDoubt);
        let broken = FetchFailure::Answer { reason: "it is not HTTP" };
        assert_eq!(failure(broken, FetchReach::PerhapsDone), WebFailure::InDoubt);
        assert_eq!(failure(late(), FetchReach::OnlyAsked).code(), ErrorCode::FetchLimit);

        let elsewhere = FetchFailure::HostNotGranted { host: "b.example".to_owned(), port: 443 };
        let sent_on = failure(elsewhere, FetchReach::PerhapsDone);
        assert_eq!(sent_on.code(), ErrorCode::FetchRefused);
        assert!(sent_on.to_string().ends_with("its server answered with that redirect"), "{sent_on}");
    }
}
