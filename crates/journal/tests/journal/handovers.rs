//! Keys: each start and each wish begins an epoch that the key before vouches for, whatever was cut off between.

use std::sync::Arc;
use std::time::Duration;

use palyra_journal::{JournalStore, OpenOptions};
use palyra_ledger::CheckpointNote;
use palyra_ports::maintain_journal::{JournalHealth, MaintainJournal, ReadOnlyCause};
use palyra_ports::{AppendError, AppendTape, KeyChoice, ProveJournal, ReadTape};
use palyra_testkit::FakeClock;
use palyra_testkit::journal_suite::samples::{self, SampleRun};
use palyra_types::{Epoch, Seq, TapeSeq};

use crate::opened::Folder;
use crate::written::{verify, write_runs};

/// The heads that are stored: size and number of signatures.
pub(crate) fn heads(folder: &Folder) -> Vec<(u64, usize)> {
    let connection = folder.connect();
    let mut all = connection.prepare("SELECT size, note FROM checkpoint ORDER BY size").unwrap();
    let rows = all.query_map([], |row| Ok((row.get::<_, i64>(0)?.cast_unsigned(), row.get::<_, String>(1)?)));
    let signatures = |note: &str| CheckpointNote::parse(note.as_bytes()).unwrap().note().signatures().len();
    rows.unwrap().map(Result::unwrap).map(|(size, note)| (size, signatures(&note))).collect()
}

fn key_names(folder: &Folder) -> Vec<String> {
    folder.keys().into_iter().map(|(name, _)| name).collect()
}

#[tokio::test]
async fn every_start_hands_over_and_keeps_one_key() {
    let folder = Folder::new();
    let journal = folder.open();
    write_runs(&journal, 0..2).await;
    journal.close().await;
    drop(journal);
    // The first start's own head went for the one of its end: both are of one day.
    assert_eq!(heads(&folder), [(14, 1)]);
    for start in 2..5 {
        let journal = folder.open();
        assert_eq!(journal.epoch(), Epoch(start));
        assert_eq!(key_names(&folder), [format!("epoch-{start}.key"), "next-epoch.key".to_owned()]);
        assert_eq!(verify(&journal).await.fault, None);
        journal.close().await;
    }
    assert_eq!(heads(&folder), [(15, 2), (16, 2), (17, 2)], "handovers are kept");
}

#[tokio::test]
async fn a_key_is_changed_while_the_journal_is_in_use() {
    let folder = Folder::new();
    let journal = folder.open();
    write_runs(&journal, 0..1).await;
    let before = folder.keys();
    let signed = journal.sign_checkpoint(KeyChoice::Rotate).await.unwrap();
    assert_eq!((signed.head.size, journal.epoch()), (9, Epoch(2)));
    assert_eq!(journal.newest_checkpoint(), Some(signed));
    assert_eq!(key_names(&folder), ["epoch-2.key", "next-epoch.key"]);
    assert_ne!(folder.keys(), before);
    write_runs(&journal, 1..2).await;
    let signed = journal.sign_checkpoint(KeyChoice::Current).await.unwrap();
    assert_eq!((signed.head.size, heads(&folder).last().copied()), (15, Some((15, 1))));
    assert_eq!(verify(&journal).await.fault, None);
    journal.close().await;
    drop(journal);
    let journal = folder.open();
    assert_eq!((journal.epoch(), verify(&journal).await.fault), (Epoch(3), None));
}

#[tokio::test]
async fn a_key_lives_a_day_while_the_journal_stays_open() {
    let folder = Folder::new();
    let clock = FakeClock::new();
    let options = OpenOptions { clock: Arc::new(clock.clone()), ..folder.options() };
    let journal = JournalStore::open(&options).unwrap();
    let changing = tokio::spawn(journal.change_keys_daily());
    for day in 1..4 {
        clock.someone_sleeps().await;
        clock.advance(Duration::from_hours(23));
        assert_eq!(journal.epoch(), Epoch(day));
        clock.advance(Duration::from_hours(1));
        // Another signature waits behind the change.
        while journal.epoch() == Epoch(day) {
            tokio::task::yield_now().await;
            journal.sign_checkpoint(KeyChoice::Current).await.unwrap();
        }
    }
    assert_eq!(heads(&folder).iter().filter(|head| head.1 == 2).count(), 3);
    assert_eq!(verify(&journal).await.fault, None);
    clock.someone_sleeps().await;
    drop(journal);
    clock.advance(Duration::from_hours(24));
    changing.await.unwrap();
}

/// A journal after two starts, and the keys as they were before the second destroyed the first.
async fn two_starts() -> (Folder, Vec<(String, Vec<u8>)>, Vec<(String, Vec<u8>)>) {
    let folder = Folder::new();
    let journal = folder.open();
    write_runs(&journal, 0..1).await;
    journal.close().await;
    let first = folder.keys();
    let journal = folder.open();
    journal.close().await;
    let second = folder.keys();
    (folder, first, second)
}

fn both(a: &[(String, Vec<u8>)], b: &[(String, Vec<u8>)]) -> Vec<(String, Vec<u8>)> {
    a.iter().chain(b).cloned().collect()
}

async fn goes_on(folder: &Folder, epoch: u32) {
    let journal = folder.open();
    assert_eq!((journal.epoch(), journal.status().cause), (Epoch(epoch), None));
    write_runs(&journal, 50..51).await;
    assert_eq!(verify(&journal).await.fault, None);
    journal.close().await;
    drop(journal);
    let journal = folder.open();
    assert_eq!(journal.status().health, JournalHealth::Writable);
    assert_eq!(verify(&journal).await.fault, None);
}

#[tokio::test]
async fn a_start_cut_off_after_its_key_was_written_is_mended() {
    let folder = Folder::new();
    let journal = folder.open();
    write_runs(&journal, 0..1).await;
    journal.close().await;
    drop(journal);
    let unused = ("epoch-2.key".to_owned(), format!("{}\n", "5a".repeat(32)).into_bytes());
    folder.put_keys(&both(&folder.keys(), &[unused]));
    goes_on(&folder, 2).await;
}

#[tokio::test]
async fn a_start_cut_off_before_its_handover_is_mended() {
    let (folder, first, second) = two_starts().await;
    let connection = folder.connect();
    // As if killed right after EpochStarted: no head covers it, and both keys are there.
    assert_eq!(connection.execute("DELETE FROM checkpoint WHERE size > 8", []).unwrap(), 1);
    drop(connection);
    folder.put_keys(&both(&first, &second));
    goes_on(&folder, 3).await;
}

#[tokio::test]
async fn a_start_cut_off_before_it_destroyed_the_older_key_is_mended() {
    let (folder, first, second) = two_starts().await;
    folder.put_keys(&both(&first, &second));
    goes_on(&folder, 3).await;
    assert_eq!(key_names(&folder), ["epoch-4.key", "next-epoch.key"]);
}

#[tokio::test]
async fn without_the_key_that_signed_last_the_log_is_read_only() {
    let (folder, _, first) = two_starts().await;
    let journal = folder.open();
    write_runs(&journal, 9..10).await;
    journal.close().await;
    drop(journal);
    for keys in [first, Vec::new()] {
        folder.put_keys(&keys);
        let journal = folder.open();
        let status = journal.status();
        assert_eq!((status.health, status.cause), (JournalHealth::Quarantined, Some(ReadOnlyCause::KeyLost)));
        let session = samples::session(samples::principal(0), 0);
        let run = SampleRun::new(session, 0);
        assert_eq!(journal.tape(run.run, TapeSeq(0), 10).await.unwrap().entries.len(), 6);
        let append = samples::append(vec![SampleRun::new(session, 7).started("x")]);
        assert_eq!(journal.append(append).await, Err(AppendError::Quarantined));
        assert!(journal.sign_checkpoint(KeyChoice::Rotate).await.is_err());
        assert_eq!((journal.newest_checkpoint(), journal.checkpoint_over(Seq(0)).await), (None, None));
        assert_eq!(verify(&journal).await.fault, None);
    }
}
