//! The write-ahead log: it is emptied by the writer alone, stays within bounds, and grouping saves commits.

use palyra_ports::AppendTape;
use palyra_ports::maintain_journal::{MaintainJournal, WalShrink};
use palyra_testkit::journal_suite::samples::{self, SampleRun};

use crate::opened::Folder;
use crate::written::verify;

const MIB: u64 = 1024 * 1024;

#[tokio::test]
async fn the_log_is_moved_into_the_database_and_begun_anew() {
    let folder = Folder::new();
    let journal = folder.open();
    let mut run = SampleRun::new(samples::session(samples::principal(0), 0), 0);
    journal.append(samples::append(vec![run.started("x"), run.requested(1)])).await.unwrap();
    let text = "x".repeat(500_000);
    for _ in 0..80 {
        journal.append(samples::append(vec![run.text(1, &text)])).await.unwrap();
        assert!(journal.status().wal_bytes <= 10 * MIB, "{:?}", journal.status());
    }
    let status = journal.status();
    assert!(status.database_bytes >= 34 * MIB, "{status:?}");
    assert!(status.bytes >= 40_000_000, "{status:?}");
    assert_eq!(status.wal_bytes, 8 * MIB, "{status:?}");
    assert_eq!(verify(&journal).await.fault, None);
}

#[tokio::test]
async fn a_reader_that_stays_holds_up_the_log_and_nobody_else() {
    let folder = Folder::new();
    let journal = folder.open();
    let mut run = SampleRun::new(samples::session(samples::principal(0), 0), 0);
    journal.append(samples::append(vec![run.started("x"), run.requested(1)])).await.unwrap();
    let reader = folder.connect();
    reader.execute_batch("BEGIN; SELECT count(*) FROM entry;").unwrap();
    let text = "x".repeat(500_000);
    for _ in 0..50 {
        journal.append(samples::append(vec![run.text(1, &text)])).await.unwrap();
    }
    assert!(journal.status().wal_bytes >= 20 * MIB, "{:?}", journal.status());
    reader.execute_batch("COMMIT").unwrap();
    for _ in 0..4 {
        journal.append(samples::append(vec![run.text(1, &text)])).await.unwrap();
    }
    assert_eq!(journal.status().wal_bytes, 8 * MIB, "{:?}", journal.status());
    assert_eq!(verify(&journal).await.fault, None);
}

#[tokio::test]
async fn a_log_that_grew_is_cut_when_it_is_asked_for_and_no_reader_is_in_it() {
    let folder = Folder::new();
    let journal = folder.open();
    let mut run = SampleRun::new(samples::session(samples::principal(0), 0), 0);
    journal.append(samples::append(vec![run.started("x"), run.requested(1)])).await.unwrap();
    let reader = folder.connect();
    reader.execute_batch("BEGIN; SELECT count(*) FROM entry;").unwrap();
    let text = "x".repeat(500_000);
    for _ in 0..50 {
        journal.append(samples::append(vec![run.text(1, &text)])).await.unwrap();
    }
    assert_eq!(journal.shrink_wal().await, Ok(WalShrink::HeldUp));
    assert!(journal.status().wal_bytes >= 20 * MIB, "{:?}", journal.status());
    reader.execute_batch("COMMIT").unwrap();
    for _ in 0..2 {
        assert_eq!(journal.shrink_wal().await, Ok(WalShrink::Done));
        assert_eq!(journal.status().wal_bytes, 8 * MIB, "{:?}", journal.status());
    }
    journal.append(samples::append(vec![run.text(1, &text)])).await.unwrap();
    assert_eq!(verify(&journal).await.fault, None);
    journal.close().await;
    drop(journal);
    assert_eq!(verify(&folder.open()).await.fault, None);
}

#[tokio::test]
async fn readers_do_not_checkpoint_and_closing_keeps_the_reserve() {
    let folder = Folder::new();
    let journal = folder.open();
    let mut run = SampleRun::new(samples::session(samples::principal(0), 0), 0);
    journal.append(samples::append(vec![run.started("x"), run.requested(1)])).await.unwrap();
    let before = journal.status().database_bytes;
    journal.append(samples::append(vec![run.text(1, &"x".repeat(1_000_000))])).await.unwrap();
    verify(&journal).await;
    journal.close().await;
    drop(journal);
    assert_eq!(std::fs::metadata(folder.database()).unwrap().len(), before, "nothing was moved on close");
    let wal = std::fs::metadata(folder.database().with_extension("db-wal")).unwrap().len();
    assert_eq!(wal, 8 * MIB);
    assert!(folder.open().status().database_bytes >= before + 1_000_000, "the next start moves it");
}

#[tokio::test]
async fn appends_that_wait_together_share_a_commit() {
    let folder = Folder::new();
    let journal = folder.open();
    let session = samples::session(samples::principal(0), 0);
    // While the first, large one is written, the others queue up.
    let mut first = SampleRun::new(session, 0);
    let mut waiting = vec![journal.append(samples::append(vec![first.started(&"x".repeat(4_000_000))]))];
    for n in 1..=500 {
        let mut run = SampleRun::new(session, n);
        waiting.push(journal.append(samples::append(vec![run.started("x"), run.requested(1)])));
    }
    for result in futures::future::join_all(waiting).await {
        result.unwrap();
    }
    let status = journal.status();
    assert_eq!(status.entries, 2 + 1 + 1_000);
    // At best four groups of 256 entries; far from one commit per append in any case.
    assert!((4..=60).contains(&status.commits), "{} commits", status.commits);
}
