//! Why a tool has no result, in words a model can act on.
//!
//! Invariant: every text says what to do next, and each maps to one stable code.

use palyra_tool_kit::{CallFailure, InvalidArguments};
use palyra_types::ErrorCode;

/// Why a granted call failed. Its text becomes the outcome that the model reads.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ToolFailure {
    /// The arguments do not say what to do.
    #[error("{0}")]
    Arguments(String),
    /// The path leads out of the workspace, through a link, or is no path at all.
    #[error("{0}")]
    PathRefused(String),
    /// Nothing is there.
    #[error("{0}")]
    NotFound(String),
    /// Something is there that the tool cannot use.
    #[error("{0}")]
    Unsuitable(String),
    /// A glob or regular expression does not compile.
    #[error("{0}")]
    Pattern(String),
    /// The contents hold what stands for a secret that was taken out.
    #[error("{0}")]
    Placeholder(String),
    /// A file is not what the call was made for.
    #[error("{0}")]
    Conflict(String),
    /// The text to replace is not there, or more than once.
    #[error("{0}")]
    NotUnique(String),
    /// A patch is malformed or does not apply.
    #[error("{0}")]
    Patch(String),
    /// The run was cancelled.
    #[error("the tool was stopped because the run was cancelled")]
    Cancelled,
    /// The system refused, or lacks a mechanism without which nothing is opened.
    #[error("{0}")]
    System(String),
}

impl ToolFailure {
    /// Returns the stable code shown to clients.
    pub(crate) fn code(&self) -> ErrorCode {
        match self {
            Self::Arguments(_) => ErrorCode::ToolArgumentsInvalid,
            Self::PathRefused(_) => ErrorCode::PathRefused,
            Self::NotFound(_) => ErrorCode::FileNotFound,
            Self::Unsuitable(_) => ErrorCode::FileUnsuitable,
            Self::Pattern(_) => ErrorCode::PatternInvalid,
            Self::Placeholder(_) => ErrorCode::PlaceholderInArguments,
            Self::Conflict(_) => ErrorCode::FileConflict,
            Self::NotUnique(_) => ErrorCode::EditNotUnique,
            Self::Patch(_) => ErrorCode::PatchInvalid,
            Self::Cancelled => ErrorCode::ToolCancelled,
            Self::System(_) => ErrorCode::ToolFailed,
        }
    }
}

impl From<InvalidArguments> for ToolFailure {
    fn from(_: InvalidArguments) -> Self {
        Self::Arguments(InvalidArguments::MESSAGE.to_owned())
    }
}

impl From<ToolFailure> for CallFailure {
    fn from(failure: ToolFailure) -> Self {
        Self::new(failure.code(), failure.to_string())
    }
}
