//! The built-in tools.
//!
//! Owns the list of tools, and puts files back that they changed. How a call is run is the kit's; here is what a call does
//! with its workspace.

use std::path::Path;

use futures::future::BoxFuture;
use palyra_ports::{CancelFlag, ComparedFile, GrantedWrites, PreparedCall, RestoreFiles, RestoreOrder};
use palyra_tool_kit::{
    BlockingPool, CallError, CallResult, Tool, ToolInvocation, ToolResult, ToolSet, delegate_tool_runtime,
};
use palyra_types::Content;
use palyra_types::effect::{RawUndoneFile, RestoreImage, UndoResult, UndoneFile};
use palyra_types::tool::ToolSpec;

use crate::call::ToolCallContext;
use crate::failure::ToolFailure;
use crate::workspace::Workspace;
use crate::writing::{self, CallPace, WriteEnd, WriteOrder};
use crate::{apply_patch, ask_user, edit_file, glob, list_dir, read_file, search, write_file};

/// One built-in tool.
pub(crate) struct BuiltinTool {
    pub(crate) spec: fn() -> ToolSpec,
    pub(crate) act: FileAct,
}

/// How a tool acts.
#[derive(Clone, Copy)]
pub(crate) enum FileAct {
    /// It reads, and its output is all that comes of it.
    Read(ReadFn),
    /// It says which files shall become what.
    Write(OrderFn),
    /// It does not: a person answers.
    Question,
}

type ReadFn = fn(&ToolCallContext<'_>, &str) -> Result<ToolResult, ToolFailure>;
type OrderFn = fn(&Workspace, &str) -> Result<WriteOrder, ToolFailure>;

pub(crate) const TOOLS: [BuiltinTool; 8] = [
    BuiltinTool { spec: read_file::spec, act: FileAct::Read(read_file::run) },
    BuiltinTool { spec: list_dir::spec, act: FileAct::Read(list_dir::run) },
    BuiltinTool { spec: glob::spec, act: FileAct::Read(glob::run) },
    BuiltinTool { spec: search::spec, act: FileAct::Read(search::run) },
    BuiltinTool { spec: write_file::spec, act: FileAct::Write(write_file::order) },
    BuiltinTool { spec: edit_file::spec, act: FileAct::Write(edit_file::order) },
    BuiltinTool { spec: apply_patch::spec, act: FileAct::Write(apply_patch::order) },
    BuiltinTool { spec: ask_user::spec, act: FileAct::Question },
];

impl BuiltinTool {
    fn tool(&self, writes: &GrantedWrites) -> Tool {
        let (spec, act, writes) = ((self.spec)(), self.act, writes.clone());
        match act {
            FileAct::Read(_) => Tool::blocking(spec, move |invocation| act.run(invocation, &writes)),
            FileAct::Write(order) => Tool::blocking(spec, move |invocation| act.run(invocation, &writes))
                .prepared_by(move |intent| {
                    Ok(prepare(order, intent.arguments().expose(), intent.workspace_root())?)
                }),
            FileAct::Question => Tool::question(spec),
        }
    }
}

impl FileAct {
    /// Runs one call to its end on the calling thread.
    pub(crate) fn run(self, invocation: &ToolInvocation, writes: &GrantedWrites) -> CallResult {
        match self {
            Self::Read(read) => run_read(read, invocation),
            Self::Write(order) => run_write(order, invocation, writes),
            Self::Question => Err(CallError::InDoubt),
        }
    }
}

/// The tools that come with Palyra.
#[derive(Clone)]
pub struct BuiltinTools {
    tools: ToolSet,
    writes: GrantedWrites,
}

delegate_tool_runtime!(BuiltinTools);

impl BuiltinTools {
    /// Makes the tools; calls of this value and of its clones share one bounded pool.
    #[must_use]
    pub fn new() -> Self {
        let writes = GrantedWrites::default();
        let tools = ToolSet::new(TOOLS.iter().map(|row| row.tool(&writes)).collect());
        Self { tools, writes }
    }

    /// Returns the tools, to be joined with others.
    #[must_use]
    pub fn tools(&self) -> ToolSet {
        self.tools.clone()
    }

    /// Returns the list of what these tools wrote, for who reviews what else changed.
    #[must_use]
    pub fn writes(&self) -> GrantedWrites {
        self.writes.clone()
    }

    fn pool(&self) -> BlockingPool {
        self.tools.pool().clone()
    }
}

impl Default for BuiltinTools {
    fn default() -> Self {
        Self::new()
    }
}

impl RestoreFiles for BuiltinTools {
    fn restore(&self, order: RestoreOrder) -> BoxFuture<'static, Vec<RawUndoneFile>> {
        let (pool, writes) = (self.pool(), self.writes());
        Box::pin(async move {
            let files = order.files.clone();
            pool.run(move || restore_files(&order, &writes)).await.unwrap_or_else(|| {
                none_restored(&files, "a bug in taking it back; the file may or may not have changed")
            })
        })
    }

    fn preview(&self, order: RestoreOrder) -> BoxFuture<'static, Vec<RawUndoneFile>> {
        let pool = self.pool();
        Box::pin(async move {
            let files = order.files.clone();
            let bug = || none_restored(&files, "a bug in looking at it");
            pool.run(move || preview_files(&order)).await.unwrap_or_else(bug)
        })
    }

    fn compare(&self, order: RestoreOrder) -> BoxFuture<'static, Vec<ComparedFile>> {
        let pool = self.pool();
        Box::pin(async move {
            let count = order.files.len();
            let bug = || vec![ComparedFile::refused("a bug in comparing it".to_owned()); count];
            pool.run(move || compare_files(&order)).await.unwrap_or_else(bug)
        })
    }
}

/// Works out on the calling thread what a call would do.
pub(crate) fn prepare(order: OrderFn, arguments: &str, root: &Path) -> Result<PreparedCall, ToolFailure> {
    let workspace = Workspace::open(root)?;
    writing::prepare(&workspace, &order(&workspace, arguments)?)
}

fn run_read(read: ReadFn, invocation: &ToolInvocation) -> CallResult {
    let read = || {
        let workspace = Workspace::open(&invocation.workspace_root)?;
        let cancel = &invocation.supervision.cancel;
        let call = ToolCallContext {
            workspace: &workspace,
            output_bytes_max: invocation.limits.output_bytes_max,
            cancel,
        };
        call.check_cancel()?;
        read(&call, &invocation.arguments)
    };
    read().map_err(|failure: ToolFailure| CallError::Failed(failure.into()))
}

fn run_write(order: OrderFn, invocation: &ToolInvocation, writes: &GrantedWrites) -> CallResult {
    // What cannot even be looked at after a restart may have been done before it.
    let unseen = |failure: ToolFailure| CallError::NotStarted(failure.into());
    let workspace = Workspace::open(&invocation.workspace_root).map_err(unseen)?.recording(writes);
    let order = order(&workspace, &invocation.arguments).map_err(unseen)?;
    let (execution, key) = (invocation.execution, &invocation.supervision.key.0);
    let pace = CallPace::new(&invocation.supervision.cancel);
    let ended = writing::execute(&workspace, &order, &invocation.plan, execution, key, &pace);
    ended.map_err(|end| match end {
        WriteEnd::Failed(failure) => CallError::Failed(failure.into()),
        WriteEnd::Lost | WriteEnd::Halted => CallError::InDoubt,
    })
}

fn restore_files(order: &RestoreOrder, writes: &GrantedWrites) -> Vec<RawUndoneFile> {
    let cancel = CancelFlag::default();
    match Workspace::open(order.workspace_root.expose()) {
        Ok(workspace) => {
            writing::restore(&workspace.recording(writes), &order.files, &CallPace::new(&cancel))
        }
        Err(failure) => none_restored(&order.files, failure.to_string()),
    }
}

fn preview_files(order: &RestoreOrder) -> Vec<RawUndoneFile> {
    match Workspace::open(order.workspace_root.expose()) {
        Ok(workspace) => writing::preview_restore(&workspace, &order.files),
        Err(failure) => none_restored(&order.files, failure.to_string()),
    }
}

fn compare_files(order: &RestoreOrder) -> Vec<ComparedFile> {
    match Workspace::open(order.workspace_root.expose()) {
        Ok(workspace) => writing::compare(&workspace, &order.files),
        Err(failure) => vec![ComparedFile::refused(failure.to_string()); order.files.len()],
    }
}

fn none_restored(files: &[RestoreImage], why: impl Into<Content<String>>) -> Vec<RawUndoneFile> {
    let why = why.into();
    let failed =
        |file: &RestoreImage| UndoneFile { path: file.path.clone(), result: UndoResult::Failed(why.clone()) };
    files.iter().map(failed).collect()
}

#[cfg(test)]
mod tests;
