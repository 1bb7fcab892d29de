//! Damaged files: what is told, what is kept, what the next start repairs.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;

use palyra_journal::{JournalStore, OpenError};
use palyra_ports::maintain_journal::{JournalHealth, MaintainJournal};
use palyra_ports::{AppendError, AppendTape, ReadTape};
use palyra_testkit::journal_suite::samples::{self, SampleRun};
use palyra_types::{Epoch, ErrorCode, Seq, TapeSeq};
use rusqlite::Connection;

use crate::opened::Folder;
use crate::written::{silent, verify, write_runs};

pub(crate) const PAGE_BYTES: u64 = 4_096;

/// Writes runs, closes, and leaves everything in the database file and nothing in the WAL.
pub(crate) async fn settled(runs: u64) -> Folder {
    let folder = Folder::new();
    let journal = folder.open();
    write_runs(&journal, 0..runs).await;
    journal.close().await;
    drop(journal);
    settle(&folder);
    folder
}

pub(crate) fn settle(folder: &Folder) {
    let row = |row: &rusqlite::Row<'_>| row.get::<_, i64>(0);
    let busy = folder.connect().query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], row).unwrap();
    assert_eq!(busy, 0);
}

/// Returns a page in the middle of the table of entries.
fn page_of_entries(folder: &Folder) -> u64 {
    // The database header tells the root; its first child pages follow in order of seq.
    let connection = Connection::open(folder.database()).unwrap();
    let root = "SELECT rootpage FROM sqlite_schema WHERE name = 'entry'";
    let root: i64 = connection.query_row(root, [], |row| row.get(0)).unwrap();
    drop(connection);
    let bytes = fs::read(folder.database()).unwrap();
    let at = usize::try_from((root.cast_unsigned() - 1) * PAGE_BYTES).unwrap();
    let page = &bytes[at..at + 4_096];
    assert_eq!(page[0], 5, "the table has inner pages");
    let cells = usize::from(u16::from_be_bytes([page[3], page[4]]));
    let pointer = 12 + 2 * (cells / 2);
    let cell = usize::from(u16::from_be_bytes([page[pointer], page[pointer + 1]]));
    u64::from(u32::from_be_bytes(page[cell..cell + 4].try_into().unwrap()))
}

pub(crate) fn overwrite_page(folder: &Folder, page: u64, with: &[u8]) {
    let file = OpenOptions::new().write(true).open(folder.database()).unwrap();
    file.write_all_at(with, (page - 1) * PAGE_BYTES).unwrap();
}

#[tokio::test]
async fn a_journal_whose_first_commit_failed_is_begun_anew() {
    let folder = Folder::new();
    fs::create_dir(folder.state_dir()).unwrap();
    let empty = folder.connect();
    empty.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(())).unwrap();
    drop(empty);
    fs::write(folder.state_dir().join("journal.quarantined"), "an I/O error").unwrap();
    let journal = folder.open();
    assert_eq!(journal.epoch(), Epoch(1));
    write_runs(&journal, 0..1).await;
    assert_eq!(verify(&journal).await.fault, None);
    assert!(!folder.state_dir().join("journal.quarantined").exists());
}

#[tokio::test]
async fn a_corrupted_page_is_told_and_the_rest_is_read() {
    let folder = settled(60).await;
    let page = page_of_entries(&folder);
    overwrite_page(&folder, page, &[0xA5; PAGE_BYTES as usize]);
    let journal = folder.open();
    let (seq, what) = verify(&journal).await.fault.expect("a fault");
    assert!(seq > Seq(0) && seq < Seq(362), "{seq}");
    assert_eq!(what, "it cannot be read: its page in the database is damaged");
    let session = samples::session(samples::principal(0), 0);
    let mut read = 0;
    let mut refused = 0;
    for n in 0..60 {
        match journal.tape(SampleRun::new(session, n).run, TapeSeq(0), 10).await {
            Ok(page) => read += page.entries.len(),
            Err(error) => {
                assert_eq!(error.code(), ErrorCode::JournalCorrupt, "{error:?}");
                refused += 1;
            }
        }
    }
    assert!(refused > 0 && read > 200, "{read} entries read, {refused} tapes refused");
}

#[tokio::test]
async fn a_start_on_hopeless_damage_says_so_and_leaves_the_files_alone() {
    let folder = settled(60).await;
    let root = "SELECT rootpage FROM sqlite_schema WHERE name = 'entry'";
    let connection = folder.connect();
    let root: i64 = connection.query_row(root, [], |row| row.get(0)).unwrap();
    drop(connection);
    settle(&folder);
    overwrite_page(&folder, root.cast_unsigned(), &[0xA5; PAGE_BYTES as usize]);
    let before = fs::read(folder.database()).unwrap();
    for _ in 0..2 {
        let error = JournalStore::open(&folder.options()).unwrap_err();
        assert_eq!(error.code(), ErrorCode::JournalCorrupt, "{error:?}");
        assert!(fs::read(folder.database()).unwrap() == before, "the damaged file is evidence");
    }
    let left: Vec<_> = fs::read_dir(folder.state_dir()).unwrap().map(|f| f.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().contains("fresh")), "{left:?}");
}

/// Makes the writer meet a page that cannot be right, as after a read error, and returns the journal.
async fn quarantined(folder: &Folder) -> (JournalStore, Vec<u8>) {
    let journal = folder.open();
    write_runs(&journal, 0..3).await;
    // Somebody else's commit empties the writer's page cache; then every page is read from the file again.
    folder.connect().execute_batch("CREATE TABLE meddled(x)").unwrap();
    settle(folder);
    let good = fs::read(folder.database()).unwrap();
    let pages = good.len() as u64 / PAGE_BYTES;
    for page in 2..=pages {
        overwrite_page(folder, page, &[0xA5; PAGE_BYTES as usize]);
    }
    (journal, good)
}

#[tokio::test]
async fn an_io_error_quarantines_and_the_next_start_repairs() {
    let folder = Folder::new();
    let (journal, good) = quarantined(&folder).await;
    let append = |n| {
        let session = samples::session(samples::principal(0), 0);
        samples::append(vec![SampleRun::new(session, n).started("x")])
    };
    assert_eq!(journal.append(append(100)).await, Err(AppendError::Unknown));
    assert_eq!(journal.append(append(101)).await, Err(AppendError::Quarantined));
    assert_eq!(journal.status().health, JournalHealth::Quarantined);
    assert!(folder.state_dir().join("journal.quarantined").exists());
    assert!(journal.rebuild(silent()).await.is_err());
    journal.close().await;
    drop(journal);

    // The disk gives back what it once got.
    fs::write(folder.database(), &good).unwrap();
    let journal = folder.open();
    assert_eq!((journal.epoch(), journal.status().health), (Epoch(2), JournalHealth::Writable));
    let report = verify(&journal).await;
    assert_eq!((report.entries, report.fault), (2 + 18 + 1, None));
    journal.append(append(100)).await.unwrap();
    assert!(!folder.state_dir().join("journal.quarantined").exists());
    assert!(folder.state_dir().join("journal.db.before-repair").exists());
    assert_eq!(journal.status().wal_bytes, 8 * 1024 * 1024);
}

#[tokio::test]
async fn a_start_cut_off_while_repairing_is_done_again() {
    let folder = Folder::new();
    let journal = folder.open();
    write_runs(&journal, 0..5).await;
    journal.close().await;
    drop(journal);
    // As if killed after the mark was set, with a half-written copy beside.
    fs::write(folder.state_dir().join("journal.quarantined"), "repairing").unwrap();
    fs::write(folder.state_dir().join("journal.db.fresh"), [7; 5_000]).unwrap();
    let journal = folder.open();
    assert_eq!(verify(&journal).await.fault, None);
    assert_eq!(journal.status().entries, 2 + 30 + 1);
    journal.close().await;
    drop(journal);
    // As if killed after the swap and before the old WAL was removed.
    let wal = folder.database().with_extension("db-wal");
    fs::write(folder.state_dir().join("journal.quarantined"), "repairing").unwrap();
    let old_wal = fs::read(&wal).unwrap();
    let journal = folder.open();
    journal.close().await;
    drop(journal);
    assert!(old_wal.len() >= 8 * 1024 * 1024);
    let journal = folder.open();
    assert_eq!((verify(&journal).await.fault, journal.epoch()), (None, Epoch(4)));
}

#[test]
fn a_start_cut_off_at_any_file_begins_anew() {
    // An empty file, a first page without tables, a key without its entry: all come before the first commit.
    let folder = Folder::new();
    fs::create_dir_all(folder.state_dir().join("keys")).unwrap();
    fs::write(folder.database(), b"").unwrap();
    fs::write(folder.state_dir().join("keys/epoch-1.key"), "old\n").unwrap();
    assert_eq!(folder.open().epoch(), Epoch(1));
    let folder = Folder::new();
    fs::create_dir_all(folder.state_dir()).unwrap();
    let connection = folder.connect();
    connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(())).unwrap();
    drop(connection);
    assert_eq!(folder.open().epoch(), Epoch(1));
    assert_eq!(folder.open().epoch(), Epoch(2));
    assert!(matches!(JournalStore::open(&folder.options()).map(drop), Ok(()) | Err(OpenError::Fenced)));
}
