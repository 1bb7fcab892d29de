//! A family whose version is another one, or whose rebuild was interrupted, is made anew at start; nothing else is.

use std::sync::{Arc, Mutex};

use palyra_journal::{JournalStore, OpenOptions};
use palyra_journal_core::families::FAMILIES;
use palyra_ports::maintain_journal::{MaintainJournal, ProgressCallback};

use crate::opened::Folder;
use crate::rebuilds::dump;
use crate::written::{silent, write_runs};

/// More entries than a start compares row by row.
const RUNS: u64 = 400;

async fn long_log() -> Folder {
    let folder = Folder::new();
    let journal = folder.open();
    write_runs(&journal, 0..RUNS).await;
    assert!(journal.status().entries > 2_048);
    journal.close().await;
    folder
}

/// Opens the journal and returns whether its rows are those of a fold anew.
async fn is_whole(folder: &Folder) -> bool {
    let journal: JournalStore = folder.open();
    let found = dump(&folder.connect());
    journal.rebuild(silent()).await.unwrap();
    let whole = dump(&folder.connect()) == found;
    journal.close().await;
    whole
}

#[tokio::test]
async fn families_of_another_version_are_made_anew_at_start() {
    let folder = long_log().await;
    for table in FAMILIES {
        let name = table.name;
        let lose_rows = format!("DELETE FROM f_{name};");
        for mark in [
            format!("{lose_rows} UPDATE family SET version = version + 1 WHERE name = '{name}'"),
            format!("{lose_rows} DELETE FROM family WHERE name = '{name}'"),
            format!("DROP TABLE f_{name}"),
            format!("{lose_rows} CREATE INDEX f_{name}_more ON f_{name}(row)"),
        ] {
            folder.connect().execute_batch(&mark).unwrap();
            assert!(is_whole(&folder).await, "{mark}");
        }
    }
}

#[tokio::test]
async fn a_rebuild_at_start_reports_how_far_it_is_and_a_start_without_one_reports_nothing() {
    let folder = long_log().await;
    let reported = Arc::new(Mutex::new(Vec::new()));
    let open = || {
        let sink = Arc::clone(&reported);
        let progress: ProgressCallback =
            Arc::new(move |done, total| sink.lock().unwrap().push((done, total)));
        JournalStore::open(&OpenOptions { rebuild_progress: Some(progress), ..folder.options() }).unwrap()
    };
    open().close().await;
    assert_eq!(*reported.lock().unwrap(), []);
    folder.connect().execute_batch("UPDATE family SET version = version + 1 WHERE name = 'run'").unwrap();
    let journal = open();
    let reports = std::mem::take(&mut *reported.lock().unwrap());
    // The start itself begins an epoch behind what was rebuilt.
    let total = journal.status().entries - 1;
    assert_eq!(reports.last(), Some(&(total, total)));
    assert!(reports.is_sorted(), "{reports:?}");
    journal.close().await;
}

/// The control: rows that are lost without a mark stay lost, because a start compares the rows of a short log only.
#[tokio::test]
async fn rows_of_a_long_log_are_not_compared_at_start() {
    let folder = long_log().await;
    folder.connect().execute_batch("DELETE FROM f_kind_seen").unwrap();
    assert!(!is_whole(&folder).await);
    assert!(is_whole(&folder).await);
}

#[tokio::test]
async fn a_family_that_this_program_does_not_fold_is_dropped() {
    let later = "CREATE TABLE f_later(id INTEGER PRIMARY KEY);";
    let found = "SELECT (SELECT count(*) FROM sqlite_schema WHERE name = 'f_later'),
        (SELECT count(*) FROM family WHERE name = 'later')";
    for mark in [
        "UPDATE projections SET version = version + 1",
        "INSERT INTO family(name, version) VALUES ('later', 1)",
    ] {
        let folder = Folder::new();
        folder.open().close().await;
        folder.connect().execute_batch(&format!("{later} {mark}")).unwrap();
        assert!(is_whole(&folder).await);
        let read = |row: &rusqlite::Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?));
        assert_eq!(folder.connect().query_row(found, [], read).unwrap(), (0, 0), "{mark}");
    }
}
