//! One call as a tool sees it.

use palyra_ports::CancelFlag;

use crate::failure::ToolFailure;
use crate::workspace::Workspace;

/// What a tool is given: arguments, a workspace, a limit, and a flag that ends it.
#[derive(Debug)]
pub(crate) struct ToolCallContext<'c> {
    /// The workspace, open.
    pub(crate) workspace: &'c Workspace,
    /// How much output is kept, in bytes.
    pub(crate) output_bytes_max: usize,
    /// Raised when the run no longer wants the result.
    pub(crate) cancel: &'c CancelFlag,
}

impl ToolCallContext<'_> {
    /// Fails once the run was cancelled.
    pub(crate) fn check_cancel(&self) -> Result<(), ToolFailure> {
        if self.cancel.is_cancelled() { Err(ToolFailure::Cancelled) } else { Ok(()) }
    }
}
