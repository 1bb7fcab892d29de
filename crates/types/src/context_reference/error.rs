//! Why an item of an input's references has no content.
//!
//! Invariant: names are stable, for clients compare them. Begin at [`ReferenceError`].

use crate::ErrorCode;
use crate::tool::DecisionReason;

/// Why one item has no content. The other items are not affected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ReferenceError {
    /// There are more than [`REFERENCES_MAX`](super::REFERENCES_MAX) references in the input.
    TooManyReferences,
    /// What the reference names cannot be looked up: an empty path, an address that is not of the web, an id with a space.
    InvalidTarget,
    /// Line numbers begin at 1, and the last line is not before the first.
    InvalidLines,
    /// Nothing has this name.
    NotFound,
    /// The path leads out of the workspace.
    OutsideOfWorkspace,
    /// The path has the name of a file with credentials.
    LooksLikeASecret,
    /// The path leads through a symbolic link.
    Symlink,
    /// The content is not text.
    IsBinary,
    /// The tool cannot use what is there: a folder, a device, a binary file, a file without permission to read.
    Unsuitable,
    /// The content does not fit beside the other items.
    TooLarge,
    /// Policy or a person denied the call, or a person was needed and could not be asked.
    Denied,
    /// The run has used all its tool calls.
    OverBudget,
    /// The call did not finish before its deadline.
    TimedOut,
    /// The run was stopped.
    Cancelled,
    /// No tool serves this kind of reference here.
    Unavailable,
    /// The call failed for another reason, which its own text names.
    Failed,
}

/// Codes of failed calls that say more than [`ReferenceError::Failed`].
const FAILURES: [(ErrorCode, ReferenceError); 16] = [
    (ErrorCode::FileNotFound, ReferenceError::NotFound),
    (ErrorCode::RunNotFound, ReferenceError::NotFound),
    // A path that leaves the workspace by its spelling is refused before the call, so a link is left.
    (ErrorCode::PathRefused, ReferenceError::Symlink),
    (ErrorCode::FileUnsuitable, ReferenceError::Unsuitable),
    (ErrorCode::FetchBinary, ReferenceError::IsBinary),
    (ErrorCode::ToolTimedOut, ReferenceError::TimedOut),
    (ErrorCode::FetchLimit, ReferenceError::TimedOut),
    (ErrorCode::ToolCancelled, ReferenceError::Cancelled),
    (ErrorCode::ToolDenied, ReferenceError::Denied),
    (ErrorCode::FetchRefused, ReferenceError::Denied),
    (ErrorCode::NoApprovalChannel, ReferenceError::Denied),
    (ErrorCode::ApprovalDenied, ReferenceError::Denied),
    (ErrorCode::ApprovalExpired, ReferenceError::Denied),
    (ErrorCode::ToolLimit, ReferenceError::OverBudget),
    (ErrorCode::ToolUnknown, ReferenceError::Unavailable),
    (ErrorCode::SandboxMissing, ReferenceError::Unavailable),
];

impl ReferenceError {
    /// Every error.
    pub const ALL: [Self; 16] = [
        Self::TooManyReferences,
        Self::InvalidTarget,
        Self::InvalidLines,
        Self::NotFound,
        Self::OutsideOfWorkspace,
        Self::LooksLikeASecret,
        Self::Symlink,
        Self::IsBinary,
        Self::Unsuitable,
        Self::TooLarge,
        Self::Denied,
        Self::OverBudget,
        Self::TimedOut,
        Self::Cancelled,
        Self::Unavailable,
        Self::Failed,
    ];

    /// Returns its stable name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::TooManyReferences => "too_many_references",
            Self::InvalidTarget => "invalid_target",
            Self::InvalidLines => "invalid_lines",
            Self::NotFound => "not_found",
            Self::OutsideOfWorkspace => "outside_of_workspace",
            Self::LooksLikeASecret => "looks_like_a_secret",
            Self::Symlink => "symlink",
            Self::IsBinary => "is_binary",
            Self::Unsuitable => "unsuitable",
            Self::TooLarge => "too_large",
            Self::Denied => "denied",
            Self::OverBudget => "over_budget",
            Self::TimedOut => "timed_out",
            Self::Cancelled => "cancelled",
            Self::Unavailable => "unavailable",
            Self::Failed => "failed",
        }
    }

    /// Returns what it says to a person and to a model: why content is missing, and what to do where something helps.
    #[must_use]
    pub fn message(self) -> &'static str {
        match self {
            Self::TooManyReferences => {
                "an input has 8 references at most; send the others in a further message"
            }
            Self::InvalidTarget => "the reference does not name anything that can be looked up",
            Self::InvalidLines => "line numbers begin at 1, and the last line is not before the first",
            Self::NotFound => "it does not exist",
            Self::OutsideOfWorkspace => "the path leads out of the workspace",
            Self::LooksLikeASecret => {
                "the name is that of a file with credentials, which references do not read"
            }
            Self::Symlink => "the path leads through a symbolic link; name the file that it leads to",
            Self::IsBinary => "the content is not text",
            Self::Unsuitable => "it is not a readable file or folder of the kind that was named",
            Self::TooLarge => "there is not enough room for it beside the other references",
            Self::Denied => "the call was not permitted",
            Self::OverBudget => "the run has used all the tool calls it may make",
            Self::TimedOut => "the call did not finish in time",
            Self::Cancelled => "the run was stopped",
            Self::Unavailable => "this kind of reference has no tool here",
            Self::Failed => "the call failed",
        }
    }

    /// Returns the error of a call that failed with a code.
    #[must_use]
    pub fn of_failure(code: ErrorCode) -> Self {
        FAILURES.iter().find(|(known, _)| *known == code).map_or(Self::Failed, |(_, error)| *error)
    }

    /// Returns the error of a call that was denied.
    #[must_use]
    pub fn of_denial(reason: DecisionReason) -> Self {
        match reason {
            DecisionReason::UnknownTool | DecisionReason::Disabled => Self::Unavailable,
            DecisionReason::BudgetExhausted => Self::OverBudget,
            DecisionReason::InvalidArguments | DecisionReason::PlaceholderInArguments => Self::InvalidTarget,
            DecisionReason::SecretInArguments => Self::LooksLikeASecret,
            DecisionReason::NotPossible => Self::Failed,
            DecisionReason::Permitted
            | DecisionReason::NoRulePermits
            | DecisionReason::NeedsApproval
            | DecisionReason::NoApprovalChannel
            | DecisionReason::Forbidden
            | DecisionReason::SkillForbids
            | DecisionReason::PolicyError
            | DecisionReason::Granted
            | DecisionReason::Approved
            | DecisionReason::ApprovalDenied
            | DecisionReason::ApprovalExpired
            | DecisionReason::Drifted => Self::Denied,
        }
    }
}
