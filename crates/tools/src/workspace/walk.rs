//! Walks a folder and what lies below it, each folder opened beneath its parent's descriptor.
//!
//! Owns order, depth and the count of entries. Links are met but never followed.
//!
//! Invariant: a folder that is moved or replaced during the walk changes what is found, never where
//! the walk may look: it reaches children only from descriptors it already holds.

use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::vec;

use palyra_ports::CancelFlag;
use rustix::fs::{AtFlags, readlinkat, statat};

use super::entries::{FOLDER_ENTRIES_MAX, NamedEntry, read_entries};
use super::ignore_rules::IgnoreRules;
use super::kind::EntryKind;
use super::open::{OpenFile, open_file, open_folder};
use super::path::WorkspacePath;
use super::refusal::OpenRefusal;
use super::root::Workspace;
use crate::failure::ToolFailure;
use crate::quantity::quantity;

/// How many entries one walk looks at.
const ENTRIES_WALKED_MAX: u64 = 200_000;
/// How many folders below its start a walk holds open.
const WALK_DEPTH_MAX: usize = 64;

/// What a visitor wants next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WalkStep {
    /// Go on, and into this entry if it is a folder.
    Enter,
    /// Go on, but not into this entry.
    Pass,
    /// End the walk.
    Stop,
}

/// One entry that a walk meets.
#[derive(Debug)]
pub(crate) struct WalkEntry<'w> {
    /// Its path from the workspace root.
    pub(crate) path: &'w Path,
    /// How many folders below the start it lies; its direct children are at one.
    pub(crate) depth: usize,
    /// What it is, as far as the folder's listing tells.
    pub(crate) kind: EntryKind,
    /// Whether an ignore file leaves it out.
    pub(crate) is_ignored: bool,
    name: &'w OsStr,
    parent: &'w OwnedFd,
}

impl WalkEntry<'_> {
    /// Returns whether its name begins with a dot.
    pub(crate) fn is_hidden(&self) -> bool {
        self.name.as_bytes().starts_with(b".")
    }

    /// Opens it, if it is still a regular file; `None` otherwise.
    pub(crate) fn file(&self) -> Option<OpenFile> {
        open_file(self.parent, Path::new(self.name)).ok()
    }

    /// Returns its length in bytes, if it is still there.
    pub(crate) fn bytes(&self) -> Option<u64> {
        let status = statat(self.parent, self.name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        u64::try_from(status.st_size).ok()
    }

    /// Returns what a link says, without going there.
    pub(crate) fn link_target(&self) -> Option<PathBuf> {
        let target = readlinkat(self.parent, self.name, Vec::new()).ok()?;
        Some(PathBuf::from(OsStr::from_bytes(target.as_bytes())))
    }
}

/// What a walk could not or did not look at.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WalkReport {
    /// Entries met.
    pub(crate) entries: u64,
    /// Whether the limit of entries ended it.
    pub(crate) is_cut: bool,
    /// Folders that could not be read, or vanished.
    pub(crate) unreadable: u64,
    /// Folders too deep to enter.
    pub(crate) too_deep: u64,
    /// Folders with more names than are read of one.
    pub(crate) crowded: u64,
}

impl WalkReport {
    /// Returns a sentence for each thing that a reader of the result must know.
    pub(crate) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.is_cut {
            notes
                .push(format!("stopped after {ENTRIES_WALKED_MAX} entries; name a smaller folder as `path`"));
        }
        if self.crowded > 0 {
            let crowded = quantity(self.crowded, "crowded folder");
            notes.push(format!("of {crowded} only {FOLDER_ENTRIES_MAX} names were looked at"));
        }
        if self.too_deep > 0 {
            let deep = quantity(self.too_deep, "folder");
            notes.push(format!("{deep} deeper than {WALK_DEPTH_MAX} levels not entered"));
        }
        if self.unreadable > 0 {
            notes.push(format!("{} could not be read", quantity(self.unreadable, "folder")));
        }
        notes
    }
}

/// Visits what lies below `start` in order of name, a folder before what it holds.
///
/// # Errors
/// The start cannot be read, or `cancel` was raised.
pub(crate) fn walk(
    workspace: &Workspace,
    start: &WorkspacePath,
    cancel: &CancelFlag,
    mut visit: impl FnMut(&WalkEntry<'_>) -> WalkStep,
) -> Result<WalkReport, ToolFailure> {
    let mut walk = FolderWalk::begin(workspace, start)?;
    while let Some(named) = walk.advance() {
        if cancel.is_cancelled() {
            return Err(ToolFailure::Cancelled);
        }
        if walk.report.entries == ENTRIES_WALKED_MAX {
            walk.report.is_cut = true;
            break;
        }
        walk.report.entries += 1;
        match walk.entry(&named).map_or(WalkStep::Stop, |entry| visit(&entry)) {
            WalkStep::Stop => break,
            WalkStep::Enter if named.kind == EntryKind::Folder => walk.enter(&named.name),
            WalkStep::Enter | WalkStep::Pass => walk.leave_name(),
        }
    }
    Ok(walk.report)
}

/// A walk under way: the folders from its start down to the one being read.
struct FolderWalk {
    levels: Vec<FolderLevel>,
    /// The folder being read, and during a visit the entry in it.
    path: PathBuf,
    rules: IgnoreRules,
    report: WalkReport,
}

/// A folder that is being read.
struct FolderLevel {
    folder: OwnedFd,
    left: vec::IntoIter<NamedEntry>,
}

impl FolderWalk {
    fn begin(workspace: &Workspace, start: &WorkspacePath) -> Result<Self, ToolFailure> {
        let mut rules = IgnoreRules::default();
        let mut above: Vec<WorkspacePath> =
            std::iter::successors(start.parent(), WorkspacePath::parent).collect();
        above.reverse();
        for ancestor in above {
            if let Ok(folder) = workspace.folder(&ancestor) {
                rules.enter(&folder, ancestor.as_path());
            }
        }
        let folder = workspace.folder(start)?;
        let mut walk = Self {
            levels: Vec::new(),
            path: start.as_path().to_owned(),
            rules,
            report: WalkReport::default(),
        };
        walk.read(folder).map_err(|refusal| refusal.explain(&start.show()))?;
        Ok(walk)
    }

    /// Returns the next entry, with its name added to the path; leaves the folders that are done.
    fn advance(&mut self) -> Option<NamedEntry> {
        loop {
            let level = self.levels.last_mut()?;
            if let Some(named) = level.left.next() {
                self.path.push(&named.name);
                return Some(named);
            }
            self.levels.pop();
            self.rules.leave(self.path.components().count());
            self.leave_name();
        }
    }

    fn leave_name(&mut self) {
        self.path.pop();
    }

    fn entry<'w>(&'w self, named: &'w NamedEntry) -> Option<WalkEntry<'w>> {
        Some(WalkEntry {
            path: &self.path,
            depth: self.levels.len(),
            kind: named.kind,
            is_ignored: self.rules.ignores(&self.path, named.kind),
            name: &named.name,
            parent: &self.levels.last()?.folder,
        })
    }

    /// Goes into the folder that the path already names, or passes it and counts why.
    fn enter(&mut self, name: &OsStr) {
        if self.levels.len() > WALK_DEPTH_MAX {
            self.report.too_deep += 1;
            return self.leave_name();
        }
        let opened = self.levels.last().map(|level| open_folder(&level.folder, Path::new(name)));
        let entered = match opened {
            Some(Ok(folder)) => self.read(folder).is_ok(),
            Some(Err(_)) | None => false,
        };
        if !entered {
            self.report.unreadable += 1;
            self.leave_name();
        }
    }

    fn read(&mut self, folder: OwnedFd) -> Result<(), OpenRefusal> {
        let entries = read_entries(&folder, FOLDER_ENTRIES_MAX)?;
        self.report.crowded += u64::from(entries.is_cut);
        self.rules.enter(&folder, &self.path);
        self.levels.push(FolderLevel { folder, left: entries.named.into_iter() });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_was_not_looked_at_is_said() {
        let report = WalkReport { entries: 9, is_cut: true, unreadable: 1, too_deep: 2, crowded: 3 };
        assert_eq!(
            report.notes(),
            [
                "stopped after 200000 entries; name a smaller folder as `path`",
                "of 3 crowded folders only 50000 names were looked at",
                "2 folders deeper than 64 levels not entered",
                "1 folder could not be read",
            ]
        );
        assert!(WalkReport::default().notes().is_empty());
    }
}
