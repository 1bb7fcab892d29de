//! A journal in a temporary folder.

use std::path::PathBuf;
use std::sync::Arc;

use palyra_journal::{JournalStore, OpenOptions};
use palyra_testkit::{FakeClock, FixedEntropy};
use tempfile::TempDir;

/// A folder that journals are opened in, one after the other.
pub(crate) struct Folder {
    folder: TempDir,
}

impl Folder {
    pub(crate) fn new() -> Self {
        Self { folder: TempDir::new().unwrap() }
    }

    pub(crate) fn options(&self) -> OpenOptions {
        OpenOptions::new(self.state_dir(), Arc::new(FakeClock::new()), Arc::new(FixedEntropy::new(7)))
    }

    pub(crate) fn state_dir(&self) -> PathBuf {
        self.folder.path().join("state")
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.state_dir().join("journal.db")
    }

    pub(crate) fn open(&self) -> JournalStore {
        JournalStore::open(&self.options()).unwrap()
    }
}
