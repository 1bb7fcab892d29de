//! Why an operation ends without its answer.
//!
//! A refusal carries a stable code and a text. The text says what failed and what to do, and holds no content, no
//! other principal's data, and nothing a client sent. Each transport makes its own status from it.

use palyra_admin::AdminError;
use palyra_admin::erasure::EraseContentError;
use palyra_ports::maintain_journal::RebuildError;
use palyra_ports::{ProofError, ReadError};
use palyra_runtime::RequestError;
use palyra_runtime::tape::TapeError;
use palyra_types::ErrorCode;
use palyra_types::access::AccessScope;

use crate::translate::{InvalidId, InvalidValue};

/// Why a call ends without its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiError {
    code: ErrorCode,
    text: String,
}

impl ApiError {
    /// A refusal with its stable code, in words that hold no content and nothing a client sent.
    #[must_use]
    pub fn new(code: ErrorCode, text: String) -> Self {
        Self { code, text }
    }

    /// The client broke the order or the form of its messages.
    #[must_use]
    pub fn invalid_frame(text: &str) -> Self {
        Self { code: ErrorCode::InvalidFrame, text: text.to_owned() }
    }

    /// No valid credential: one text for every reason, so that it teaches nothing.
    #[must_use]
    pub fn unauthenticated() -> Self {
        let text = "a valid token is needed: `authorization: Bearer palyra_...`, made with `palyra admin tokens create user:NAME` \
                    (`--scope openai` for a client of OpenAI's API)";
        Self { code: ErrorCode::Unauthenticated, text: text.to_owned() }
    }

    /// The call is not open to clients of this transport.
    #[must_use]
    pub fn permission_denied(text: &str) -> Self {
        Self { code: ErrorCode::PermissionDenied, text: text.to_owned() }
    }

    /// The credential was not made for this.
    #[must_use]
    pub fn scope_missing(scope: AccessScope) -> Self {
        let text = match scope {
            AccessScope::Approve => {
                "this credential cannot decide approvals: a person decides them, at the daemon's own socket with \
                 `palyra approve`"
                    .to_owned()
            }
            AccessScope::Runs
            | AccessScope::RunsRead
            | AccessScope::Openai
            | AccessScope::Memory
            | AccessScope::Schedules
            | AccessScope::Channel
            | AccessScope::Metrics
            | AccessScope::Admin => format!(
                "the credential does not have the scope `{scope}`; `palyra admin tokens create user:NAME{}` makes a token \
                 that has it",
                scope_options(scope)
            ),
        };
        Self { code: ErrorCode::ScopeMissing, text }
    }

    /// The owner has to confirm this very call.
    #[must_use]
    pub fn confirmation_needed() -> Self {
        let text = "this changes what the daemon allows: use its own socket, or confirm it with a code of \
                    `palyra admin confirm` (in PALYRA_CONFIRMATION for a command with --connect)";
        Self { code: ErrorCode::ConfirmationNeeded, text: text.to_owned() }
    }

    /// The call is for the owner at the daemon's own socket.
    #[must_use]
    pub fn socket_only() -> Self {
        Self::permission_denied("this call is only answered on the daemon's Unix socket")
    }

    /// A field of a request has a value that it cannot have.
    #[must_use]
    pub fn invalid_argument(text: &str) -> Self {
        Self { code: ErrorCode::InvalidArgument, text: text.to_owned() }
    }

    /// The daemon stops.
    #[must_use]
    pub fn shutting_down() -> Self {
        let text = "the daemon is shutting down; the run goes on after its next start";
        Self { code: ErrorCode::ShuttingDown, text: text.to_owned() }
    }

    /// Returns the stable code.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        self.code
    }

    /// Returns why, in words.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl From<AdminError> for ApiError {
    fn from(error: AdminError) -> Self {
        RequestError::from(error).into()
    }
}

impl From<TapeError> for ApiError {
    fn from(error: TapeError) -> Self {
        RequestError::from(error).into()
    }
}

impl From<RequestError> for ApiError {
    fn from(error: RequestError) -> Self {
        Self { code: error.code(), text: error.to_string() }
    }
}

impl From<ReadError> for ApiError {
    fn from(error: ReadError) -> Self {
        Self { code: error.code(), text: error.to_string() }
    }
}

impl From<ProofError> for ApiError {
    fn from(error: ProofError) -> Self {
        let text = match &error {
            ProofError::Read(cause) => cause.to_string(),
            ProofError::Write(cause) => cause.to_string(),
            ProofError::OutOfRange { .. } | ProofError::NoSuchRun | ProofError::CannotSign { .. } => {
                error.to_string()
            }
        };
        Self { code: error.code(), text }
    }
}

impl From<EraseContentError> for ApiError {
    fn from(error: EraseContentError) -> Self {
        let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}")).unwrap_or_default();
        Self { code: error.code(), text: format!("{error}{cause}") }
    }
}

impl From<RebuildError> for ApiError {
    fn from(error: RebuildError) -> Self {
        let (code, cause) = match &error {
            RebuildError::Read(cause) => (cause.code(), cause.to_string()),
            RebuildError::Write(cause) => (cause.code(), cause.to_string()),
        };
        Self { code, text: format!("{error}; the old ones stay: {cause}") }
    }
}

impl From<InvalidId> for ApiError {
    fn from(error: InvalidId) -> Self {
        Self { code: ErrorCode::InvalidId, text: error.to_string() }
    }
}

impl From<InvalidValue> for ApiError {
    fn from(error: InvalidValue) -> Self {
        Self { code: ErrorCode::InvalidArgument, text: error.to_string() }
    }
}

/// Returns the options that make a token for a scope; named scopes take the place of the usual ones, `runs` and `runs.read`,
/// without which the command line cannot use a token.
fn scope_options(scope: AccessScope) -> String {
    match scope {
        AccessScope::Runs | AccessScope::RunsRead => String::new(),
        AccessScope::Openai | AccessScope::Metrics | AccessScope::Channel => format!(" --scope {scope}"),
        AccessScope::Approve | AccessScope::Memory | AccessScope::Schedules | AccessScope::Admin => {
            format!(" --scope runs --scope runs.read --scope {scope}")
        }
    }
}

#[cfg(test)]
mod tests {
    use palyra_types::ErrorClass;

    use super::*;

    #[test]
    fn a_missing_scope_is_named_with_the_command_that_gives_it_beside_what_every_verb_needs() {
        let said = |scope| ApiError::scope_missing(scope).text().to_owned();
        assert!(said(AccessScope::Runs).contains("`palyra admin tokens create user:NAME`"));
        assert!(said(AccessScope::RunsRead).contains("`palyra admin tokens create user:NAME`"));
        assert!(said(AccessScope::Openai).contains("user:NAME --scope openai`"));
        assert!(said(AccessScope::Admin).contains("--scope runs --scope runs.read --scope admin`"));
    }

    #[test]
    fn a_rejected_id_or_value_is_not_echoed() {
        let canary = "canary\u{1b}[31m";
        let id = crate::translate::id::<palyra_types::RunId>("run_id", canary).unwrap_err();
        let model = crate::translate::model(canary).unwrap_err();
        for refusal in [ApiError::from(id), ApiError::from(model)] {
            assert!(!refusal.text().contains("canary"), "{}", refusal.text());
            assert_eq!(refusal.code().class(), ErrorClass::InvalidArgument);
        }
    }
}
