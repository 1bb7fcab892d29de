//! Why a fetch has no answer, in words a model can act on.

use std::borrow::Cow;
use std::io::ErrorKind;

use palyra_ports::{FetchError, FetchFailure, FetchReach};
use palyra_tool_kit::{CallFailure, InvalidArguments};
use palyra_types::ErrorCode;

/// The first status that says that a request failed.
pub(crate) const FAILURE_FROM: u16 = 400;

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
    PageUnreadable(String),
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
            Self::PageUnreadable(_) => ErrorCode::FetchFailed,
            Self::InDoubt => ErrorCode::ToolOutcomeUnknown,
        }
    }
}

impl From<InvalidArguments> for WebFailure {
    fn from(_: InvalidArguments) -> Self {
        Self::Arguments(InvalidArguments::MESSAGE.to_owned())
    }
}

impl From<WebFailure> for CallFailure {
    fn from(failure: WebFailure) -> Self {
        Self::new(failure.code(), failure.to_string())
    }
}

impl From<FetchError> for WebFailure {
    fn from(error: FetchError) -> Self {
        let FetchError { failure, reached } = error;
        match reached {
            FetchReach::PerhapsDone => Self::InDoubt,
            FetchReach::Nobody | FetchReach::OnlyAsked | FetchReach::Answered { .. } => {
                let told = format!("{failure}{}", advice(&failure, reached));
                Self::Fetch { code: code_of(&failure), told }
            }
        }
    }
}

/// Why the rest of an answer is not shown, once a change was answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RestLost {
    /// Whether the call failed by what is known.
    pub(crate) failure: Option<ErrorCode>,
    /// What a model reads.
    pub(crate) told: String,
}

impl RestLost {
    /// A fetch that failed after a change was answered with a status.
    pub(crate) fn of(failure: &FetchFailure, status: u16) -> Self {
        let sent_on = (300..FAILURE_FROM).contains(&status);
        let after = format!("{failure}{}", advice(failure, FetchReach::Answered { status }));
        let told = if sent_on {
            format!(
                "the request was heard and answered with HTTP {status}, which sends us on; there, {after}"
            )
        } else {
            format!("the request was heard and answered with HTTP {status}; the rest is lost: {after}")
        };
        Self { failure: if sent_on { Some(code_of(failure)) } else { failed_by(status) }, told }
    }

    /// An answer that came whole, and is not shown.
    pub(crate) fn unshown(why: &WebFailure, status: u16) -> Self {
        let told = format!("the request was heard and answered with HTTP {status}; {why}");
        Self { failure: failed_by(status), told }
    }
}

fn failed_by(status: u16) -> Option<ErrorCode> {
    (status >= FAILURE_FROM).then_some(ErrorCode::FetchStatus)
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
        | FetchFailure::NoTls { .. }
        | FetchFailure::Answer { .. } => ErrorCode::FetchFailed,
        FetchFailure::TimedOut { .. } => ErrorCode::FetchLimit,
        FetchFailure::Cancelled => ErrorCode::ToolCancelled,
    }
}

fn advice(failure: &FetchFailure, reached: FetchReach) -> Cow<'static, str> {
    if let FetchFailure::Tls { cause, .. } = failure
        && cause.kind() == ErrorKind::InvalidInput
    {
        // It is about the file of authorities, and holds no text of the server.
        return format!("; {cause} (`palyra explain docs/http-fetch.md#certificates`)").into();
    }
    usual_advice(failure, reached).into()
}

fn usual_advice(failure: &FetchFailure, reached: FetchReach) -> &'static str {
    let is_answered = matches!(reached, FetchReach::Answered { .. });
    match failure {
        FetchFailure::HostNotGranted { .. } if is_answered => {
            "; what is there can be asked for with http_fetch"
        }
        FetchFailure::HostNotGranted { .. } => {
            ": a redirect leads there; make the call again with that address, or with that host in `hosts`"
        }
        FetchFailure::Address { .. } => "; only servers of the open network are asked",
        FetchFailure::Credential(_) if reached == FetchReach::Nobody => "; nothing was sent",
        FetchFailure::Tls { .. } => {
            "; a certificate counts that an authority of this machine signed, or of the file that SSL_CERT_FILE names instead \
             (`palyra explain docs/http-fetch.md#certificates`)"
        }
        FetchFailure::NoTls { .. } => {
            "; it may speak plain http there, and no certificate helps: use the port where the server speaks https, or its \
             http:// address, where no secret is sent"
        }
        FetchFailure::Credential(_)
        | FetchFailure::Url { .. }
        | FetchFailure::Request { .. }
        | FetchFailure::Unresolved { .. }
        | FetchFailure::Unreachable { .. }
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
    fn what_may_have_been_heard_is_in_doubt_unless_it_was_answered() {
        let late = || FetchFailure::TimedOut { limit: Duration::from_secs(30) };
        assert_eq!(failure(late(), FetchReach::PerhapsDone), WebFailure::InDoubt);
        assert_eq!(failure(FetchFailure::Cancelled, FetchReach::PerhapsDone), WebFailure::InDoubt);
        let broken = FetchFailure::Answer { reason: "it is not HTTP" };
        assert_eq!(failure(broken, FetchReach::PerhapsDone), WebFailure::InDoubt);
        assert_eq!(failure(late(), FetchReach::OnlyAsked).code(), ErrorCode::FetchLimit);
    }

    #[test]
    fn a_change_that_was_answered_is_told_by_its_answer() {
        let broken = || FetchFailure::Answer { reason: "its body is damaged or ended too early" };
        let elsewhere = FetchFailure::HostNotGranted { host: "b.example".to_owned(), port: 443 };
        for (failure, status, code, told) in [
            (broken(), 201, None, "answered with HTTP 201; the rest is lost"),
            (broken(), 500, Some(ErrorCode::FetchStatus), "answered with HTTP 500"),
            (broken(), 303, Some(ErrorCode::FetchFailed), "HTTP 303, which sends us on; there, the answer"),
            (elsewhere, 303, Some(ErrorCode::FetchRefused), "can be asked for with http_fetch"),
            (FetchFailure::Cancelled, 200, None, "the fetch was cancelled"),
        ] {
            let rest = RestLost::of(&failure, status);
            assert_eq!(rest.failure, code, "{failure} {status}");
            assert!(rest.told.contains(told) && rest.told.contains("was heard"), "{}", rest.told);
        }
        let unread = WebFailure::PageUnreadable("the page took too long to read".to_owned());
        assert_eq!(RestLost::unshown(&unread, 200).failure, None);
        assert_eq!(RestLost::unshown(&unread, 500).failure, Some(ErrorCode::FetchStatus));
    }

    #[test]
    fn a_file_of_authorities_that_does_not_fit_is_named() {
        let refused = |kind: ErrorKind, what: &str| {
            let cause = std::io::Error::new(kind, what.to_owned());
            failure(FetchFailure::Tls { host: "a.example".to_owned(), cause }, FetchReach::Nobody).to_string()
        };
        let named = refused(ErrorKind::InvalidInput, "SSL_CERT_FILE names leaf.pem");
        assert!(
            named.contains("did not prove its name; SSL_CERT_FILE names leaf.pem (`palyra explain"),
            "{named}"
        );
        // Another cause can hold a text of the server.
        assert!(!refused(ErrorKind::InvalidData, "words of a server").contains("words of a server"));
    }

    #[test]
    fn a_server_without_tls_is_no_matter_of_certificates() {
        let plain = FetchFailure::NoTls { host: "127.0.0.1".to_owned(), port: 8931 };
        let plain = failure(plain, FetchReach::Nobody);
        assert_eq!(plain.code(), ErrorCode::FetchFailed);
        let words = plain.to_string();
        assert!(
            words.starts_with("`127.0.0.1` does not answer in TLS at port 8931; it may speak plain http"),
            "{words}"
        );
        assert!(words.contains("no certificate helps") && words.contains("speaks https"), "{words}");
        assert!(!words.contains("SSL_CERT_FILE") && !words.contains("#certificates"), "{words}");
    }

    #[test]
    fn nothing_was_sent_is_said_only_where_it_is_so() {
        let locked = || {
            FetchFailure::Credential(palyra_ports::CredentialUnavailable {
                handle: palyra_ports::CredentialHandle("api".to_owned()),
                code: ErrorCode::SecretNotFound,
                why: "the vault is locked".to_owned(),
            })
        };
        assert!(failure(locked(), FetchReach::Nobody).to_string().ends_with("; nothing was sent"));
        assert!(!failure(locked(), FetchReach::OnlyAsked).to_string().contains("nothing was sent"));
        assert!(!RestLost::of(&locked(), 307).told.contains("nothing was sent"));
    }
}
