//! The built-in tools as a [`ToolRuntime`].
//!
//! Owns the list of tools and the bounded pool that runs them: file work blocks, so it never runs on
//! the threads that serve sessions.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use futures::future::BoxFuture;
use palyra_ports::{CancelFlag, ExecuteToolError, ToolRuntime};
use palyra_run_core::Grant;
use palyra_types::tool::{Isolation, ToolCatalog, ToolExecutionOutcome, ToolExecutor, ToolName, ToolSpec};
use palyra_types::{ErrorCode, Redacted};
use tokio::sync::Semaphore;

use crate::call::Call;
use crate::failure::ToolFailure;
use crate::page::{ToolOutput, bounded};
use crate::workspace::Workspace;
use crate::{glob, list_dir, read_file, search};

/// How many calls run at once; further ones wait.
const CALLS_RUNNING_MAX: usize = 8;

/// One built-in tool.
struct BuiltinTool {
    spec: fn() -> ToolSpec,
    run: fn(&Call<'_>, &str) -> Result<ToolOutput, ToolFailure>,
}

const TOOLS: [BuiltinTool; 4] = [
    BuiltinTool { spec: read_file::spec, run: read_file::run },
    BuiltinTool { spec: list_dir::spec, run: list_dir::run },
    BuiltinTool { spec: glob::spec, run: glob::run },
    BuiltinTool { spec: search::spec, run: search::run },
];

/// The tools that come with Palyra.
#[derive(Debug, Clone)]
pub struct BuiltinTools {
    catalog: Arc<ToolCatalog>,
    running: Arc<Semaphore>,
}

impl BuiltinTools {
    /// Makes the tools; calls of this value and of its clones share one bounded pool.
    #[must_use]
    pub fn new() -> Self {
        let catalog = ToolCatalog::new(TOOLS.iter().map(|tool| (tool.spec)()).collect());
        Self { catalog: Arc::new(catalog), running: Arc::new(Semaphore::new(CALLS_RUNNING_MAX)) }
    }
}

impl Default for BuiltinTools {
    fn default() -> Self {
        Self::new()
    }
}

impl ToolRuntime for BuiltinTools {
    fn catalog(&self) -> Arc<ToolCatalog> {
        Arc::clone(&self.catalog)
    }

    fn execute(
        &self,
        grant: Grant,
        cancel: CancelFlag,
    ) -> BoxFuture<'static, Result<ToolExecutionOutcome, ExecuteToolError>> {
        let running = Arc::clone(&self.running);
        Box::pin(async move {
            let tool = grant.tool().clone();
            let permit = running.acquire_owned().await.expect("the pool is never closed");
            // The permit travels with the work: a caller that stops waiting does not make room.
            let work = tokio::task::spawn_blocking(move || {
                let _permit = permit;
                run_call(&Granted::of(&grant), &cancel)
            });
            work.await.unwrap_or(Err(ExecuteToolError::OutcomeUnknown { tool }))
        })
    }
}

/// What running a call takes from its grant.
#[derive(Debug)]
pub(crate) struct Granted<'g> {
    pub(crate) tool: &'g ToolName,
    pub(crate) arguments: &'g str,
    pub(crate) workspace_root: &'g Path,
    pub(crate) output_bytes_max: usize,
}

impl<'g> Granted<'g> {
    pub(crate) fn of(grant: &'g Grant) -> Self {
        Self {
            tool: grant.tool(),
            arguments: grant.arguments().expose(),
            workspace_root: grant.workspace_root(),
            output_bytes_max: grant.output_bytes_max(),
        }
    }
}

/// Runs one call to its end on the calling thread.
pub(crate) fn run_call(
    granted: &Granted<'_>,
    cancel: &CancelFlag,
) -> Result<ToolExecutionOutcome, ExecuteToolError> {
    let Some(tool) = TOOLS.iter().find(|tool| (tool.spec)().name == *granted.tool) else {
        return Err(ExecuteToolError::Unknown { tool: granted.tool.clone() });
    };
    // These tools change nothing, so that even a bug has a known outcome.
    let made = catch_unwind(AssertUnwindSafe(|| {
        let workspace = Workspace::open(granted.workspace_root)?;
        let call = Call { workspace: &workspace, output_bytes_max: granted.output_bytes_max, cancel };
        call.check_cancel()?;
        (tool.run)(&call, granted.arguments)
    }));
    let bug = || ToolFailure::System(format!("`{}` hit a bug in itself; try another way", granted.tool));
    Ok(outcome(made.unwrap_or_else(|_| Err(bug())), granted.output_bytes_max))
}

fn outcome(made: Result<ToolOutput, ToolFailure>, output_bytes_max: usize) -> ToolExecutionOutcome {
    let (failure, text, bytes_total): (Option<ErrorCode>, String, u64) = match made {
        Ok(output) => (None, output.text, output.bytes_total),
        Err(failure) => (Some(failure.code()), failure.to_string(), 0),
    };
    let output_bytes_total = bytes_total.max(text.len() as u64);
    ToolExecutionOutcome {
        failure,
        output: Redacted::new(bounded(text, output_bytes_max)),
        output_bytes_total,
        executor: ToolExecutor::Internal,
        isolation: Isolation::DescriptorRelative,
    }
}

#[cfg(test)]
mod tests;
