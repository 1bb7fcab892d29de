//! Where things go that a program may not leave in the workspace, and what is known of programs that run.
//!
//! Owns a folder of the state directory: a folder for each program, with the baseline while it runs and what was taken
//! from it, under numbers. Invariant: what is moved is recorded first; a baseline whose program did not end is found
//! when the daemon starts next.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::path_text;
use super::protected_paths::ProtectedPaths;
use super::review::{EntryChange, KnownEntry, ReviewBaseline};

/// What was protected while a program ran.
const BASELINE: &str = "baseline.json";
/// What was taken from a workspace, one object a line.
const LIST: &str = "list.jsonl";
/// Seconds after the last sign of life in which a program can have done something.
const GRACE_SECS: i64 = 60;

/// Folders made by this process.
static MADE: AtomicU64 = AtomicU64::new(0);

/// The folder of one program.
#[derive(Debug)]
pub(crate) struct ProgramFolder {
    pub(crate) path: PathBuf,
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
    known: Vec<KnownPath>,
}

#[derive(Debug, Serialize, Deserialize)]
struct KnownPath {
    #[serde(with = "path_text")]
    path: PathBuf,
    entry: KnownEntry,
}

impl ProgramRecord {
    /// Keeps a baseline as it is stored: without what was read of the files.
    pub(crate) fn new(workspace: &Path, protected: &ProtectedPaths, baseline: &ReviewBaseline) -> Self {
        let known = baseline.known.iter().map(|(path, entry)| {
            let entry = KnownEntry { saved: None, ..entry.clone() };
            KnownPath { path: path.clone(), entry }
        });
        let (own, read_only) = (protected.own.clone(), protected.read_only.clone());
        Self { workspace: workspace.to_owned(), own, read_only, known: known.collect() }
    }

    /// Returns what was protected by its path.
    pub(crate) fn protected(&self) -> ProtectedPaths {
        ProtectedPaths::new(self.own.clone(), &self.read_only)
    }

    /// Returns the baseline.
    pub(crate) fn into_baseline(self) -> ReviewBaseline {
        ReviewBaseline { known: self.known.into_iter().map(|known| (known.path, known.entry)).collect() }
    }
}

/// One thing that was taken from a workspace.
#[derive(Debug, Serialize, Deserialize)]
struct TakenItem {
    item: u64,
    #[serde(with = "path_text")]
    workspace: PathBuf,
    #[serde(with = "path_text")]
    path: PathBuf,
    change: EntryChange,
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
        DirBuilder::new().recursive(true).mode(0o700).create(store)?;
        if fs::symlink_metadata(store)?.uid() != rustix::process::geteuid().as_raw() {
            return Err(io::Error::new(
                io::ErrorKind::PermissionDenied,
                "the folder belongs to another user",
            ));
        }
        let secs = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |span| span.as_secs());
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let path = store.join(format!("{secs}-{}-{number}", std::process::id()));
        DirBuilder::new().mode(0o700).create(&path)?;
        let folder = Self { path, items: 0 };
        let mut file = folder.file(BASELINE)?;
        serde_json::to_writer(&mut file, record)?;
        file.sync_all()?;
        Ok(folder)
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
    ) -> io::Result<(OwnedFd, String)> {
        let item = self.items;
        self.items += 1;
        let taken = TakenItem { item, workspace: workspace.to_owned(), path: path.to_owned(), change };
        let mut line = serde_json::to_vec(&taken)?;
        line.push(b'\n');
        let mut list = self.file(LIST)?;
        list.write_all(&line)?;
        list.sync_all()?;
        Ok((File::open(&self.path)?.into(), item.to_string()))
    }

    /// Forgets the program; the folder stays when something was taken.
    pub(crate) fn close(&self) {
        let _ = fs::remove_file(self.path.join(BASELINE));
        let _ = fs::remove_dir(&self.path);
    }
}

/// Returns the programs whose end an earlier daemon did not see.
pub(crate) fn lost(store: &Path) -> Vec<LostProgram> {
    let Ok(folders) = fs::read_dir(store) else { return Vec::new() };
    let found = folders.flatten().filter_map(|folder| {
        let path = folder.path();
        let bytes = fs::read(path.join(BASELINE)).ok()?;
        let seen = fs::metadata(path.join(BASELINE)).ok()?.mtime();
        let record = serde_json::from_slice(&bytes).ok()?;
        let items = fs::read_dir(&path).ok()?.count() as u64;
        let folder = ProgramFolder { path, items };
        Some(LostProgram { folder, record, active_until_secs: seen.saturating_add(GRACE_SECS) })
    });
    found.collect()
}
