//! The list of what was taken from a workspace, in the folder of one program.
//!
//! Owns its form, one object a line. A line that this version does not know is passed over. Invariant: two threads of
//! this process do not change lists at once, so that no line is lost.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use super::path_text;
use super::review::EntryChange;

const LIST: &str = "list.jsonl";
/// Bytes of a list that are read.
const LIST_BYTES_MAX: u64 = 16 << 20;

static CHANGES: Mutex<()> = Mutex::new(());

/// The list in one folder.
#[derive(Debug)]
pub(crate) struct TakenList {
    path: PathBuf,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum TakenLine {
    /// Something was about to be taken.
    Taken(TakenItem),
    /// What an item took the place of is in place again.
    Restored { restored: u64 },
}

/// One thing that was taken from a workspace.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct TakenItem {
    pub(crate) item: u64,
    #[serde(with = "path_text")]
    pub(crate) workspace: PathBuf,
    #[serde(with = "path_text")]
    pub(crate) path: PathBuf,
    pub(crate) change: EntryChange,
}

impl TakenList {
    /// Returns the list of a folder, which need not exist.
    pub(crate) fn of(folder: &Path) -> Self {
        Self { path: folder.join(LIST) }
    }

    /// Adds a line, durably.
    pub(crate) fn append(&self, line: &TakenLine) -> io::Result<()> {
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        let _alone = CHANGES.lock().unwrap_or_else(PoisonError::into_inner);
        let mut list = OpenOptions::new().append(true).create(true).mode(0o600).open(&self.path)?;
        list.write_all(&text)?;
        list.sync_all()
    }

    /// Returns its lines, those that are understood.
    pub(crate) fn read(&self) -> Vec<TakenLine> {
        let mut text = Vec::new();
        let read = File::open(&self.path)
            .and_then(|file| file.take(LIST_BYTES_MAX).read_to_end(&mut text).map(drop));
        // One that is missing has no lines.
        let _ = read;
        let lines = text.split(|byte| *byte == b'\n');
        lines.filter_map(|line| serde_json::from_slice(line).ok()).collect()
    }

    /// Returns what was taken.
    pub(crate) fn items(&self) -> Vec<TakenItem> {
        let taken = self.read().into_iter().filter_map(|line| match line {
            TakenLine::Taken(item) => Some(item),
            TakenLine::Restored { .. } => None,
        });
        taken.collect()
    }

    /// Returns a number that no item has.
    pub(crate) fn next_number(&self) -> u64 {
        self.items().iter().map(|taken| taken.item + 1).max().unwrap_or(0)
    }
}
