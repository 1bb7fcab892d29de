//! Files that are taken away: under a journal in service, and between two starts.

use std::fs;
use std::path::PathBuf;

use palyra_journal::JournalStore;
use palyra_ports::maintain_journal::{JournalHealth, MaintainJournal};
use palyra_ports::{AppendError, AppendTape};
use palyra_testkit::journal_suite::samples::{self, SampleRun};

use crate::opened::Folder;
use crate::written::{verify, write_runs};

fn wal(folder: &Folder) -> PathBuf {
    folder.state_dir().join("journal.db-wal")
}

async fn append(journal: &JournalStore, n: u64) -> Result<(), AppendError> {
    let session = samples::session(samples::principal(0), 0);
    journal.append(samples::append(vec![SampleRun::new(session, n).started("x")])).await.map(drop)
}

async fn end(journal: JournalStore) {
    journal.close().await;
    drop(journal);
}

/// Does something to the files of a journal in service; returns how many entries were acknowledged before.
async fn meddled(folder: &Folder, meddle: impl FnOnce(&Folder)) -> u64 {
    let journal = folder.open();
    write_runs(&journal, 0..20).await;
    assert_eq!(append(&journal, 900).await, Ok(()), "before");
    let acknowledged = journal.status().entries;
    meddle(folder);
    // The signer, which wakes the writer now and then, may have let it look before.
    let refused = append(&journal, 901).await;
    assert!(matches!(refused, Err(AppendError::Unknown | AppendError::Quarantined)), "{refused:?}");
    assert_eq!(append(&journal, 902).await, Err(AppendError::Quarantined));
    assert_eq!(journal.status().health, JournalHealth::Quarantined);
    end(journal).await;
    acknowledged
}

async fn demand_whole(folder: &Folder, acknowledged: u64) {
    let journal = folder.open();
    assert!(journal.status().entries >= acknowledged, "{} of {acknowledged}", journal.status().entries);
    assert_eq!((journal.status().health, verify(&journal).await.fault), (JournalHealth::Writable, None));
    end(journal).await;
}

#[tokio::test]
async fn a_write_ahead_log_that_is_removed_or_replaced_is_noticed_and_nothing_is_lost() {
    let removed = |folder: &Folder| fs::remove_file(wal(folder)).unwrap();
    let moved = |folder: &Folder| fs::rename(wal(folder), folder.state_dir().join("elsewhere")).unwrap();
    let replaced = |folder: &Folder| {
        fs::write(folder.state_dir().join("other"), vec![0; 8 << 20]).unwrap();
        fs::rename(folder.state_dir().join("other"), wal(folder)).unwrap();
    };
    for meddle in [removed, moved, replaced] {
        let folder = Folder::new();
        let acknowledged = meddled(&folder, meddle).await;
        demand_whole(&folder, acknowledged).await;
    }
}

#[tokio::test]
async fn a_database_that_is_removed_is_noticed_saved_and_not_begun_anew() {
    let folder = Folder::new();
    let acknowledged = meddled(&folder, |folder| fs::remove_file(folder.database()).unwrap()).await;
    for _ in 0..2 {
        let refused = JournalStore::open(&folder.options()).map(drop).unwrap_err();
        assert_eq!(refused.code().to_string(), "PLY-2015", "{refused}");
        assert!(refused.to_string().contains("journal.db.rescued"), "{refused}");
    }
    fs::rename(folder.state_dir().join("journal.db.rescued"), folder.database()).unwrap();
    fs::remove_file(wal(&folder)).unwrap();
    demand_whole(&folder, acknowledged).await;
}

#[tokio::test]
async fn a_database_that_is_moved_away_can_be_moved_back() {
    let folder = Folder::new();
    let away = folder.state_dir().join("away");
    let acknowledged = meddled(&folder, |folder| fs::rename(folder.database(), &away).unwrap()).await;
    assert!(JournalStore::open(&folder.options()).is_err());
    fs::rename(&away, folder.database()).unwrap();
    demand_whole(&folder, acknowledged).await;
}

/// Nobody appends: whoever watches the folder lets the writer look.
#[tokio::test]
async fn files_of_an_idle_journal_are_looked_at() {
    let folder = Folder::new();
    let journal = folder.open();
    write_runs(&journal, 0..3).await;
    journal.look_at_files();
    write_runs(&journal, 3..4).await;
    fs::remove_file(wal(&folder)).unwrap();
    journal.look_at_files();
    assert_eq!(append(&journal, 900).await, Err(AppendError::Quarantined));
    end(journal).await;
    demand_whole(&folder, 2 + 4 * 6).await;
}

/// A journal with its last entries in the write-ahead log alone, and nobody in it.
async fn left() -> Folder {
    let folder = Folder::new();
    let journal = folder.open();
    write_runs(&journal, 0..5).await;
    end(journal).await;
    folder
}

fn demand_refused(folder: &Folder) {
    let refused = JournalStore::open(&folder.options()).map(drop).unwrap_err();
    assert_eq!(refused.code().to_string(), "PLY-2015", "{refused}");
}

#[tokio::test]
async fn a_start_without_its_database_leaves_the_write_ahead_log_alone() {
    for empty in [false, true] {
        let folder = left().await;
        let (database, kept) = (fs::read(folder.database()).unwrap(), fs::read(wal(&folder)).unwrap());
        if empty {
            fs::write(folder.database(), b"").unwrap();
        } else {
            fs::remove_file(folder.database()).unwrap();
        }
        demand_refused(&folder);
        assert!(fs::read(wal(&folder)).unwrap() == kept, "the write-ahead log is as it was");
        fs::write(folder.database(), database).unwrap();
        demand_whole(&folder, 5 * 6).await;
    }
}

#[tokio::test]
async fn a_start_without_both_files_does_not_begin_anew_by_itself() {
    let folder = left().await;
    fs::remove_file(folder.database()).unwrap();
    fs::remove_file(wal(&folder)).unwrap();
    demand_refused(&folder);
    // On purpose it does: with everything moved away.
    fs::rename(folder.state_dir(), folder.state_dir().with_extension("old")).unwrap();
    let journal = folder.open();
    assert_eq!(journal.status().entries, 2);
    end(journal).await;
}

/// The keys alone tell too, where a daemon of before left no mark.
#[tokio::test]
async fn keys_of_later_epochs_tell_of_a_journal() {
    let folder = left().await;
    end(folder.open()).await;
    let keys = folder.keys();
    fs::remove_dir_all(folder.state_dir()).unwrap();
    folder.put_keys(&keys);
    demand_refused(&folder);
}
