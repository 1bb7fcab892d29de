//! A journal in a temporary folder.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use palyra_journal::{JournalStore, OpenOptions};
use palyra_testkit::{FakeClock, FixedEntropy};
use rusqlite::Connection;
use rusqlite::config::DbConfig;
use tempfile::TempDir;

/// A folder that journals are opened in, one after the other.
pub(crate) struct Folder {
    folder: TempDir,
    seed: AtomicU64,
}

impl Folder {
    pub(crate) fn new() -> Self {
        Self { folder: TempDir::new().unwrap(), seed: AtomicU64::new(7) }
    }

    pub(crate) fn options(&self) -> OpenOptions {
        // Each start draws other keys than the one before.
        let entropy = FixedEntropy::new(self.seed.fetch_add(1, Ordering::Relaxed));
        OpenOptions::new(self.state_dir(), Arc::new(FakeClock::new()), Arc::new(entropy))
    }

    pub(crate) fn state_dir(&self) -> PathBuf {
        self.folder.path().join("state")
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.state_dir().join("journal.db")
    }

    /// Opens the file beside the journal, as somebody who meddles with it does.
    pub(crate) fn connect(&self) -> Connection {
        let connection = Connection::open(self.database()).unwrap();
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).unwrap();
        connection.pragma_update_and_check(None, "wal_autocheckpoint", 0, |_| Ok(())).unwrap();
        connection
    }

    pub(crate) fn open(&self) -> JournalStore {
        JournalStore::open(&self.options()).unwrap()
    }
}
