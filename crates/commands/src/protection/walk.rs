//! A walk over a workspace, and what it has found so far.
//!
//! Owns the limits of a scan and how what was found is noted: by its mark and by what it can have run. Knows no name.
//! Invariant: what was not looked at is said, never passed over.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use palyra_types::places::folded;
use rustix::fs::FileType;
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::git_config::{SettingsKind, risks};
use super::tree::{ReadBudget, SavedEntry, TreeEntry, WorkspaceTree, list};

/// Names that are looked at, at most.
pub(crate) const ENTRIES_MAX: usize = 2_000_000;
/// Bytes of a settings file, at most; a longer one counts as a risk.
pub(super) const SETTINGS_BYTES_MAX: usize = 1 << 20;
/// What is read of protected files, all together.
const READ_MAX: ReadBudget = ReadBudget { bytes: 16 << 20, entries: 20_000 };

/// Something that is protected.
#[derive(Debug, Clone)]
pub(crate) struct FoundEntry {
    pub(crate) mark: FileMark,
    pub(crate) risk: RunRisk,
    /// Its content, where it could be read within the limits.
    pub(crate) saved: Option<SavedEntry>,
}

/// What a finding can have run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum RunRisk {
    /// Something runs it, whatever is in it.
    Content,
    /// Nothing but these settings; nothing at all when there are none.
    Settings(BTreeSet<String>),
    /// Nothing; a rule forbids writing there.
    ReadOnly,
}

/// What a finding is recognised by later.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileMark {
    pub(crate) device: (u32, u32),
    pub(crate) inode: u64,
    /// When it was made, in seconds and nanoseconds: the number of a file that is gone is used again.
    pub(crate) born: (i64, u32),
    /// Names of a file, or the most names of a file in a folder; with more than one it can be changed by another.
    pub(crate) links: u32,
    /// When it was changed last, in seconds; nobody can set that back.
    pub(crate) changed_secs: i64,
    /// SHA-256 of what it is made of, where that could be read.
    pub(crate) digest: Option<String>,
}

impl FileMark {
    /// Returns whether it is the same file or folder, whatever is in it now.
    pub(crate) fn is_same_file(&self, other: &Self) -> bool {
        (self.device, self.inode, self.born) == (other.device, other.inode, other.born)
    }

    /// Returns whether its content is the same, as far as that is known.
    pub(crate) fn is_same_content(&self, other: &Self) -> bool {
        match (&self.digest, &other.digest) {
            (Some(ours), Some(theirs)) => ours == theirs,
            (None, _) | (_, None) => self.is_same_file(other) && self.changed_secs == other.changed_secs,
        }
    }
}

/// What was found in a workspace.
#[derive(Debug, Default)]
pub(crate) struct ScanResult {
    /// By their paths below the root.
    pub(crate) findings: BTreeMap<PathBuf, FoundEntry>,
    /// What is to be mounted read-only, shallow before deep.
    pub(crate) mounted: Vec<PathBuf>,
    /// What a rule has mounted read-only, shallow before deep.
    pub(crate) read_only: Vec<PathBuf>,
    /// Links that lie where a rule looks for such a folder, or on the way there.
    pub(crate) links_to_read_only: Vec<PathBuf>,
    /// Why not all was looked at.
    pub(crate) incomplete: Option<String>,
}

/// A scan that is being made.
pub(super) struct TreeWalk<'w> {
    pub(super) tree: &'w WorkspaceTree,
    scan: ScanResult,
    budget: ReadBudget,
    entries_left: usize,
}

impl<'w> TreeWalk<'w> {
    /// Begins one.
    pub(super) fn begin(tree: &'w WorkspaceTree) -> io::Result<Self> {
        // An error here is of the root itself.
        tree.folder(Path::new(""))?;
        Ok(Self { tree, scan: ScanResult::default(), budget: READ_MAX, entries_left: ENTRIES_MAX })
    }

    /// Returns what was found.
    pub(super) fn end(self) -> ScanResult {
        self.scan
    }

    /// Lists a folder, as far as the limits go.
    pub(super) fn list(&mut self, path: &Path) -> Option<Vec<TreeEntry>> {
        let listed = self.tree.folder(path).and_then(|folder| list(&folder, self.entries_left));
        match listed {
            Ok((entries, whole)) => {
                self.entries_left -= entries.len();
                if !whole {
                    self.is_incomplete(format!("it has more than {ENTRIES_MAX} files"));
                }
                Some(entries)
            }
            Err(error) => {
                let gone = [Errno::NOENT, Errno::NOTDIR, Errno::LOOP].map(|errno| Some(errno.raw_os_error()));
                if !gone.contains(&error.raw_os_error()) {
                    self.is_incomplete(format!("`{}` cannot be listed: {error}", path.display()));
                }
                None
            }
        }
    }

    /// Reads a settings file and says what it can have run.
    pub(super) fn settings(&self, path: &Path, kind: FileType, of: SettingsKind<'_>) -> RunRisk {
        if kind != FileType::RegularFile {
            return RunRisk::Content;
        }
        self.tree
            .read(path, SETTINGS_BYTES_MAX)
            .map_or(RunRisk::Content, |bytes| RunRisk::Settings(risks(&bytes, of)))
    }

    /// Notes something that is mounted read-only while it is there.
    pub(super) fn found_mounted(&mut self, path: PathBuf, risk: RunRisk) {
        self.mount(path.clone());
        self.found(path, risk);
    }

    /// Notes what is to be mounted read-only with all that is in it.
    pub(super) fn mount(&mut self, path: PathBuf) {
        if !self.scan.mounted.contains(&path) {
            self.scan.mounted.push(path);
        }
    }

    /// Notes a folder that a rule closes. What is in it is not read: it cannot be changed while it is mounted.
    pub(super) fn found_read_only(&mut self, path: PathBuf) {
        self.scan.read_only.push(path.clone());
        if !self.scan.findings.contains_key(&path) {
            self.found_as(path, RunRisk::ReadOnly, None);
        }
    }

    /// Notes a link in the place of such a folder, or on the way to one.
    pub(super) fn found_link(&mut self, path: PathBuf) {
        self.scan.links_to_read_only.push(path.clone());
        self.found_as(path, RunRisk::ReadOnly, None);
    }

    /// Notes something that is protected.
    pub(super) fn found(&mut self, path: PathBuf, risk: RunRisk) {
        let saved = self.tree.save(&path, &mut self.budget);
        self.found_as(path, risk, saved);
    }

    fn found_as(&mut self, path: PathBuf, risk: RunRisk, saved: Option<SavedEntry>) {
        let Ok(stat) = self.tree.stat(&path) else { return };
        let is_read = saved.is_some() && FileType::from_raw_mode(stat.stx_mode.into()).is_dir();
        let links = if is_read { self.tree.most_links(&path) } else { stat.stx_nlink };
        let mark = FileMark {
            device: (stat.stx_dev_major, stat.stx_dev_minor),
            inode: stat.stx_ino,
            born: (stat.stx_btime.tv_sec, stat.stx_btime.tv_nsec),
            links,
            changed_secs: stat.stx_ctime.tv_sec,
            digest: saved.as_ref().map(digest_of),
        };
        self.scan.findings.insert(path, FoundEntry { mark, risk, saved });
    }

    pub(super) fn is_incomplete(&mut self, why: String) {
        self.scan.incomplete.get_or_insert(why);
    }
}

pub(crate) fn folded_name(name: &OsStr) -> String {
    folded(&name.to_string_lossy())
}

fn digest_of(saved: &SavedEntry) -> String {
    let mut hash = Sha256::new();
    add_to(&mut hash, saved);
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn add_to(hash: &mut Sha256, saved: &SavedEntry) {
    let mut add = |kind: u8, bytes: &[u8]| {
        hash.update([kind]);
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    match saved {
        SavedEntry::File { bytes, .. } => add(0, bytes),
        SavedEntry::Link { target } => add(1, target.as_encoded_bytes()),
        SavedEntry::Folder { entries, .. } => {
            add(2, &(entries.len() as u64).to_le_bytes());
            for (name, saved) in entries {
                hash.update((name.len() as u64).to_le_bytes());
                hash.update(name.as_encoded_bytes());
                add_to(hash, saved);
            }
        }
    }
}
