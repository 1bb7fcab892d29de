//! A workspace in a temporary folder, and calls of tools in it through a real grant.

use std::fs;
use std::path::{Path, PathBuf};

use palyra_ports::CancelFlag;
use palyra_run_core::Execution;
use palyra_types::tool::ToolName;
use serde_json::Value;
use tempfile::TempDir;

use crate::builtin::{Granted, is_prepared, prepare_call, run_call};
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
    let plan = match is_prepared(&tool) {
        true => match prepare_call(&tool, &arguments, root) {
            Ok(prepared) => prepared.body.into_exposed(),
            Err(failure) => return told(&failure),
        },
        false => String::new(),
    };
    let granted = Granted { output_bytes_max, ..granted(root, &tool, &arguments, &plan) };
    let outcome = run_call(&granted, &CancelFlag::default()).unwrap();
    let text = outcome.output.into_exposed();
    assert!(text.len() <= output_bytes_max);
    match outcome.failure {
        None => text,
        Some(code) => format!("{}: {text}", code.slug()),
    }
}

/// Tells a failure by its code before its text.
pub(crate) fn told(failure: &ToolFailure) -> String {
    format!("{}: {failure}", failure.code().slug())
}

/// Returns what a first execution with 64 KiB of room is given.
pub(crate) fn granted<'g>(
    root: &'g Path,
    tool: &'g ToolName,
    arguments: &'g str,
    plan: &'g str,
) -> Granted<'g> {
    Granted {
        writes: palyra_ports::GrantedWrites::default(),
        tool,
        arguments,
        workspace_root: root,
        plan,
        execution: Execution::First,
        key: [7; 32],
        output_bytes_max: 64 * 1024,
    }
}
