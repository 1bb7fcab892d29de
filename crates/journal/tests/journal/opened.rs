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

    /// Returns what lies in the folder of the epochs' keys, by name.
    pub(crate) fn keys(&self) -> Vec<(String, Vec<u8>)> {
        let files = std::fs::read_dir(self.state_dir().join("keys")).unwrap().map(Result::unwrap);
        let mut keys: Vec<_> = files
            .map(|file| (file.file_name().into_string().unwrap(), std::fs::read(file.path()).unwrap()))
            .collect();
        keys.sort();
        keys
    }

    /// Makes the folder of keys hold exactly these.
    pub(crate) fn put_keys(&self, keys: &[(String, Vec<u8>)]) {
        let folder = self.state_dir().join("keys");
        drop(std::fs::remove_dir_all(&folder));
        std::fs::create_dir_all(&folder).unwrap();
        keys.iter().for_each(|(name, key)| std::fs::write(folder.join(name), key).unwrap());
    }

    pub(crate) fn open(&self) -> JournalStore {
        JournalStore::open(&self.options()).unwrap()
    }
}
