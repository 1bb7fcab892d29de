//! What is known of programs that run, and the record of what was taken from their workspaces.
//!
//! Owns a folder of the state directory: a folder for each program, with the baseline while it runs and what was taken
//! from it, under numbers. Invariant: what is moved is recorded first; a baseline whose program did not end is found
//! when the daemon starts next.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use palyra_ports::KeptOwner;
use serde::{Deserialize, Serialize};

use super::path_text;
use super::protected_paths::ProtectedPaths;
use super::review::{EntryChange, KnownEntry, ReviewBaseline};
use super::saved_nodes::{SAVED_TEXT_BYTES_MAX, SavedNodes};
use super::taken_list::{OwnerRecord, TakenItem, TakenLine, TakenList};

/// What was protected while a program ran.
const BASELINE: &str = "baseline.json";
/// Seconds after the last sign of life in which a program can have done something.
const GRACE_SECS: i64 = 60;

/// Folders made by this process.
static MADE: AtomicU64 = AtomicU64::new(0);

/// The folder of one program.
#[derive(Debug)]
pub(crate) struct ProgramFolder {
    pub(crate) path: PathBuf,
    owner: Option<OwnerRecord>,
    items: u64,
}

/// A program that was recorded, with the workspace that it changed.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ProgramRecord {
    #[serde(with = "path_text")]
    pub(crate) workspace: PathBuf,
    /// The daemon's own files below it.
    own: Vec<PathBuf>,
    /// Folders to which it might not write.
    #[serde(default)]
    read_only: Vec<String>,
    /// Whose call it is; records of older daemons do not say it.
    #[serde(default)]
    owner: Option<OwnerRecord>,
    known: Vec<KnownPath>,
}

#[derive(Debug, Serialize, Deserialize)]
struct KnownPath {
    #[serde(with = "path_text")]
    path: PathBuf,
    entry: KnownEntry,
    /// What it is made of, as far as there is room.
    #[serde(default)]
    saved: Option<SavedNodes>,
}

impl ProgramRecord {
    pub(crate) fn new(
        workspace: &Path,
        protected: &ProtectedPaths,
        owner: &KeptOwner,
        baseline: &ReviewBaseline,
    ) -> Self {
        let mut bytes_left = SAVED_TEXT_BYTES_MAX;
        let known = baseline.known.iter().map(|(path, entry)| {
            let saved = entry.saved.as_ref().and_then(|saved| SavedNodes::of(saved, &mut bytes_left));
            let entry = KnownEntry { saved: None, ..entry.clone() };
            KnownPath { path: path.clone(), entry, saved }
        });
        let known = known.collect();
        let (own, read_only) = (protected.own.clone(), protected.read_only.clone());
        Self { workspace: workspace.to_owned(), own, read_only, owner: Some(owner.into()), known }
    }

    /// Returns what was protected by its path.
    pub(crate) fn protected(&self) -> ProtectedPaths {
        ProtectedPaths::new(self.own.clone(), &self.read_only)
    }

    /// Returns the baseline.
    pub(crate) fn into_baseline(self) -> ReviewBaseline {
        let known = self.known.into_iter().map(|KnownPath { path, entry, saved }| {
            let saved = saved.and_then(SavedNodes::into_entry);
            (path, KnownEntry { saved, ..entry })
        });
        ReviewBaseline { known: known.collect() }
    }
}

/// A program whose end was not seen.
#[derive(Debug)]
pub(crate) struct LostProgram {
    pub(crate) folder: ProgramFolder,
    pub(crate) record: ProgramRecord,
    /// Whatever changed later than this was not its work, in seconds.
    pub(crate) active_until_secs: i64,
}

impl ProgramFolder {
    /// Makes a folder in `store` and records a program there, durably.
    pub(crate) fn make(store: &Path, record: &ProgramRecord) -> io::Result<Self> {
        let folder = Self::make_empty(store, record.owner.clone())?;
        let mut file = folder.file(BASELINE)?;
        serde_json::to_writer(&mut file, record)?;
        file.sync_all()?;
        Ok(folder)
    }

    /// Makes a folder of no program.
    pub(crate) fn make_empty(store: &Path, owner: Option<OwnerRecord>) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(store)?;
        if fs::symlink_metadata(store)?.uid() != rustix::process::geteuid().as_raw() {
            return Err(io::Error::new(
                io::ErrorKind::PermissionDenied,
                "the folder belongs to another user",
            ));
        }
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let path = store.join(format!("{}-{}-{number}", now_secs(), std::process::id()));
        DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Self { path, owner, items: 0 })
    }

    fn file(&self, name: &str) -> io::Result<File> {
        OpenOptions::new().append(true).create(true).mode(0o600).open(self.path.join(name))
    }

    /// Notes that the program runs.
    pub(crate) fn touch(&self) {
        let touched =
            File::open(self.path.join(BASELINE)).and_then(|file| file.set_modified(SystemTime::now()));
        // One that cannot be touched is taken for one that ended earlier.
        let _ = touched;
    }

    /// Records that something is about to be taken; returns where to put it, and under which name.
    pub(crate) fn next_item(
        &mut self,
        workspace: &Path,
        path: &Path,
        change: EntryChange,
    ) -> io::Result<(OwnedFd, u64)> {
        let item = self.items;
        self.items += 1;
        let taken = TakenItem {
            item,
            workspace: workspace.to_owned(),
            path: path.to_owned(),
            change,
            owner: self.owner.clone(),
            kept_secs: now_secs(),
        };
        TakenList::of(&self.path).append(&TakenLine::Taken(taken))?;
        Ok((File::open(&self.path)?.into(), item))
    }

    /// Records that what an item took the place of is in place again.
    pub(crate) fn note_restored(&self, item: u64) -> io::Result<()> {
        TakenList::of(&self.path).append(&TakenLine::Restored { restored: item })
    }

    /// Returns what was taken, whose former content was not put back before the daemon ended.
    pub(crate) fn unrestored(&self) -> Vec<(u64, PathBuf)> {
        let lines = TakenList::of(&self.path).read();
        let is_restored = |number: u64| {
            lines.iter().any(|line| matches!(line, TakenLine::Restored { restored } if *restored == number))
        };
        let open = lines.iter().filter_map(|line| match line {
            TakenLine::Taken(taken) if taken.change == EntryChange::Replaced && !is_restored(taken.item) => {
                Some((taken.item, taken.path.clone()))
            }
            TakenLine::Taken(_) | TakenLine::Restored { .. } => None,
        });
        open.collect()
    }

    /// Forgets the program; the folder stays when something was taken.
    pub(crate) fn close(&self) {
        let _ = fs::remove_file(self.path.join(BASELINE));
        let _ = fs::remove_dir(&self.path);
    }
}

/// Returns whether a program of this folder may still run.
pub(crate) fn is_open(folder: &Path) -> bool {
    fs::symlink_metadata(folder.join(BASELINE)).is_ok()
}

/// Returns the programs whose end an earlier daemon did not see.
pub(crate) fn lost(store: &Path) -> Vec<LostProgram> {
    let Ok(folders) = fs::read_dir(store) else { return Vec::new() };
    let found = folders.flatten().filter_map(|folder| {
        let path = folder.path();
        let bytes = fs::read(path.join(BASELINE)).ok()?;
        let seen = fs::metadata(path.join(BASELINE)).ok()?.mtime();
        let record: ProgramRecord = serde_json::from_slice(&bytes).ok()?;
        let items = TakenList::of(&path).next_number();
        let folder = ProgramFolder { path, owner: record.owner.clone(), items };
        Some(LostProgram { folder, record, active_until_secs: seen.saturating_add(GRACE_SECS) })
    });
    found.collect()
}

pub(crate) fn now_secs() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |span| span.as_secs())
}
