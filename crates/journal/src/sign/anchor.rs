//! The daemon's own newest signed head, kept where a copy of the state directory does not reach.
//!
//! Owns one file per log in a folder that is handed in. Invariant: a file is replaced whole or not at all.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use palyra_ledger::CheckpointNote;
use palyra_types::LogId;
use palyra_types::proof::{CHECKPOINT_NOTE_BYTES_MAX, TreeHead};

use crate::quarantine::sync_folder;

/// Where the newest head of one log is kept.
#[derive(Debug, Clone)]
pub(crate) struct Anchor {
    path: PathBuf,
    log_id: LogId,
}

impl Anchor {
    pub(crate) fn of(folder: &Path, log_id: LogId) -> Self {
        Self { path: folder.join(log_id.to_string()), log_id }
    }

    /// Returns the head that is kept; a file that holds none of this log is told and passed over.
    pub(crate) fn read(&self) -> io::Result<Option<TreeHead>> {
        let bytes = match fs::read(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            bytes => bytes?,
        };
        let note =
            if bytes.len() <= CHECKPOINT_NOTE_BYTES_MAX { CheckpointNote::parse(&bytes).ok() } else { None };
        let head = note.map(|note| *note.checkpoint()).filter(|head| head.log_id == self.log_id);
        if head.is_none() {
            tracing::warn!(path = %self.path.display(), "the anchor holds no head of this log and is replaced");
        }
        Ok(head.map(|head| TreeHead { size: head.size, root: head.root.0 }))
    }

    /// Keeps a note durably.
    pub(crate) fn write(&self, note: &str) -> io::Result<()> {
        if let Some(folder) = self.path.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        }
        let unfinished = self.path.with_extension("unfinished");
        let mut options = OpenOptions::new();
        let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(&unfinished)?;
        file.write_all(note.as_bytes())?;
        file.sync_all()?;
        fs::rename(&unfinished, &self.path)?;
        sync_folder(&self.path)
    }
}
