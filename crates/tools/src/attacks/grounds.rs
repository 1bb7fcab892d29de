//! A workspace beside a place that holds the canary.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::fixture::{Fixture, call_in};
use crate::workspace::{Workspace, WorkspacePath};

/// Stands in the content and in a file name outside of the workspace, and nowhere else.
pub(super) const CANARY: &str = "canary-5f1c9e";

/// The ground on which the attacks take place.
#[derive(Debug)]
pub(super) struct Grounds {
    pub(super) fixture: Fixture,
}

impl Grounds {
    /// Makes a workspace with `inside.txt` and the folder `a/b`; outside lie `secret.txt`, which holds the
    /// canary, and a file that is named after it.
    pub(super) fn new() -> Self {
        let fixture = Fixture::with(&[("inside.txt", "harmless\n"), ("a/b/deep.txt", "harmless\n")]);
        fs::write(fixture.outside().join("secret.txt"), format!("{CANARY}\n")).unwrap();
        fs::write(fixture.outside().join(format!("{CANARY}.txt")), "named\n").unwrap();
        Self { fixture }
    }

    pub(super) fn root(&self) -> PathBuf {
        self.fixture.root()
    }

    pub(super) fn secret(&self) -> PathBuf {
        self.fixture.outside().join("secret.txt")
    }

    /// Walks every tool down `path` and asserts that none brings the canary back.
    pub(super) fn assert_untouched(&self, path: &str) {
        assert_untouched_in(&self.root(), path);
    }

    /// Hands `path` to the kernel without the early look at its spelling: it must refuse by itself.
    pub(super) fn assert_kernel_refuses(&self, path: impl AsRef<Path>) {
        let workspace = Workspace::open(&self.root()).unwrap();
        let path = WorkspacePath::unchecked(path.as_ref());
        if let Ok(mut opened) = workspace.file(&path) {
            let mut text = String::new();
            opened.file.read_to_string(&mut text).unwrap();
            panic!("{path:?} was opened: {text}");
        }
        assert!(workspace.folder(&path).is_err(), "{path:?}");
    }

    /// The control: reads `path` below the root as plain code would, and must reach the canary.
    pub(super) fn assert_control_touches(&self, path: impl AsRef<Path>) {
        assert_reaches(&self.root().join(path));
    }
}

/// Walks every tool down `path` in any root.
pub(super) fn assert_untouched_in(root: &Path, path: &str) {
    let calls = [
        ("read_file", json!({"path": path})),
        ("list_dir", json!({"path": path, "depth": 8})),
        ("glob", json!({"path": path, "pattern": "*", "hidden": true, "ignored": true})),
        ("search", json!({"path": path, "pattern": "."})),
    ];
    for (tool, arguments) in calls {
        let output = call_in(root, 64 * 1024, tool, &arguments);
        assert!(!output.contains(CANARY), "{tool} {arguments}: {output}");
    }
}

/// Reads a file or the names in a folder with the standard library, and asserts that the canary shows.
pub(super) fn assert_reaches(path: &Path) {
    let seen = match fs::read_dir(path) {
        Ok(names) => names.map(|name| name.unwrap().file_name().to_string_lossy().into_owned()).collect(),
        Err(_) => fs::read_to_string(path).unwrap(),
    };
    assert!(seen.contains(CANARY), "the control does not reach the canary: {}", path.display());
}
