//! The mark that erased content may still lie in old bytes: set before the commit, gone when they are overwritten.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use crate::quarantine::sync_folder;

const FILE_NAME: &str = "journal.erasing";

/// A file beside the database; while it is there, overwriting is owed.
#[derive(Debug, Clone)]
pub(super) struct PendingOverwrites {
    path: PathBuf,
}

impl PendingOverwrites {
    pub(super) fn beside(database: &Path) -> Self {
        Self { path: database.with_file_name(FILE_NAME) }
    }

    /// Sets the mark durably.
    pub(super) fn set(&self) -> io::Result<()> {
        File::create(&self.path)?.sync_all()?;
        sync_folder(&self.path)
    }

    /// Returns whether overwriting is owed.
    pub(super) fn is_set(&self) -> bool {
        self.path.exists()
    }

    /// Takes the mark away: nothing is owed any more.
    pub(super) fn clear(&self) -> io::Result<()> {
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => sync_folder(&self.path),
        }
    }
}
