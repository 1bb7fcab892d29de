//! A workspace in a temporary folder, and calls of tools in it through a real grant.

use std::fs;
use std::path::{Path, PathBuf};

use palyra_ports::{EffectKey, ExecuteToolError, GrantedWrites, PreparedCall, Supervision};
use palyra_testkit::GrantRequest;
use palyra_tool_kit::{ToolInvocation, conclude};
use palyra_types::tool::{RawToolOutcome, ToolName};
use serde_json::Value;
use tempfile::TempDir;

use crate::builtin::{self, BuiltinTool, FileAct, TOOLS};
use crate::failure::ToolFailure;

/// A folder with a workspace `root` and a place `outside` beside it.
#[derive(Debug)]
pub(crate) struct Fixture {
    dir: TempDir,
}

impl Fixture {
    /// Makes an empty workspace.
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("root")).unwrap();
        fs::create_dir(dir.path().join("outside")).unwrap();
        Self { dir }
    }

    /// Makes a workspace with files.
    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        let fixture = Self::new();
        for (path, content) in files {
            fixture.write(path, content.as_bytes());
        }
        fixture
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.dir.path().join("root")
    }

    pub(crate) fn outside(&self) -> PathBuf {
        self.dir.path().join("outside")
    }

    /// Writes a file in the workspace, with its folders.
    pub(crate) fn write(&self, path: &str, content: &[u8]) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// Calls a tool with 64 KiB of room.
    pub(crate) fn call(&self, tool: &str, arguments: &Value) -> String {
        self.call_within(64 * 1024, tool, arguments)
    }

    /// Calls a tool; a failure is told by its code before its text.
    pub(crate) fn call_within(&self, output_bytes_max: usize, tool: &str, arguments: &Value) -> String {
        call_in(&self.root(), output_bytes_max, tool, arguments)
    }
}

/// Calls a tool in any root; one that is prepared is prepared first.
pub(crate) fn call_in(root: &Path, output_bytes_max: usize, tool: &str, arguments: &Value) -> String {
    let tool = ToolName::new(tool);
    let arguments = arguments.to_string();
    let is_prepared = find(&tool).is_some_and(|row| matches!(row.act, FileAct::Write(_)));
    let plan = match is_prepared {
        true => match prepare_call(&tool, &arguments, root) {
            Ok(prepared) => prepared.body.into_exposed(),
            Err(failure) => return describe(&failure),
        },
        false => String::new(),
    };
    let mut invocation = granted(root, &tool, &arguments, &plan);
    invocation.limits.output_bytes_max = output_bytes_max;
    let outcome = run_call(&invocation).unwrap();
    let text = outcome.output.into_exposed();
    assert!(text.len() <= output_bytes_max);
    match outcome.failure {
        None => text,
        Some(code) => format!("{}: {text}", code.slug()),
    }
}

/// Tells a failure by its code before its text.
pub(crate) fn describe(failure: &ToolFailure) -> String {
    format!("{}: {failure}", failure.code().slug())
}

/// Returns the invocation of a first execution with 64 KiB of room.
pub(crate) fn granted(root: &Path, tool: &ToolName, arguments: &str, plan: &str) -> ToolInvocation {
    let grant = GrantRequest::new(tool.as_str(), arguments, root).output_bytes_max(64 * 1024).grant();
    let mut invocation =
        ToolInvocation::of(&grant, Supervision { key: EffectKey([7; 32]), ..Supervision::default() });
    plan.clone_into(&mut invocation.plan);
    invocation
}

fn find(tool: &ToolName) -> Option<BuiltinTool> {
    TOOLS.into_iter().find(|row| (row.spec)().name == *tool)
}

/// Works out on the calling thread what a call would do.
pub(crate) fn prepare_call(
    tool: &ToolName,
    arguments: &str,
    root: &Path,
) -> Result<PreparedCall, ToolFailure> {
    match find(tool).map(|row| row.act) {
        Some(FileAct::Write(order)) => builtin::prepare(order, arguments, root),
        Some(FileAct::Read(_) | FileAct::Question) | None => panic!("calls of `{tool}` are not prepared"),
    }
}

/// Runs one call to its end on the calling thread.
pub(crate) fn run_call(invocation: &ToolInvocation) -> Result<RawToolOutcome, ExecuteToolError> {
    let row = find(&invocation.tool).expect("a built-in tool");
    conclude((row.spec)().contract, invocation, row.act.run(invocation, &GrantedWrites::default()))
}
