//! Why a command was not run, or what went wrong with it, in words a model can act on.

use palyra_ports::{AppendError, OpenRootError, ReadError, SandboxError};
use palyra_tool_kit::{CallFailure, InvalidArguments};
use palyra_types::ErrorCode;

/// Why a granted call failed; its text is the outcome that the model reads.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CommandFailure {
    /// The arguments do not say what to run.
    #[error("{0}")]
    Arguments(String),
    /// There is no such program.
    #[error("{0}")]
    NotFound(String),
    /// The program or folder lies where commands may not reach.
    #[error("{0}")]
    PathRefused(String),
    /// A program, script or folder is no longer what the call was made for.
    #[error("{0}")]
    Drifted(String),
    /// This host lacks a mechanism.
    #[error("{0}")]
    SandboxMissing(String),
    /// The sandbox could not be made.
    #[error("{0}")]
    SandboxFailed(String),
    /// No job has this name.
    #[error("{0}")]
    JobUnknown(String),
    /// Too many jobs run.
    #[error("{0}")]
    TooMany(String),
    /// What was printed before cannot be read.
    #[error("{0}; ask again")]
    Tape(ReadError),
    /// That it is started could not be recorded.
    #[error("the job was not started, because that could not be recorded: {0}")]
    NotRecorded(AppendError),
    /// The run was cancelled before anything began.
    #[error("the command was not started, because the run was stopped")]
    Cancelled,
}

impl CommandFailure {
    /// Returns the stable code shown to clients.
    pub(crate) fn code(&self) -> ErrorCode {
        match self {
            Self::Arguments(_) => ErrorCode::ToolArgumentsInvalid,
            Self::NotFound(_) => ErrorCode::FileNotFound,
            Self::PathRefused(_) => ErrorCode::PathRefused,
            Self::Drifted(_) => ErrorCode::FileConflict,
            Self::SandboxMissing(_) => ErrorCode::SandboxMissing,
            Self::SandboxFailed(_) => ErrorCode::SandboxFailed,
            Self::JobUnknown(_) => ErrorCode::JobUnknown,
            Self::TooMany(_) => ErrorCode::ToolFailed,
            Self::Tape(error) => error.code(),
            Self::NotRecorded(error) => error.code(),
            Self::Cancelled => ErrorCode::ToolCancelled,
        }
    }
}

impl From<OpenRootError> for CommandFailure {
    fn from(error: OpenRootError) -> Self {
        let text = error.to_string();
        match error {
            OpenRootError::Link => Self::PathRefused(text),
            OpenRootError::MechanismMissing => Self::SandboxMissing(text),
            OpenRootError::Unusable(_) => Self::NotFound(text),
        }
    }
}

impl From<SandboxError> for CommandFailure {
    fn from(error: SandboxError) -> Self {
        let text = error.to_string();
        match error {
            SandboxError::Missing { .. } => Self::SandboxMissing(text),
            SandboxError::NotStarted { .. } => Self::NotFound(text),
            SandboxError::TooLong { .. } => Self::Arguments(text),
            SandboxError::Broken { stage, cause } => {
                Self::SandboxFailed(format!("the sandbox could not be made at `{stage}`: {cause}"))
            }
        }
    }
}

impl From<InvalidArguments> for CommandFailure {
    fn from(_: InvalidArguments) -> Self {
        Self::Arguments(InvalidArguments::MESSAGE.to_owned())
    }
}

impl From<CommandFailure> for CallFailure {
    fn from(failure: CommandFailure) -> Self {
        Self::new(failure.code(), failure.to_string())
    }
}
