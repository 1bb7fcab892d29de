//! Running tools.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures::future::BoxFuture;
use palyra_run_core::Grant;
use palyra_types::ErrorCode;
use palyra_types::tool::{ToolCatalog, ToolExecutionOutcome, ToolName};

/// Runs exactly what a grant permits.
pub trait ToolRuntime: Send + Sync {
    /// Returns the tools on offer.
    fn catalog(&self) -> Arc<ToolCatalog>;

    /// Runs the granted call. A failure *of the tool* is an outcome; an error means the outcome is not known
    /// or nothing was started. The caller keeps the deadline and raises `cancel`; work stops soon after.
    fn execute(
        &self,
        grant: Grant,
        cancel: CancelFlag,
    ) -> BoxFuture<'static, Result<ToolExecutionOutcome, ExecuteToolError>>;
}

/// A flag that is raised once, and looked at by blocking work between steps.
#[derive(Debug, Clone, Default)]
pub struct CancelFlag(Arc<AtomicBool>);

impl CancelFlag {
    /// Raises the flag.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Returns whether it was raised.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// Why a granted call has no known outcome.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExecuteToolError {
    /// The runtime has no such tool: nothing was started.
    #[error("tool `{tool}` is not in the catalogue")]
    Unknown {
        /// The tool.
        tool: ToolName,
    },
    /// It was started and lost.
    #[error("tool `{tool}` may or may not have taken effect")]
    OutcomeUnknown {
        /// The tool.
        tool: ToolName,
    },
}

impl ExecuteToolError {
    /// Returns the stable code shown to clients.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Unknown { .. } => ErrorCode::ToolUnknown,
            Self::OutcomeUnknown { .. } => ErrorCode::ToolOutcomeUnknown,
        }
    }
}
