//! What the daemon's own verification finds beside what tampering with single entries shows.

use palyra_journal::JournalStore;

use crate::opened::Folder;
use crate::written::{verify, write_runs};

/// Writes runs and returns the journal, in service.
async fn served(folder: &Folder) -> JournalStore {
    let journal = folder.open();
    write_runs(&journal, 0..5).await;
    assert_eq!(verify(&journal).await.fault, None, "before");
    journal
}

#[tokio::test]
async fn what_an_outside_verifier_refuses_is_refused_here_too() {
    for meddling in [
        "DROP TABLE checkpoint; CREATE TABLE checkpoint(size INTEGER PRIMARY KEY, note TEXT NOT NULL) STRICT",
        "PRAGMA user_version = 1",
        "ALTER TABLE entry ADD COLUMN forged INTEGER",
        "INSERT INTO static(hash, body) VALUES (zeroblob(32), 'not what is hashed')",
    ] {
        let folder = Folder::new();
        let journal = served(&folder).await;
        folder.connect().execute_batch(meddling).unwrap();
        assert!(verify(&journal).await.fault.is_some(), "{meddling}");
    }
}
