//! What a check of every entry found stays told, and a check goes on beside the service.

use palyra_journal::JournalStore;
use palyra_journal::row_tool;
use palyra_journal_core::families::runs::RunFamily;
use palyra_journal_core::family::RowId;
use palyra_ports::maintain_journal::{Integrity, MaintainJournal};
use palyra_types::Seq;
use palyra_types::event::{JournalEvent, RunEvent, TapeEvent};
use palyra_types::tape::JournalEventRecord;

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
async fn a_fault_stays_told_until_a_check_finds_none() {
    let folder = Folder::new();
    let journal = served(&folder).await;
    assert!(matches!(journal.status().integrity, Integrity::Holds { .. }));
    let meddle = "INSERT INTO static(hash, body) VALUES (zeroblob(32), 'not what is hashed')";
    folder.connect().execute_batch(meddle).unwrap();
    verify(&journal).await;
    write_runs(&journal, 5..6).await;
    assert!(
        matches!(journal.status().integrity, Integrity::Faulty { .. }),
        "{:?}",
        journal.status().integrity
    );
    let mend = "DROP TRIGGER static_delete; DELETE FROM static WHERE hash = zeroblob(32)";
    folder.connect().execute_batch(mend).unwrap();
    verify(&journal).await;
    assert!(matches!(journal.status().integrity, Integrity::Holds { .. }));
}

/// Waits for what the check in the background finds.
async fn found_in_background(journal: &JournalStore) -> Integrity {
    journal.verify_in_background();
    let found = tokio::time::timeout(std::time::Duration::from_secs(120), async {
        loop {
            match journal.status().integrity {
                Integrity::NotChecked => tokio::task::yield_now().await,
                found => return found,
            }
        }
    });
    found.await.expect("it ends")
}

/// The start of a long log compares no rows; the check beside the service does, and a rebuild mends what it finds.
#[tokio::test]
async fn a_row_of_a_long_log_that_is_not_what_the_log_says_is_found_beside_the_service() {
    let folder = Folder::new();
    let journal = folder.open();
    write_runs(&journal, 0..450).await;
    assert!(journal.status().entries > 2_048, "{} entries", journal.status().entries);
    journal.close().await;
    drop(journal);
    let turns = || -> u32 {
        let rows = row_tool::rows_of::<RunFamily>(&folder.connect()).unwrap();
        rows.iter().map(|(_, row)| row.record.turns).sum()
    };
    let before = turns();
    // The control: a log without damage holds.
    let journal = folder.open();
    assert!(matches!(found_in_background(&journal).await, Integrity::Holds { .. }));
    journal.close().await;
    drop(journal);
    let last = row_tool::rows_of::<RunFamily>(&folder.connect())
        .unwrap()
        .into_iter()
        .map(|(id, _)| id)
        .max()
        .unwrap();
    row_tool::change_rows::<RunFamily>(&folder.connect(), |row| {
        let is_last = RowId::from(row.record.first_seq) == last;
        row.record.turns += if is_last { 7 } else { 0 };
        is_last
    })
    .unwrap();
    let journal = folder.open();
    assert_eq!(turns(), before + 7, "the start did not look at it");
    let found = found_in_background(&journal).await;
    assert_ne!(found, Integrity::NotChecked);
    assert!(format!("{found:?}").contains("run"), "{found:?}");
    // Entries that verify do not hide it; a rebuild mends it.
    assert_eq!(verify(&journal).await.fault, None);
    assert_eq!(journal.status().integrity, found);
    journal.rebuild(crate::written::silent()).await.unwrap();
    assert_eq!((journal.status().integrity, turns()), (Integrity::NotChecked, before));
    journal.close().await;
}

/// What a start does not check is checked beside the service.
#[tokio::test]
async fn a_check_in_the_background_finds_what_a_start_did_not_look_at() {
    let folder = Folder::new();
    let journal = folder.open();
    write_runs(&journal, 0..40).await;
    journal.close().await;
    drop(journal);
    let meddle = "DROP TRIGGER payload_update;
        UPDATE payload SET sealed = randomblob(60) WHERE seq = (SELECT min(seq) FROM payload)";
    folder.connect().execute_batch(meddle).unwrap();
    let journal = folder.open();
    assert_eq!(journal.status().integrity, Integrity::NotChecked);
    journal.verify_in_background();
    let found = tokio::time::timeout(std::time::Duration::from_secs(60), async {
        loop {
            match journal.status().integrity {
                Integrity::NotChecked => tokio::task::yield_now().await,
                found => return found,
            }
        }
    });
    let found = found.await.expect("it ends");
    assert!(matches!(found, Integrity::Faulty { .. }), "{found:?}");
    journal.close().await;
}

/// A read that meets damage is a signal: no check of the whole log is needed to know of it.
#[tokio::test]
async fn a_read_that_meets_damage_is_remembered_with_the_run_of_the_entry() {
    let folder = Folder::new();
    let journal = served(&folder).await;
    let last = journal.status().entries;
    let entries = journal.entries(Seq(0), 1_000).await.unwrap();
    assert!(matches!(journal.status().integrity, Integrity::Holds { .. }), "the control");
    let has_content = |entry: &&JournalEventRecord| {
        matches!(entry.event, JournalEvent::Tape(TapeEvent::Run(RunEvent::Started(_))))
    };
    let damaged = entries.iter().find(has_content).expect("a run began");
    let meddle = format!(
        "DROP TRIGGER payload_update; UPDATE payload SET sealed = randomblob(60) WHERE seq = {}",
        damaged.seq.0
    );
    folder.connect().execute_batch(&meddle).unwrap();
    journal.entries(damaged.seq.next(), 1_000).await.unwrap();
    assert!(matches!(journal.status().integrity, Integrity::Holds { .. }), "others were read");
    journal.entries(Seq(0), 1_000).await.unwrap_err();
    let what = "the payload does not match its commitment".to_owned();
    let run = damaged.run.map(|(run, _)| run);
    let found = Integrity::Faulty { seq: damaged.seq, what, run };
    assert_eq!(journal.status().integrity, found);
    assert_eq!(journal.status().entries, last);
    verify(&journal).await;
    assert_eq!(journal.status().integrity, found, "a check of everything finds the same");
}
