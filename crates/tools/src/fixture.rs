//! A workspace in a temporary folder, and calls of tools in it through a real grant.

use std::fs;
use std::path::{Path, PathBuf};

use palyra_ports::CancelFlag;
use palyra_testkit::grants::GrantRequest;
use serde_json::Value;
use tempfile::TempDir;

use crate::builtin::{Granted, run_call};

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

/// Calls a tool in any root.
pub(crate) fn call_in(root: &Path, output_bytes_max: usize, tool: &str, arguments: &Value) -> String {
    let grant =
        GrantRequest::new(tool, &arguments.to_string(), root).output_bytes_max(output_bytes_max).grant();
    let outcome = run_call(&Granted::of(&grant), &CancelFlag::default()).unwrap();
    let text = outcome.output.into_exposed();
    assert!(text.len() <= output_bytes_max);
    match outcome.failure {
        None => text,
        Some(code) => format!("{}: {text}", code.slug()),
    }
}
