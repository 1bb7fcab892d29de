//! The built-in tools as a [`ToolRuntime`].
//!
//! Owns the list of tools and the bounded pool that runs them: file work blocks, so it never runs on
//! the threads that serve sessions. A call that reads has a known outcome whatever happens; one that writes and hits
//! a bug has none.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use futures::future::BoxFuture;
use palyra_ports::{
    CancelFlag, ComparedFile, ExecuteToolError, GrantedWrites, PreparedCall, RestoreFiles, RestoreOrder,
    Supervision, ToolRuntime,
};
use palyra_run_core::{Execution, Grant, Intent, PrepareRefusal};
use palyra_types::effect::{PreImage, UndoResult, UndoneFile};
use palyra_types::tool::{Isolation, ToolCatalog, ToolExecutionOutcome, ToolExecutor, ToolName, ToolSpec};
use palyra_types::{ErrorCode, Redacted};
use tokio::sync::Semaphore;

use crate::call::Call;
use crate::failure::ToolFailure;
use crate::page::{ToolOutput, bounded};
use crate::workspace::Workspace;
use crate::writing::{self, Pace, WriteEnd, WriteOrder};
use crate::{apply_patch, ask_user, edit_file, glob, list_dir, read_file, search, write_file};

/// How many calls run at once; further ones wait.
const CALLS_RUNNING_MAX: usize = 8;

/// One built-in tool.
struct BuiltinTool {
    /// The name that its declaration has, too.
    name: &'static str,
    spec: fn() -> ToolSpec,
    act: Act,
}

/// How a tool acts.
enum Act {
    /// It reads, and its output is all that comes of it.
    Read(fn(&Call<'_>, &str) -> Result<ToolOutput, ToolFailure>),
    /// It says which files shall become what.
    Write(fn(&Workspace, &str) -> Result<WriteOrder, ToolFailure>),
    /// It does not: a person answers.
    Question,
}

const TOOLS: [BuiltinTool; 8] = [
    BuiltinTool { name: "read_file", spec: read_file::spec, act: Act::Read(read_file::run) },
    BuiltinTool { name: "list_dir", spec: list_dir::spec, act: Act::Read(list_dir::run) },
    BuiltinTool { name: "glob", spec: glob::spec, act: Act::Read(glob::run) },
    BuiltinTool { name: "search", spec: search::spec, act: Act::Read(search::run) },
    BuiltinTool { name: "write_file", spec: write_file::spec, act: Act::Write(write_file::order) },
    BuiltinTool { name: "edit_file", spec: edit_file::spec, act: Act::Write(edit_file::order) },
    BuiltinTool { name: "apply_patch", spec: apply_patch::spec, act: Act::Write(apply_patch::order) },
    BuiltinTool { name: "ask_user", spec: ask_user::spec, act: Act::Question },
];

fn act_of(tool: &ToolName) -> Option<&'static Act> {
    TOOLS.iter().find(|known| known.name == tool.as_str()).map(|known| &known.act)
}

/// The tools that come with Palyra.
#[derive(Debug, Clone)]
pub struct BuiltinTools {
    catalog: Arc<ToolCatalog>,
    running: Arc<Semaphore>,
    writes: GrantedWrites,
}

impl BuiltinTools {
    /// Makes the tools; calls of this value and of its clones share one bounded pool.
    #[must_use]
    pub fn new() -> Self {
        let catalog = ToolCatalog::new(TOOLS.iter().map(|tool| (tool.spec)()).collect());
        let running = Arc::new(Semaphore::new(CALLS_RUNNING_MAX));
        Self { catalog: Arc::new(catalog), running, writes: GrantedWrites::default() }
    }

    /// Returns the list of what these tools wrote, for who reviews what else changed.
    #[must_use]
    pub fn writes(&self) -> GrantedWrites {
        self.writes.clone()
    }
}

impl Default for BuiltinTools {
    fn default() -> Self {
        Self::new()
    }
}

impl BuiltinTools {
    /// Does file work in the bounded pool; a caller that stops waiting does not make room.
    async fn pooled<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
        let permit = Arc::clone(&self.running).acquire_owned().await.expect("the pool is never closed");
        let work = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            work()
        });
        work.await.ok()
    }
}

impl ToolRuntime for BuiltinTools {
    fn catalog(&self) -> Arc<ToolCatalog> {
        Arc::clone(&self.catalog)
    }

    fn prepare(&self, intent: Intent) -> BoxFuture<'static, Result<PreparedCall, PrepareRefusal>> {
        let tools = self.clone();
        Box::pin(async move {
            let prepared = tools.pooled(move || {
                prepare_call(intent.tool(), intent.arguments().expose(), intent.workspace_root())
            });
            let bug =
                || Err(ToolFailure::System("the call could not be prepared; try another way".to_owned()));
            prepared.await.unwrap_or_else(bug).map_err(|failure| PrepareRefusal {
                code: failure.code(),
                message: Redacted::new(failure.to_string()),
            })
        })
    }

    fn execute(
        &self,
        grant: Grant,
        supervision: Supervision,
    ) -> BoxFuture<'static, Result<ToolExecutionOutcome, ExecuteToolError>> {
        let tools = self.clone();
        Box::pin(async move {
            let tool = grant.tool().clone();
            let writes = tools.writes();
            let run = tools.pooled(move || {
                let granted = Granted { writes, ..Granted::of(&grant, supervision.key.0) };
                run_call(&granted, &supervision.cancel)
            });
            run.await.unwrap_or(Err(ExecuteToolError::OutcomeUnknown { tool }))
        })
    }
}

impl RestoreFiles for BuiltinTools {
    fn restore(&self, order: RestoreOrder) -> BoxFuture<'static, Vec<UndoneFile>> {
        let tools = self.clone();
        Box::pin(async move {
            let (files, writes) = (order.files.clone(), tools.writes());
            tools.pooled(move || restore_files(&order, &writes)).await.unwrap_or_else(|| {
                none_restored(&files, "a bug in taking it back; the file may or may not have changed")
            })
        })
    }

    fn preview(&self, order: RestoreOrder) -> BoxFuture<'static, Vec<UndoneFile>> {
        let tools = self.clone();
        Box::pin(async move {
            let files = order.files.clone();
            let bug = || none_restored(&files, "a bug in looking at it");
            tools.pooled(move || preview_files(&order)).await.unwrap_or_else(bug)
        })
    }

    fn compare(&self, order: RestoreOrder) -> BoxFuture<'static, Vec<ComparedFile>> {
        let tools = self.clone();
        Box::pin(async move {
            let count = order.files.len();
            let bug = || vec![ComparedFile::refused("a bug in comparing it".to_owned()); count];
            tools.pooled(move || compare_files(&order)).await.unwrap_or_else(bug)
        })
    }
}

/// What running a call takes from its grant.
#[derive(Debug)]
pub(crate) struct Granted<'g> {
    pub(crate) tool: &'g ToolName,
    pub(crate) arguments: &'g str,
    pub(crate) workspace_root: &'g Path,
    pub(crate) plan: &'g str,
    pub(crate) execution: Execution,
    pub(crate) key: [u8; 32],
    pub(crate) output_bytes_max: usize,
    /// Where its writes are recorded.
    pub(crate) writes: GrantedWrites,
}

impl<'g> Granted<'g> {
    pub(crate) fn of(grant: &'g Grant, key: [u8; 32]) -> Self {
        Self {
            tool: grant.tool(),
            arguments: grant.arguments().expose(),
            workspace_root: grant.workspace_root(),
            plan: grant.plan().body.expose(),
            execution: grant.execution(),
            key,
            output_bytes_max: grant.output_bytes_max(),
            writes: GrantedWrites::default(),
        }
    }
}

/// Returns whether calls of a tool are prepared.
#[cfg(test)]
pub(crate) fn is_prepared(tool: &ToolName) -> bool {
    matches!(act_of(tool), Some(Act::Write(_)))
}

/// Works out on the calling thread what a call would do.
pub(crate) fn prepare_call(
    tool: &ToolName,
    arguments: &str,
    workspace_root: &Path,
) -> Result<PreparedCall, ToolFailure> {
    let Some(Act::Write(order)) = act_of(tool) else {
        return Err(ToolFailure::System(format!("calls of `{tool}` are not prepared")));
    };
    let made = catch_unwind(AssertUnwindSafe(|| {
        let workspace = Workspace::open(workspace_root)?;
        writing::prepare(&workspace, &order(&workspace, arguments)?)
    }));
    made.unwrap_or_else(|_| Err(bug_in(tool)))
}

/// Runs one call to its end on the calling thread.
pub(crate) fn run_call(
    granted: &Granted<'_>,
    cancel: &CancelFlag,
) -> Result<ToolExecutionOutcome, ExecuteToolError> {
    let made = match act_of(granted.tool) {
        Some(Act::Read(read)) => Ok(run_read(*read, granted, cancel)),
        Some(Act::Write(order)) => run_write(*order, granted, &Pace::new(cancel)),
        Some(Act::Question) | None => return Err(ExecuteToolError::Unknown { tool: granted.tool.clone() }),
    };
    match made {
        Ok(made) => Ok(outcome(made, granted.output_bytes_max)),
        Err(Lost) => Err(ExecuteToolError::OutcomeUnknown { tool: granted.tool.clone() }),
    }
}

/// Nobody can tell what a call did.
#[derive(Debug)]
pub(crate) struct Lost;

fn run_read(
    read: fn(&Call<'_>, &str) -> Result<ToolOutput, ToolFailure>,
    granted: &Granted<'_>,
    cancel: &CancelFlag,
) -> Result<ToolOutput, ToolFailure> {
    // It changes nothing, so that even a bug has a known outcome.
    let made = catch_unwind(AssertUnwindSafe(|| {
        let workspace = Workspace::open(granted.workspace_root)?;
        let call = Call { workspace: &workspace, output_bytes_max: granted.output_bytes_max, cancel };
        call.check_cancel()?;
        read(&call, granted.arguments)
    }));
    made.unwrap_or_else(|_| Err(bug_in(granted.tool)))
}

/// Runs a call that writes.
pub(crate) fn run_write(
    order: fn(&Workspace, &str) -> Result<WriteOrder, ToolFailure>,
    granted: &Granted<'_>,
    pace: &Pace<'_>,
) -> Result<Result<ToolOutput, ToolFailure>, Lost> {
    let made = catch_unwind(AssertUnwindSafe(|| {
        // What cannot even be looked at after a restart may have been done before it.
        let doubtful = |failure: ToolFailure| match granted.execution {
            Execution::First => WriteEnd::Failed(failure),
            Execution::Again => WriteEnd::Lost,
        };
        let workspace = Workspace::open(granted.workspace_root).map_err(doubtful)?.recording(&granted.writes);
        let order = order(&workspace, granted.arguments).map_err(doubtful)?;
        writing::execute(&workspace, &order, granted.plan, granted.execution, &granted.key, pace)
    }));
    match made {
        Ok(Ok(output)) => Ok(Ok(output)),
        Ok(Err(WriteEnd::Failed(failure))) => Ok(Err(failure)),
        Ok(Err(WriteEnd::Lost | WriteEnd::Halted)) | Err(_) => Err(Lost),
    }
}

fn restore_files(order: &RestoreOrder, writes: &GrantedWrites) -> Vec<UndoneFile> {
    let cancel = CancelFlag::default();
    match Workspace::open(order.workspace_root.expose()) {
        Ok(workspace) => writing::restore(&workspace.recording(writes), &order.files, &Pace::new(&cancel)),
        Err(failure) => none_restored(&order.files, &failure.to_string()),
    }
}

fn preview_files(order: &RestoreOrder) -> Vec<UndoneFile> {
    match Workspace::open(order.workspace_root.expose()) {
        Ok(workspace) => writing::preview_restore(&workspace, &order.files),
        Err(failure) => none_restored(&order.files, &failure.to_string()),
    }
}

fn compare_files(order: &RestoreOrder) -> Vec<ComparedFile> {
    match Workspace::open(order.workspace_root.expose()) {
        Ok(workspace) => writing::compare(&workspace, &order.files),
        Err(failure) => vec![ComparedFile::refused(failure.to_string()); order.files.len()],
    }
}

fn none_restored(files: &[PreImage], why: &str) -> Vec<UndoneFile> {
    let failed =
        |file: &PreImage| UndoneFile { path: file.path.clone(), result: UndoResult::Failed(why.into()) };
    files.iter().map(failed).collect()
}

fn bug_in(tool: &ToolName) -> ToolFailure {
    ToolFailure::System(format!("`{tool}` hit a bug in itself; try another way"))
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
