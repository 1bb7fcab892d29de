//! The ground on which the writing tools are attacked: every tool at once, and what must not have changed.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use serde_json::{Value, json};

use super::grounds::{CANARY, Grounds};
use crate::fixture::call_in;

/// What a writing tool would put somewhere.
pub(super) const PAYLOAD: &str = "payload-9b2d\n";

/// What a place holds, by path: kind, inode, and bytes or target.
pub(super) type Picture = BTreeMap<String, (u32, u64, Vec<u8>)>;

/// Takes a picture of everything below a folder, following nothing.
pub(super) fn picture(root: &Path) -> Picture {
    let mut seen = Picture::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let status = fs::symlink_metadata(&path).unwrap();
            let held = if status.is_dir() {
                folders.push(path.clone());
                Vec::new()
            } else if status.is_symlink() {
                fs::read_link(&path).unwrap().as_os_str().as_bytes().to_vec()
            } else if status.is_file() && status.len() < 1 << 20 {
                fs::read(&path).unwrap()
            } else {
                Vec::new()
            };
            let name = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
            seen.insert(name, (status.mode(), status.ino(), held));
        }
    }
    seen
}

/// Returns a call of every writing tool, in each of its ways, that aims at `path`.
pub(super) fn calls_at(path: &str) -> Vec<(&'static str, Value)> {
    let hunk = "@@ -1 +1 @@\n-canary-5f1c9e\n+payload-9b2d\n";
    let patches = [
        format!("--- a/{path}\n+++ b/{path}\n{hunk}"),
        format!("--- {path}\n+++ {path}\n{hunk}"),
        format!("--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+payload-9b2d\n"),
        format!("--- a/{path}\n+++ /dev/null\n@@ -1 +0,0 @@\n-canary-5f1c9e\n"),
        format!("diff --git a/inside.txt b/{path}\nrename from inside.txt\nrename to {path}\n"),
        format!("diff --git a/{path} b/taken.txt\nrename from {path}\nrename to taken.txt\n"),
        format!("diff --git a/{path} b/{path}\nnew file mode 100755\n"),
    ];
    let mut calls = vec![
        ("write_file", json!({"path": path, "content": PAYLOAD})),
        ("write_file", json!({"path": path, "content": PAYLOAD, "mode": "create"})),
        ("write_file", json!({"path": path, "content": PAYLOAD, "mode": "overwrite"})),
        ("edit_file", json!({"path": path, "old": CANARY, "new": "payload"})),
        ("edit_file", json!({"path": path, "old": "\n", "new": PAYLOAD, "all": true})),
    ];
    calls.extend(patches.into_iter().map(|patch| ("apply_patch", json!({"patch": patch}))));
    calls
}

impl Grounds {
    /// Sends every writing tool to `path` and asserts that nothing at all changed, inside or outside, and that no
    /// words of the canary came back.
    pub(super) fn assert_nothing_written(&self, path: &str) {
        self.assert_nothing_written_by(&calls_at(path));
    }

    /// Makes calls that must all fail and change nothing.
    pub(super) fn assert_nothing_written_by(&self, calls: &[(&str, Value)]) {
        let (inside, outside) = (picture(&self.root()), picture(&self.fixture.outside()));
        for (tool, arguments) in calls {
            let told = call_in(&self.root(), 64 * 1024, tool, arguments);
            let code = told.split(':').next().unwrap_or_default();
            assert!(
                matches!(
                    code,
                    "path_refused"
                        | "file_unsuitable"
                        | "file_not_found"
                        | "file_conflict"
                        | "patch_invalid"
                        | "edit_not_unique"
                ),
                "{tool} {arguments}: {told}"
            );
            assert!(!told.contains(CANARY), "{tool} {arguments}: {told}");
            assert_eq!(picture(&self.root()), inside, "{tool} {arguments}");
            assert_eq!(picture(&self.fixture.outside()), outside, "{tool} {arguments}");
        }
    }

    /// The control: writes `path` below the root as plain code would, and asserts that `victim` shows it.
    pub(super) fn assert_control_writes(&self, path: impl AsRef<Path>, victim: &Path) {
        let kept = fs::read(victim).ok();
        fs::write(self.root().join(path.as_ref()), PAYLOAD).unwrap();
        assert_eq!(
            fs::read_to_string(victim).unwrap(),
            PAYLOAD,
            "the control does not reach {}",
            victim.display()
        );
        match kept {
            Some(bytes) => fs::write(victim, bytes).unwrap(),
            None => fs::remove_file(victim).unwrap(),
        }
    }
}
