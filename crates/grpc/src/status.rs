//! The one place where a `tonic::Status` is made.
//!
//! A refusal carries a stable code as metadata `palyra-error-code` and the message `slug: text`. The text helps
//! whoever reads it and holds no content, no other principal's data, and nothing a client sent.
//! Begin at [`Refusal`].

use palyra_ports::maintain_journal::RebuildError;
use palyra_ports::{ProofError, ReadError};
use palyra_runtime::RequestError;
use palyra_runtime::erasure::EraseContentError;
use palyra_types::ErrorCode;
use tonic::body::Body;
use tonic::codegen::http;
use tonic::metadata::{MetadataMap, MetadataValue};
use tonic::{Code, Status};

use crate::limits::MESSAGE_BYTES_MAX;
use crate::translate::{InvalidId, InvalidValue};

/// The metadata key of the stable error code.
const ERROR_CODE_KEY: &str = "palyra-error-code";

/// Why a call ends without its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    code: ErrorCode,
    text: String,
}

impl Refusal {
    /// The client broke the order or the form of its messages.
    pub(crate) fn invalid_frame(text: &str) -> Self {
        Self { code: ErrorCode::InvalidFrame, text: text.to_owned() }
    }

    /// No valid credential: one text for every reason, so that it teaches nothing.
    pub(crate) fn unauthenticated() -> Self {
        let text = "a valid token is needed: `authorization: Bearer palyra_...`, made with `palyra admin tokens create`";
        Self { code: ErrorCode::Unauthenticated, text: text.to_owned() }
    }

    /// The call is not for whoever came over this transport.
    pub(crate) fn permission_denied(text: &str) -> Self {
        Self { code: ErrorCode::PermissionDenied, text: text.to_owned() }
    }

    /// A field of a request has a value that it cannot have.
    pub(crate) fn invalid_argument(text: &str) -> Self {
        Self { code: ErrorCode::InvalidArgument, text: text.to_owned() }
    }

    /// The daemon stops.
    pub(crate) fn shutting_down() -> Self {
        let text = "the daemon is shutting down; the run goes on after its next start";
        Self { code: ErrorCode::ShuttingDown, text: text.to_owned() }
    }

    /// Returns the stable code.
    pub(crate) fn code(&self) -> ErrorCode {
        self.code
    }

    /// Returns why, in words.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Reads what the library below says about a message that did not arrive whole.
    pub(crate) fn undelivered(status: &Status) -> Self {
        if status.code() == Code::OutOfRange {
            let text = format!("a message may have at most {MESSAGE_BYTES_MAX} bytes");
            return Self { code: ErrorCode::MessageTooLarge, text };
        }
        Self::invalid_frame("the message cannot be decoded")
    }
}

impl From<RequestError> for Refusal {
    fn from(error: RequestError) -> Self {
        Self { code: error.code(), text: error.to_string() }
    }
}

impl From<ReadError> for Refusal {
    fn from(error: ReadError) -> Self {
        Self { code: error.code(), text: error.to_string() }
    }
}

impl From<ProofError> for Refusal {
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

impl From<EraseContentError> for Refusal {
    fn from(error: EraseContentError) -> Self {
        let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}")).unwrap_or_default();
        Self { code: error.code(), text: format!("{error}{cause}") }
    }
}

impl From<RebuildError> for Refusal {
    fn from(error: RebuildError) -> Self {
        let (code, cause) = match &error {
            RebuildError::Read(cause) => (cause.code(), cause.to_string()),
            RebuildError::Write(cause) => (cause.code(), cause.to_string()),
        };
        Self { code, text: format!("{error}; the old ones stay: {cause}") }
    }
}

impl From<InvalidId> for Refusal {
    fn from(error: InvalidId) -> Self {
        Self { code: ErrorCode::InvalidId, text: error.to_string() }
    }
}

impl From<InvalidValue> for Refusal {
    fn from(error: InvalidValue) -> Self {
        Self { code: ErrorCode::InvalidArgument, text: error.to_string() }
    }
}

impl From<Refusal> for Status {
    fn from(refusal: Refusal) -> Self {
        let Refusal { code, text } = refusal;
        if code == ErrorCode::Internal {
            tracing::error!(%text, "a call failed on a broken invariant");
        }
        let mut metadata = MetadataMap::new();
        let value = MetadataValue::try_from(code.to_string()).expect("PLY-nnnn is printable ASCII");
        metadata.insert(ERROR_CODE_KEY, value);
        Self::with_metadata(grpc_code(code), format!("{}: {text}", code.slug()), metadata)
    }
}

/// Gives refusals that the library made before a handler was reached our form; leaves all else as it is.
pub(crate) fn dress(response: http::Response<Body>) -> http::Response<Body> {
    if response.headers().contains_key(ERROR_CODE_KEY) {
        return response;
    }
    match Status::from_header_map(response.headers()) {
        Some(status) if came_undelivered(&status) => Status::from(Refusal::undelivered(&status)).into_http(),
        Some(_) | None => response,
    }
}

/// Whether the library refused the message itself; an unknown method keeps gRPC's own answer.
fn came_undelivered(status: &Status) -> bool {
    matches!(status.code(), Code::OutOfRange | Code::Internal)
}

/// Returns the gRPC code of a stable code: which class of reaction it asks of a client that knows only gRPC.
fn grpc_code(code: ErrorCode) -> Code {
    use ErrorCode as E;
    match code {
        E::AttachmentRefused
        | E::InvalidFrame
        | E::InvalidId
        | E::InvalidArgument
        | E::ToolArgumentsInvalid
        | E::PatternInvalid => Code::InvalidArgument,
        E::SessionNotFound
        | E::RunNotFound
        | E::AgentNotFound
        | E::ModelNotConfigured
        | E::ToolUnknown
        | E::FileNotFound => Code::NotFound,
        E::Unauthenticated => Code::Unauthenticated,
        E::PermissionDenied | E::WorkspaceRefused | E::ToolDenied | E::PathRefused => Code::PermissionDenied,
        E::MessageTooLarge
        | E::QueueFull
        | E::DiskFull
        | E::ModelRateLimited
        | E::ModelQuota
        | E::TurnLimit
        | E::ToolLimit
        | E::ContextExhausted => Code::ResourceExhausted,
        E::SessionMismatch
        | E::SessionArchived
        | E::BranchOutOfRange
        | E::RunFinished
        | E::RunNotWaiting
        | E::ConfigInvalid
        | E::ConfigUnreadable
        | E::StateDirLocked
        | E::StateDirUnusable
        | E::NetworkFilesystem
        | E::BuildMismatch
        | E::ModelMismatch
        | E::JournalQuarantined
        | E::JournalNewer
        | E::JournalRolledBack
        | E::ErasureOpenRun
        | E::ErasureNothing
        | E::ModelAuth
        | E::ModelPermission
        | E::ModelPermanent
        | E::ModelContextExceeded
        | E::ModelContentPolicy
        | E::FileUnsuitable
        | E::UnknownKind => Code::FailedPrecondition,
        E::DaemonUnreachable
        | E::DaemonStartFailed
        | E::ShuttingDown
        | E::JournalBusy
        | E::Fenced
        | E::ModelTransient
        | E::ModelMalformed
        | E::ModelNetwork => Code::Unavailable,
        E::ModelTimeout | E::ToolTimedOut | E::TimeLimit => Code::DeadlineExceeded,
        E::AttachOutOfRange | E::JournalRange => Code::OutOfRange,
        E::IdempotencyConflict => Code::AlreadyExists,
        E::GuardFailed | E::LoopStopped | E::ErasureNotOverwritten => Code::Aborted,
        E::ToolCancelled => Code::Cancelled,
        E::WriteUnknown | E::ToolOutcomeUnknown | E::ToolFailed => Code::Unknown,
        E::JournalCorrupt | E::JournalForked | E::JournalMissing => Code::DataLoss,
        other => of_asking(other).unwrap_or(Code::Internal),
    }
}

/// As [`grpc_code`], of what concerns calls that ask and what they may change.
fn of_asking(code: ErrorCode) -> Option<Code> {
    use ErrorCode as E;
    Some(match code {
        E::SecretInArguments
        | E::PlaceholderInArguments
        | E::EditNotUnique
        | E::PatchInvalid
        | E::EditRefused
        | E::PolicyInvalid
        | E::SkillInvalid => Code::InvalidArgument,
        E::ApprovalNotFound | E::GrantNotFound | E::SkillNotFound => Code::NotFound,
        E::SkillLimit => Code::ResourceExhausted,
        E::SkillUnreadable => Code::Unavailable,
        E::NoApprovalChannel | E::ApprovalDenied | E::ApproverNotEligible => Code::PermissionDenied,
        E::FileConflict
        | E::ApprovalDecided
        | E::ApprovalDrifted
        | E::EffectNotUnknown
        | E::UndoNothing
        | E::UndoOpenRun
        | E::KeptFileRefused
        | E::ClockBehind
        | E::PolicyUnreadable
        | E::SkillChanged => Code::FailedPrecondition,
        E::ApprovalExpired => Code::DeadlineExceeded,
        other => return of_containment(other),
    })
}

/// As [`grpc_code`], of what concerns programs, components, secrets and the way out.
fn of_containment(code: ErrorCode) -> Option<Code> {
    use ErrorCode as E;
    Some(match code {
        E::CommandFailed => Code::Unknown,
        E::JobUnknown | E::SecretNotFound => Code::NotFound,
        // Who may ask was let in: it is what was said that does not fit.
        E::PassphraseWrong | E::SecretUnsuitable => Code::InvalidArgument,
        E::SecretNotBound | E::FetchRefused => Code::PermissionDenied,
        E::FetchFailed => Code::Unavailable,
        E::FetchLimit => Code::DeadlineExceeded,
        E::FetchStatus => Code::Unknown,
        E::FetchBinary => Code::FailedPrecondition,
        E::SandboxMissing | E::VaultLocked => Code::FailedPrecondition,
        E::VaultDamaged => Code::DataLoss,
        E::SecretUnguarded => Code::ResourceExhausted,
        E::ComponentInvalid => Code::InvalidArgument,
        E::ComponentTrapped => Code::Unknown,
        E::ComponentLimit => Code::ResourceExhausted,
        E::ComponentChanged => Code::FailedPrecondition,
        E::ComponentNotFound => Code::NotFound,
        E::ComponentUnreadable => Code::Unavailable,
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
