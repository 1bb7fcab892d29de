//! The list of what was taken from a workspace, in the folder of one program.
//!
//! Owns its form, one object a line. A line that this version does not know is passed over. Invariant: two threads of
//! this process do not change lists at once, so that no line is lost.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use palyra_ports::KeptOwner;
use palyra_types::EffectId;
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
    /// Whose call left it; lists of older daemons do not say it.
    #[serde(default)]
    pub(crate) owner: Option<OwnerRecord>,
    #[serde(default)]
    pub(crate) kept_secs: u64,
}

/// Whose call left something, as text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OwnerRecord {
    principal: String,
    session: String,
    run: String,
    effect: u32,
}

impl From<&KeptOwner> for OwnerRecord {
    fn from(owner: &KeptOwner) -> Self {
        Self {
            principal: owner.principal.to_string(),
            session: owner.session.to_string(),
            run: owner.run.to_string(),
            effect: owner.effect.0,
        }
    }
}

impl OwnerRecord {
    /// Returns the ids.
    pub(crate) fn read(&self) -> Option<KeptOwner> {
        Some(KeptOwner {
            principal: self.principal.parse().ok()?,
            session: self.session.parse().ok()?,
            run: self.run.parse().ok()?,
            effect: EffectId(self.effect),
        })
    }
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

    /// Takes lines about items out; the list goes with the last one. Returns whether it is gone.
    pub(crate) fn forget(&self, items: &[u64]) -> io::Result<bool> {
        let _alone = CHANGES.lock().unwrap_or_else(PoisonError::into_inner);
        let mut text = Vec::new();
        for line in self.read() {
            let number = match &line {
                TakenLine::Taken(taken) => taken.item,
                TakenLine::Restored { restored } => *restored,
            };
            if !items.contains(&number) {
                serde_json::to_writer(&mut text, &line)?;
                text.push(b'\n');
            }
        }
        if text.is_empty() {
            return match fs::remove_file(&self.path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                Ok(()) | Err(_) => Ok(true),
            };
        }
        let draft = self.path.with_extension("draft");
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&draft)?;
        file.write_all(&text)?;
        file.sync_all()?;
        fs::rename(&draft, &self.path)?;
        Ok(false)
    }
}
