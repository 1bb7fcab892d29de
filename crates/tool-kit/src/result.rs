//! What a call returns: a result, a failure, or that its outcome is not known.

use palyra_types::ErrorCode;
use palyra_types::tool::{Isolation, Taints, ToolExecutor};

/// What a call returns.
pub type CallResult = Result<ToolResult, CallError>;

/// Where a call ran, and what kept it from reaching more than it was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExecutionSite {
    /// What ran it.
    pub executor: ToolExecutor,
    /// What confined it.
    pub isolation: Isolation,
}

impl Default for ExecutionSite {
    fn default() -> Self {
        Self { executor: ToolExecutor::Internal, isolation: Isolation::DescriptorRelative }
    }
}

/// What a call that ran to its end returns.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ToolResult {
    /// What the model reads.
    pub text: String,
    /// How many bytes there were before the tool left anything out; the text counts if it is longer.
    pub bytes_total: u64,
    /// Why it failed, where what it did says so (a program's exit code, an HTTP status).
    pub failure: Option<ErrorCode>,
    /// Where it ran.
    pub site: ExecutionSite,
    /// What the text brings beside what the tool declares.
    pub taints: Taints,
}

/// Why a call failed, with a text that says what to do next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallFailure {
    /// The stable code shown to clients.
    pub code: ErrorCode,
    /// What the model reads.
    pub message: String,
    /// Where it failed.
    pub site: ExecutionSite,
}

impl CallFailure {
    /// Makes a failure inside the daemon itself.
    #[must_use]
    pub fn new(code: ErrorCode, message: String) -> Self {
        Self { code, message, site: ExecutionSite::default() }
    }
}

/// Why a call has no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallError {
    /// This execution did nothing. After a restart that says nothing about the execution before it, so a repetition of a
    /// call that changes something is in doubt.
    NotStarted(CallFailure),
    /// The call failed, and this is its outcome, also of a repetition: the tool looked.
    Failed(CallFailure),
    /// It is not known what the call did.
    InDoubt,
}
