//! Why a request was refused or a start failed.

use std::time::Duration;

use palyra_admin::{AdminError, OpenError};
use palyra_ports::{AppendError, KeptFileError, ReadError, WorkspaceError};
use palyra_tape::TapeError;
use palyra_types::approval::ApprovalState;
use palyra_types::{ErrorCode, PrincipalId};

use palyra_attachments::AdmitFilesError;

/// Why a handle did not do what a caller asked.
///
/// What belongs to another principal is reported exactly like what does not exist.
#[derive(Debug, Clone, thiserror::Error)]
pub enum RequestError {
    /// No such session for this principal.
    #[error("no such session")]
    SessionNotFound,
    /// The id and the key name different sessions.
    #[error("the session id and the session key name different sessions")]
    SessionMismatch,
    /// No such run for this principal.
    #[error("no such run")]
    RunNotFound,
    /// The client expects another default model.
    #[error("the daemon's default model is now `{model}`, from another source than the client has seen")]
    ModelMismatch {
        /// The default model in force.
        model: String,
    },
    /// A workspace came over a transport that may not choose it.
    #[error(
        "this folder is not one of the agent's workspace roots, nor below one; any folder can be named over the daemon's Unix socket only"
    )]
    WorkspaceRefused,
    /// The tape has not reached that number.
    #[error("the tape ends at {last}, before the number to attach after")]
    AttachOutOfRange {
        /// The last number.
        last: u32,
    },
    /// A field is not acceptable.
    #[error("{what}")]
    InvalidArgument {
        /// Which, and what would be.
        what: String,
    },
    /// An input is too large.
    #[error("the input has {bytes} bytes; at most {bytes_max} are taken")]
    TooLarge {
        /// Its size.
        bytes: usize,
        /// The limit.
        bytes_max: usize,
    },
    /// The idempotency key was used for another input.
    #[error("the idempotency key was used before for another input")]
    IdempotencyConflict,
    /// The session takes no input.
    #[error("the session is archived; restore it, or use another one")]
    SessionArchived,
    /// The place to branch from does not exist.
    #[error("the run's tape ends at {last}, before that place")]
    BranchOutOfRange {
        /// The last number.
        last: u32,
    },
    /// A file is not acceptable.
    #[error(transparent)]
    AttachmentRefused(#[from] AdmitFilesError),
    /// A queue is full; nothing was taken.
    #[error("too much is waiting already; try again when something has finished")]
    QueueFull,
    /// The run takes no answer now.
    #[error("the run does not wait for an answer")]
    RunNotWaiting,
    /// The run is over.
    #[error("the run is over")]
    RunFinished,
    /// No such approval for this principal.
    #[error("no such approval")]
    ApprovalNotFound,
    /// It is decided.
    #[error("the approval is decided already: {}", .state.as_str())]
    ApprovalDecided {
        /// How.
        state: ApprovalState,
        /// By whom, if by anybody.
        by: Option<PrincipalId>,
    },
    /// This person's answer does not count.
    #[error("you cannot decide this approval: another person must")]
    ApproverNotEligible,
    /// The edited arguments cannot run; the approval still waits.
    #[error("{what}")]
    EditRefused {
        /// Why.
        what: String,
    },
    /// The wall clock stands before the newest entry of the journal.
    #[error("the clock of this machine is {} s behind the newest entry; approvals wait until the clock has passed it", .behind.as_secs())]
    ClockBehind {
        /// By how much.
        behind: Duration,
    },
    /// The outcome of the effect is known.
    #[error("the outcome of this effect is known, or a person said it already")]
    EffectNotUnknown,
    /// The run changed nothing that could be taken back.
    #[error("the run changed no file that could be taken back")]
    UndoNothing,
    /// The run is still open.
    #[error("the run is not over; cancel it first")]
    UndoOpenRun,
    /// A kept file cannot be put in place, or deleted.
    #[error("{what}")]
    KeptFileRefused {
        /// Why, and what to do.
        what: String,
    },
    /// Something that people decide outside of runs was refused.
    #[error(transparent)]
    Admin(AdminError),
    /// The daemon stops.
    #[error("the daemon is shutting down")]
    ShuttingDown,
    /// The journal did not take it.
    #[error(transparent)]
    Append(#[from] AppendError),
    /// The journal could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// No workspace.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
}

impl RequestError {
    /// Returns the stable code shown to clients; its page is `docs/errors/<code>.md`.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::SessionNotFound => ErrorCode::SessionNotFound,
            Self::SessionMismatch => ErrorCode::SessionMismatch,
            Self::RunNotFound => ErrorCode::RunNotFound,
            Self::ModelMismatch { .. } => ErrorCode::ModelMismatch,
            Self::WorkspaceRefused => ErrorCode::WorkspaceRefused,
            Self::AttachOutOfRange { .. } => ErrorCode::AttachOutOfRange,
            Self::InvalidArgument { .. } => ErrorCode::InvalidArgument,
            Self::TooLarge { .. } => ErrorCode::MessageTooLarge,
            Self::IdempotencyConflict => ErrorCode::IdempotencyConflict,
            Self::SessionArchived => ErrorCode::SessionArchived,
            Self::BranchOutOfRange { .. } => ErrorCode::BranchOutOfRange,
            Self::AttachmentRefused(_) => ErrorCode::AttachmentRefused,
            Self::QueueFull => ErrorCode::QueueFull,
            Self::RunNotWaiting => ErrorCode::RunNotWaiting,
            Self::RunFinished => ErrorCode::RunFinished,
            Self::ApprovalNotFound => ErrorCode::ApprovalNotFound,
            Self::ApprovalDecided { .. } => ErrorCode::ApprovalDecided,
            Self::ApproverNotEligible => ErrorCode::ApproverNotEligible,
            Self::EditRefused { .. } => ErrorCode::EditRefused,
            Self::ClockBehind { .. } => ErrorCode::ClockBehind,
            Self::EffectNotUnknown => ErrorCode::EffectNotUnknown,
            Self::UndoNothing => ErrorCode::UndoNothing,
            Self::UndoOpenRun => ErrorCode::UndoOpenRun,
            Self::KeptFileRefused { .. } => ErrorCode::KeptFileRefused,
            Self::ShuttingDown => ErrorCode::ShuttingDown,
            Self::Append(error) => error.code(),
            Self::Read(error) => error.code(),
            Self::Workspace(error) => error.code(),
            Self::Admin(error) => error.code(),
        }
    }
}

impl From<KeptFileError> for RequestError {
    fn from(error: KeptFileError) -> Self {
        Self::Admin(error.into())
    }
}

impl From<AdminError> for RequestError {
    fn from(error: AdminError) -> Self {
        match error {
            AdminError::SessionNotFound => Self::SessionNotFound,
            AdminError::RunNotFound => Self::RunNotFound,
            AdminError::InvalidArgument { what } => Self::InvalidArgument { what },
            AdminError::Append(error) => Self::Append(error),
            AdminError::Read(error) => Self::Read(error),
            other @ (AdminError::AgentNotFound
            | AdminError::PrincipalNotFound
            | AdminError::GrantNotFound
            | AdminError::ProjectRulesChanged
            | AdminError::NotAnApprover
            | AdminError::MemoryNotFound
            | AdminError::BudgetNotFound { .. }
            | AdminError::IncidentNotFound
            | AdminError::SessionTooShort { .. }
            | AdminError::ModelNotConfigured { .. }
            | AdminError::SecretInIdentity { .. }
            | AdminError::KeptFiles(_)
            | AdminError::Skill(_)
            | AdminError::Component(_)
            | AdminError::Vault(_)
            | AdminError::Queue(_)
            | AdminError::Model(_)) => Self::Admin(other),
        }
    }
}

impl From<TapeError> for RequestError {
    fn from(error: TapeError) -> Self {
        match error {
            TapeError::SessionNotFound => Self::SessionNotFound,
            TapeError::RunNotFound => Self::RunNotFound,
            TapeError::AttachOutOfRange { last } => Self::AttachOutOfRange { last },
            TapeError::InvalidArgument { what } => Self::InvalidArgument { what },
            TapeError::Append(error) => Self::Append(error),
            TapeError::Read(error) => Self::Read(error),
        }
    }
}

/// Why the runtime did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The journal could not be read.
    #[error("the journal could not be read at start")]
    Read(#[from] ReadError),
    /// The journal could not be written.
    #[error("the journal could not be written at start")]
    Append(#[from] AppendError),
    /// The tools do not make a valid policy.
    #[error("the policy could not be compiled")]
    Policy(#[from] palyra_policy::CompilePolicyError),
}

impl From<OpenError> for StartError {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::Read(error) => Self::Read(error),
            OpenError::Append(error) => Self::Append(error),
        }
    }
}

impl StartError {
    /// Returns the stable code shown to people.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Read(error) => error.code(),
            Self::Append(error) => error.code(),
            Self::Policy(_) => ErrorCode::Internal,
        }
    }
}
