//! A workspace beside files that no tool may reach, and the tools that try.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use palyra_tools::BuiltinTools;
use serde_json::{Value, json};

use crate::calls::call;
use crate::trial_folder::{SECRET, TrialFolder};

/// What a writing tool would put somewhere.
pub(super) const PAYLOAD: &str = "payload-9b2d\n";

/// The place; gone when dropped.
pub(super) struct Field {
    trial_folder: TrialFolder,
    tools: BuiltinTools,
}

impl Field {
    /// Makes a workspace with `inside.txt` and `a/b/deep.txt`; outside lie `file`, which holds the canary, and a file
    /// that is named after it.
    pub(super) fn new() -> io::Result<Self> {
        let trial_folder = TrialFolder::new()?;
        fs::create_dir_all(trial_folder.work().join("a/b"))?;
        fs::write(trial_folder.work().join("inside.txt"), "harmless\n")?;
        fs::write(trial_folder.work().join("a/b/deep.txt"), "harmless\n")?;
        fs::write(trial_folder.outside().join("file"), format!("{SECRET}\n"))?;
        fs::write(trial_folder.outside().join(format!("{SECRET}.txt")), "named\n")?;
        Ok(Self { trial_folder, tools: BuiltinTools::new() })
    }

    pub(super) fn root(&self) -> PathBuf {
        self.trial_folder.work()
    }

    pub(super) fn outside(&self) -> PathBuf {
        self.trial_folder.outside()
    }

    /// Puts the paths of this field where a path has placeholders.
    pub(super) fn path(&self, path: &str) -> String {
        path.replace("{OUT}", &self.outside().display().to_string())
            .replace("{PID}", &std::process::id().to_string())
    }

    /// Calls one tool, and returns what a model would read.
    pub(super) async fn call(&self, tool: &str, arguments: &Value) -> String {
        call(&self.tools, tool, arguments, &self.root()).await.text
    }

    /// Has every reading tool go down a path, and returns all that they say.
    pub(super) async fn read(&self, path: &str) -> String {
        let calls = [
            ("read_file", json!({ "path": path })),
            ("list_dir", json!({ "path": path, "depth": 8 })),
            ("glob", json!({ "path": path, "pattern": "*", "hidden": true, "ignored": true })),
            ("search", json!({ "path": path, "pattern": "." })),
        ];
        let mut said = String::new();
        for (tool, arguments) in calls {
            said.push_str(&self.call(tool, &arguments).await);
        }
        said
    }

    /// Has every writing tool, in each of its ways, aim at a path.
    pub(super) async fn write(&self, path: &str) -> String {
        let hunk = format!("@@ -1 +1 @@\n-{SECRET}\n+payload-9b2d\n");
        let patches = [
            format!("--- a/{path}\n+++ b/{path}\n{hunk}"),
            format!("--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+payload-9b2d\n"),
            format!("--- a/{path}\n+++ /dev/null\n@@ -1 +0,0 @@\n-{SECRET}\n"),
        ];
        let mut calls = vec![
            ("write_file", json!({ "path": path, "content": PAYLOAD })),
            ("write_file", json!({ "path": path, "content": PAYLOAD, "mode": "overwrite" })),
            ("edit_file", json!({ "path": path, "old": SECRET, "new": "payload" })),
        ];
        calls.extend(patches.into_iter().map(|patch| ("apply_patch", json!({ "patch": patch }))));
        let mut said = String::new();
        for (tool, arguments) in calls {
            said.push_str(&self.call(tool, &arguments).await);
        }
        said
    }

    /// Describes all that lies outside.
    pub(super) fn look(&self) -> String {
        let mut lines = Vec::new();
        look_below(&self.outside(), &mut lines);
        lines.sort();
        lines.join("\n")
    }

    /// Whether tools do what is asked of them here at all.
    pub(super) async fn works(&self) -> io::Result<()> {
        let read = self.call("read_file", &json!({ "path": "inside.txt" })).await;
        let written = self.call("write_file", &json!({ "path": "made.txt", "content": PAYLOAD })).await;
        if read.contains("harmless") && self.root().join("made.txt").exists() {
            Ok(())
        } else {
            Err(io::Error::other(format!("the tools do not work here: {read} {written}")))
        }
    }
}

fn look_below(folder: &Path, lines: &mut Vec<String>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let Ok(data) = fs::symlink_metadata(&path) else { continue };
        let held = match (data.is_dir(), data.is_symlink(), data.is_file() && data.len() < 1 << 20) {
            (true, _, _) => {
                look_below(&path, lines);
                Vec::new()
            }
            (_, true, _) => {
                fs::read_link(&path).map(|to| to.as_os_str().as_bytes().to_vec()).unwrap_or_default()
            }
            (_, _, true) => fs::read(&path).unwrap_or_default(),
            _ => Vec::new(),
        };
        lines.push(format!("{path:?} {:o} {} {held:?}", data.mode(), data.ino()));
    }
}

/// Says that the secret was seen, if it was.
pub(super) fn seen(text: &str) -> Vec<String> {
    if text.contains(SECRET) { vec!["the secret was seen".to_owned()] } else { Vec::new() }
}

/// Says that something changed, if it did.
pub(super) fn changed(before: &str, after: &str) -> Vec<String> {
    if before == after { Vec::new() } else { vec!["the folder outside changed".to_owned()] }
}

/// Reads a file, or the names in a folder, as plain code does.
pub(super) fn plainly(path: &Path) -> io::Result<String> {
    match fs::read_dir(path) {
        Ok(names) => {
            Ok(names.flatten().map(|name| name.file_name().to_string_lossy().into_owned()).collect())
        }
        Err(_) => fs::read_to_string(path),
    }
}
