//! A log that is older than what is known of it, or contradicts itself, is read-only until somebody accepts it.

use std::path::PathBuf;

use palyra_journal::{JournalStore, OpenOptions};
use palyra_ports::maintain_journal::{JournalHealth, MaintainJournal, ReadOnlyCause};
use palyra_ports::{AppendError, AppendTape, KeyChoice, ProveJournal, ReadTape};
use palyra_testkit::JournalReads;
use palyra_testkit::journal_suite::samples::{self, SampleRun};
use palyra_types::event::{HeldCause, JournalEvent, LogEvent, RunEvent, TapeEvent};
use palyra_types::proof::{ReopenReason, TreeHead};
use palyra_types::run::{RunPhase, WaitReason};
use palyra_types::{Epoch, Seq, TapeSeq};

use crate::handovers::heads;
use crate::opened::Folder;
use crate::written::{silent, verify, write_runs};

fn anchors(folder: &Folder) -> PathBuf {
    folder.state_dir().with_file_name("anchors")
}

fn anchored(folder: &Folder) -> OpenOptions {
    OpenOptions { anchor_dir: Some(anchors(folder)), ..folder.options() }
}

fn reopening(folder: &Folder, reason: ReopenReason) -> OpenOptions {
    OpenOptions { reopen: Some(reason), ..anchored(folder) }
}

/// A copy of the state directory, keys and all.
struct Copy(Vec<(&'static str, Vec<u8>)>, Vec<(String, Vec<u8>)>);

impl Copy {
    fn of(folder: &Folder) -> Self {
        let names = ["journal.db", "journal.db-wal"];
        let read = |name| (name, std::fs::read(folder.state_dir().join(name)).unwrap());
        Self(names.map(read).to_vec(), folder.keys())
    }

    fn put_back(&self, folder: &Folder) {
        drop(std::fs::remove_file(folder.state_dir().join("journal.db-shm")));
        for (name, bytes) in &self.0 {
            std::fs::write(folder.state_dir().join(name), bytes).unwrap();
        }
        folder.put_keys(&self.1);
    }
}

/// A journal whose state directory was put back to an older day; returns the head that was given up.
async fn rolled_back() -> (Folder, TreeHead) {
    let folder = Folder::new();
    let journal = JournalStore::open(&anchored(&folder)).unwrap();
    write_runs(&journal, 0..3).await;
    journal.close().await;
    drop(journal);
    let copy = Copy::of(&folder);
    let journal = JournalStore::open(&anchored(&folder)).unwrap();
    write_runs(&journal, 3..5).await;
    let given_up = journal.sign_checkpoint(KeyChoice::Current).await.unwrap().head;
    journal.close().await;
    drop(journal);
    copy.put_back(&folder);
    (folder, given_up)
}

fn run_started(n: u64) -> palyra_ports::JournalAppendRequest {
    let session = samples::session(samples::principal(0), 0);
    samples::append(vec![SampleRun::new(session, n).started("x")])
}

#[tokio::test]
async fn a_log_in_order_passes_its_anchor() {
    let folder = Folder::new();
    for start in 1..4 {
        let journal = JournalStore::open(&anchored(&folder)).unwrap();
        assert_eq!((journal.epoch(), journal.status().cause), (Epoch(start), None));
        write_runs(&journal, u64::from(start)..u64::from(start) + 1).await;
        journal.close().await;
        let name = std::fs::read_dir(anchors(&folder)).unwrap().map(|file| file.unwrap().file_name());
        assert_eq!(name.collect::<Vec<_>>(), [journal.log_id().to_string().as_str()]);
        let note = std::fs::read_to_string(anchors(&folder).join(journal.log_id().to_string())).unwrap();
        assert_eq!(note.lines().nth(1).unwrap(), journal.status().entries.to_string());
    }
}

#[tokio::test]
async fn a_log_behind_its_anchor_is_read_only_until_that_is_accepted() {
    let (folder, given_up) = rolled_back().await;
    let journal = JournalStore::open(&anchored(&folder)).unwrap();
    let status = journal.status();
    assert_eq!(status.cause, Some(ReadOnlyCause::BehindAnchor { anchored: given_up.size }));
    assert_eq!(journal.append(run_started(90)).await, Err(AppendError::Quarantined));
    let (old, entries) = (journal.log_id(), status.entries);
    journal.close().await;
    drop(journal);

    let journal = JournalStore::open(&reopening(&folder, ReopenReason::RollbackAccepted)).unwrap();
    assert_eq!(journal.status().health, JournalHealth::Writable);
    let new = journal.log_id();
    assert_ne!(new, old);
    let begins = journal.entries(Seq(entries), 2).await.unwrap();
    match &begins[0].event {
        JournalEvent::Log(LogEvent::Reopened { log_id, abandoned, reason, .. }) => {
            assert_eq!((*log_id, *abandoned, *reason), (new, given_up, ReopenReason::RollbackAccepted));
        }
        other => panic!("{other:?}"),
    }
    assert!(matches!(begins[1].event, JournalEvent::Log(LogEvent::EpochStarted { .. })));
    assert_eq!((begins[0].epoch, begins[1].epoch), (journal.epoch(), journal.epoch()));
    write_runs(&journal, 20..21).await;
    assert_eq!(verify(&journal).await.fault, None);
    journal.close().await;
    drop(journal);
    // The old log's anchor stays and does not concern the new one.
    let journal = JournalStore::open(&anchored(&folder)).unwrap();
    assert_eq!((journal.log_id(), journal.status().cause), (new, None));
    assert_eq!(verify(&journal).await.fault, None);
    assert_eq!(heads(&folder).last().map(|head| head.1), Some(2));
}

#[tokio::test]
async fn open_runs_wait_for_a_person_in_the_new_log() {
    let folder = Folder::new();
    let journal = JournalStore::open(&anchored(&folder)).unwrap();
    write_runs(&journal, 0..1).await;
    let [mut at_work, mut queued] =
        [60, 61].map(|n| SampleRun::new(samples::session(samples::principal(0), 0), n));
    let mut alone = SampleRun::new(samples::session(samples::principal(0), 1), 62);
    let begun = samples::append(vec![at_work.started("x"), at_work.requested(1)]);
    let accepted = samples::append(vec![queued.started("y"), alone.started("z")]);
    for append in [begun, accepted] {
        journal.append(append).await.unwrap();
    }
    journal.close().await;
    drop(journal);
    let journal = JournalStore::open(&reopening(&folder, ReopenReason::Restored)).unwrap();
    let mut phases = Vec::new();
    for run in [at_work.run, queued.run, alone.run] {
        phases.push(journal.run(run).await.unwrap().unwrap().phase);
    }
    let waiting = RunPhase::Waiting(WaitReason::OutcomeUnknown);
    assert_eq!(phases, [waiting, RunPhase::Queued, waiting]);
    let held = journal.tape(at_work.run, TapeSeq(2), 10).await.unwrap().entries.remove(0);
    assert_eq!(held.event, TapeEvent::Run(RunEvent::Held { cause: HeldCause::LogReopened }));
    journal.rebuild(silent()).await.unwrap();
    assert_eq!(journal.run(alone.run).await.unwrap().unwrap().phase, waiting);
    assert_eq!(verify(&journal).await.fault, None);
}

#[tokio::test]
async fn a_log_of_another_history_than_its_anchor_is_read_only() {
    let (folder, given_up) = rolled_back().await;
    let anchor = std::fs::read_dir(anchors(&folder)).unwrap().next().unwrap().unwrap().path();
    let kept = std::fs::read(&anchor).unwrap();
    // Whoever put it back also goes on, on a machine without the anchor.
    let journal = folder.open();
    write_runs(&journal, 40..50).await;
    journal.close().await;
    assert!(journal.status().entries > given_up.size);
    drop(journal);
    std::fs::write(&anchor, kept).unwrap();
    let journal = JournalStore::open(&anchored(&folder)).unwrap();
    assert_eq!(journal.status().cause, Some(ReadOnlyCause::BehindAnchor { anchored: given_up.size }));
}

#[tokio::test]
async fn there_is_nothing_to_accept_in_a_log_in_order() {
    let folder = Folder::new();
    let log_id = folder.open().log_id();
    let journal = JournalStore::open(&reopening(&folder, ReopenReason::RollbackAccepted)).unwrap();
    assert_eq!(journal.log_id(), log_id);
    drop(journal);
    let journal = JournalStore::open(&reopening(&folder, ReopenReason::Restored)).unwrap();
    assert_ne!(journal.log_id(), log_id, "a restored log is another one in any case");
    assert_eq!(verify(&journal).await.fault, None);
}

#[tokio::test]
async fn a_lost_key_can_be_accepted_too() {
    let folder = Folder::new();
    let journal = folder.open();
    write_runs(&journal, 0..2).await;
    journal.close().await;
    drop(journal);
    folder.put_keys(&[]);
    assert_eq!(folder.open().status().cause, Some(ReadOnlyCause::KeyLost));
    let journal = JournalStore::open(&reopening(&folder, ReopenReason::KeyLost)).unwrap();
    write_runs(&journal, 20..21).await;
    assert_eq!((journal.status().cause, verify(&journal).await.fault), (None, None));
}

/// Meddles with a log that was closed in order, and returns why the next start is read-only.
async fn after(meddling: &str) -> (Folder, Option<ReadOnlyCause>) {
    let folder = Folder::new();
    let journal = folder.open();
    write_runs(&journal, 0..60).await;
    journal.close().await;
    drop(journal);
    folder.connect().execute_batch(meddling).unwrap();
    let journal = folder.open();
    let cause = journal.status().cause;
    if cause.is_some() {
        assert_eq!(journal.append(run_started(90)).await, Err(AppendError::Quarantined));
        assert!(journal.entries(Seq(0), 10).await.is_ok(), "it can be read");
        assert!(verify(&journal).await.fault.is_some(), "{meddling}");
    }
    journal.close().await;
    (folder, cause)
}

#[tokio::test]
async fn a_start_notices_an_end_that_was_cut_off_or_a_tree_that_was_changed() {
    let cut =
        "DROP TRIGGER entry_delete; DELETE FROM payload WHERE seq > 300; DELETE FROM entry WHERE seq > 300;";
    let shrunk = "DROP TRIGGER frontier_grows; UPDATE frontier SET size = 0, hashes = x'';";
    let no_frontier = "DROP TRIGGER frontier_delete; DELETE FROM frontier;";
    let no_tile = "DROP TRIGGER tile_delete; DELETE FROM tile;";
    let forged = "DROP TRIGGER checkpoint_update; UPDATE checkpoint SET note = replace(replace(replace(note, 'A', 'B'), 'q', 'w'), 'Z', 'X');";
    for meddling in [cut, shrunk, no_frontier, no_tile, forged] {
        let (folder, cause) = after(meddling).await;
        assert_eq!(cause, Some(ReadOnlyCause::TailDisagrees), "{meddling}");
        let journal = JournalStore::open(&reopening(&folder, ReopenReason::RollbackAccepted)).unwrap();
        assert_eq!((journal.status().cause, verify(&journal).await.fault), (None, None), "{meddling}");
        write_runs(&journal, 100..101).await;
    }
}
