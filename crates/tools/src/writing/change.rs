//! What a call would do to each file, worked out from what is there.

use std::collections::BTreeMap;

use palyra_types::effect::PRE_IMAGE_BYTES_MAX;

use super::git_folders;
use super::task::{FilePresence, Rule, Task};
use crate::failure::ToolFailure;
use crate::workspace::{
    FILE_BYTES_MAX, FileAccess, FoundFile, Sha256, SlotContent, Workspace, WorkspacePath,
};

/// What a call would do to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileChange {
    /// The file.
    pub(crate) path: WorkspacePath,
    /// What is there.
    pub(crate) before: SlotContent,
    /// What will be there; `None` when nothing will be.
    pub(crate) after: Option<Vec<u8>>,
    /// Who may do what with it then.
    pub(crate) access: FileAccess,
    /// The name it had, where it gets another.
    pub(crate) renamed_from: Option<WorkspacePath>,
}

impl FileChange {
    /// Returns whether the file would be as it is.
    pub(crate) fn is_none(&self) -> bool {
        let same = |file: &FoundFile| self.after.as_ref() == Some(&file.bytes) && self.access == file.access;
        self.renamed_from.is_none() && matches!(&self.before, SlotContent::File(file) if same(file))
    }

    /// Returns the digest of what is there.
    pub(crate) fn before_sha256(&self) -> Option<Sha256> {
        self.before.sha256()
    }

    /// Returns the digest of what will be there.
    pub(crate) fn after_sha256(&self) -> Option<Sha256> {
        self.after.as_deref().map(Sha256::of)
    }

    /// Returns the bytes that are there.
    pub(crate) fn before_bytes(&self) -> &[u8] {
        match &self.before {
            SlotContent::Absent => b"",
            SlotContent::File(file) => &file.bytes,
        }
    }
}

/// Works out what the tasks would do; nothing is changed.
pub(crate) fn work_out(workspace: &Workspace, tasks: &[Task]) -> Result<Vec<FileChange>, ToolFailure> {
    let mut seen: BTreeMap<&std::path::Path, SlotContent> = BTreeMap::new();
    let (mut before_bytes, mut after_bytes) = (0, 0);
    let mut changes = Vec::with_capacity(tasks.len());
    for task in tasks {
        for path in [&task.path, &task.source] {
            if !seen.contains_key(path.as_path()) {
                let found = look(workspace, path)?;
                before_bytes += found_bytes(&found);
                if before_bytes > PRE_IMAGE_BYTES_MAX {
                    return Err(ToolFailure::Unsuitable(format!(
                        "the files of this call have more than {PRE_IMAGE_BYTES_MAX} bytes together, more than can be \
                         kept to take it back; change them in several calls"
                    )));
                }
                seen.insert(path.as_path(), found);
            }
        }
        let change = work_out_one(workspace, task, &seen)?;
        after_bytes += change.after.as_ref().map_or(0, Vec::len) as u64;
        if after_bytes > FILE_BYTES_MAX {
            return Err(ToolFailure::Unsuitable(format!(
                "this call would write more than {FILE_BYTES_MAX} bytes; write them in several calls"
            )));
        }
        changes.push(change);
    }
    let written = changes.iter().filter(|change| change.after.is_some()).map(|change| &change.path);
    git_folders::refuse(workspace, &written.collect::<Vec<_>>())?;
    Ok(changes)
}

fn work_out_one(
    workspace: &Workspace,
    task: &Task,
    seen: &BTreeMap<&std::path::Path, SlotContent>,
) -> Result<FileChange, ToolFailure> {
    let at = |path: &WorkspacePath| seen.get(path.as_path()).cloned().unwrap_or(SlotContent::Absent);
    let (before, source) = (at(&task.path), at(&task.source));
    let is_renamed = task.source != task.path;
    match (&before, task.presence) {
        (SlotContent::File(_), FilePresence::Absent) => {
            let shown = task.path.show();
            return Err(ToolFailure::Conflict(format!(
                "`{shown}` exists already, and was to be made; read it, then change it or choose another name"
            )));
        }
        (SlotContent::Absent, FilePresence::Present) => return Err(workspace.not_found(&task.path)),
        (SlotContent::Absent, FilePresence::Absent | FilePresence::Any)
        | (SlotContent::File(_), FilePresence::Present | FilePresence::Any) => {}
    }
    let access = match (&source, &task.rule) {
        (SlotContent::Absent, _) if is_renamed => return Err(workspace.not_found(&task.source)),
        (SlotContent::Absent, Rule::Content(_) | Rule::Replace(_) | Rule::Hunks(_) | Rule::Remove(_)) => {
            FileAccess::New(task.new_bits)
        }
        (SlotContent::File(file), _) => file.access,
    };
    let bytes = match &source {
        SlotContent::Absent => &[][..],
        SlotContent::File(FoundFile { bytes, .. }) => bytes,
    };
    let after = task.outcome(bytes)?;
    let renamed_from = is_renamed.then(|| task.source.clone());
    Ok(FileChange { path: task.path.clone(), before, after, access, renamed_from })
}

fn look(workspace: &Workspace, path: &WorkspacePath) -> Result<SlotContent, ToolFailure> {
    match workspace.slot(path)? {
        Some(slot) => slot.look(&path.show()),
        None => Ok(SlotContent::Absent),
    }
}

fn found_bytes(found: &SlotContent) -> usize {
    match found {
        SlotContent::Absent => 0,
        SlotContent::File(file) => file.bytes.len(),
    }
}
