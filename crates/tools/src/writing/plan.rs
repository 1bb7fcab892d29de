//! The record of what a call will do, as it goes into the journal before the call acts.
//!
//! Owns its JSON: `{"files":[{"after":SHA256|null,"before":SHA256|null,"bytes":N,"mode":N|null,"path":TEXT}],
//! "tool":TEXT,"version":N}`, keys in order, digests in hexadecimal. New keys may come; none changes its meaning.

use palyra_types::Content;
use palyra_types::effect::{FileBefore, PreImage, RawPreImage};
use serde::{Deserialize, Serialize};

use super::change::FileChange;
use crate::workspace::{Sha256, SlotContent};

/// What a call will do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WritePlan {
    /// Its files, in the order in which they are changed.
    pub(crate) files: Vec<PlannedFile>,
    /// The tool.
    pub(crate) tool: String,
    /// The tool's version.
    pub(crate) version: u32,
}

/// What it will do to one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PlannedFile {
    /// Digest of what will be there; `None` when nothing will be.
    pub(crate) after: Option<String>,
    /// Digest of what was there; `None` when nothing was.
    pub(crate) before: Option<String>,
    /// Bytes that will be there.
    pub(crate) bytes: u64,
    /// Permission bits it will have, less the process's mask for a new file; `None` when nothing will be there.
    pub(crate) mode: Option<u32>,
    /// The path below the workspace root.
    pub(crate) path: String,
}

impl WritePlan {
    /// Makes the record of some changes.
    pub(crate) fn of(tool: &str, version: u32, changes: &[FileChange]) -> Self {
        let planned = |change: &FileChange| PlannedFile {
            after: change.after_sha256().map(|digest| digest.hex()),
            before: change.before_sha256().map(|digest| digest.hex()),
            bytes: change.after.as_ref().map_or(0, Vec::len) as u64,
            mode: change.after.is_some().then(|| change.access.bits()),
            path: change.path.as_path().to_string_lossy().into_owned(),
        };
        Self { files: changes.iter().map(planned).collect(), tool: tool.to_owned(), version }
    }

    /// Reads a record.
    pub(crate) fn read(body: &str) -> Option<Self> {
        serde_json::from_str(body).ok()
    }

    /// Returns it as it is recorded.
    pub(crate) fn body(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

impl PlannedFile {
    /// Returns whether these digests are those that were there.
    pub(crate) fn was(&self, digest: Option<Sha256>) -> bool {
        self.before == digest.map(|digest| digest.hex())
    }

    /// Returns whether these digests are those that will be there.
    pub(crate) fn will_be(&self, digest: Option<Sha256>) -> bool {
        self.after == digest.map(|digest| digest.hex())
    }
}

/// Returns what the files were before, to be kept with the record.
pub(crate) fn pre_images(changes: Vec<FileChange>) -> Vec<RawPreImage> {
    let image = |change: FileChange| PreImage {
        path: Content::new(change.path.as_path().to_string_lossy().into_owned()),
        after_sha256: change.after_sha256().map(|digest| digest.0),
        before: match change.before {
            SlotContent::Absent => FileBefore::Absent,
            SlotContent::File(file) => {
                FileBefore::File { mode: file.access.bits(), bytes: Content::new(file.bytes) }
            }
        },
    };
    changes.into_iter().map(image).collect()
}

/// Returns what was done, for the model: paths, sizes and beginnings of digests, never a word of the contents.
pub(crate) fn describe(plan: &WritePlan) -> String {
    let short = |digest: &Option<String>| {
        digest.as_deref().map_or(String::new(), |hex| hex.chars().take(12).collect())
    };
    let line = |file: &PlannedFile| {
        let path = crate::workspace::show_path(std::path::Path::new(&file.path));
        let bytes = crate::quantity::quantity(file.bytes, "byte");
        let (before, after) = (short(&file.before), short(&file.after));
        match (&file.before, &file.after) {
            (None, Some(_)) => format!("created {path}: {bytes}, sha256 {after}"),
            (Some(_), None) => format!("removed {path}: sha256 {before} before"),
            (Some(old), Some(new)) if old == new => format!("left {path} as it was: {bytes}, sha256 {after}"),
            (Some(_), Some(_)) => format!("changed {path}: {bytes}, sha256 {before} -> {after}"),
            (None, None) => format!("left {path} absent"),
        }
    };
    plan.files.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_record_is_canonical_and_read_back() {
        let file = PlannedFile {
            after: Some("ab".to_owned()),
            before: None,
            bytes: 3,
            mode: Some(0o644),
            path: "a \"b\"".to_owned(),
        };
        let plan = WritePlan { files: vec![file], tool: "write_file".to_owned(), version: 1 };
        assert_eq!(
            plan.body(),
            r#"{"files":[{"after":"ab","before":null,"bytes":3,"mode":420,"path":"a \"b\""}],"tool":"write_file","version":1}"#
        );
        assert_eq!(WritePlan::read(&plan.body()), Some(plan));
        assert_eq!(WritePlan::read(""), None);
        let later = r#"{"files":[],"later":1,"tool":"x","version":9}"#;
        assert!(WritePlan::read(later).is_some());
    }
}
