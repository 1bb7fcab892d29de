//! Starting: which files are accepted, who is fenced, what an unknown kind does.

use palyra_journal::{JournalStore, OpenError, row_tool};
use palyra_journal_core::family::FoldedEntry;
use palyra_ledger::envelope::RedactionMark;
use palyra_ledger::{Envelope, Frontier, LeafHash, leaf_hash};
use palyra_ports::maintain_journal::{JournalHealth, MaintainJournal};
use palyra_ports::{AppendError, AppendTape, ReadTape};
use palyra_testkit::JournalReads;
use palyra_testkit::journal_suite::samples::{self, SampleRun};
use palyra_types::event::{JournalEvent, TapeEvent};
use palyra_types::run::{RunPhase, WaitReason};
use palyra_types::{Epoch, ErrorCode, Seq, TapeSeq};
use rusqlite::Connection;

use crate::opened::Folder;
use crate::written::{silent, verify, write_runs};

fn start_of_run() -> palyra_ports::JournalAppendRequest {
    let session = samples::session(samples::principal(0), 0);
    samples::append(vec![SampleRun::new(session, 900).started("late")])
}

#[tokio::test]
async fn a_second_start_fences_the_first() {
    let folder = Folder::new();
    let first = folder.open();
    write_runs(&first, 0..1).await;
    let second = folder.open();
    assert_eq!((first.epoch(), second.epoch()), (Epoch(1), Epoch(2)));
    assert_eq!(first.append(start_of_run()).await, Err(AppendError::Fenced));
    second.append(start_of_run()).await.unwrap();
    assert_eq!(verify(&second).await.fault, None);
}

#[tokio::test]
async fn a_closed_journal_takes_nothing_more() {
    let folder = Folder::new();
    let journal = folder.open();
    journal.close().await;
    assert_eq!(journal.append(start_of_run()).await, Err(AppendError::Closed));
    assert_eq!(journal.entries(Seq(0), 10).await.unwrap().len(), 2, "reading goes on");
}

#[tokio::test]
async fn dropping_the_last_handle_writes_what_was_queued() {
    let folder = Folder::new();
    let journal = folder.open();
    let session = samples::session(samples::principal(0), 0);
    for n in 0..50 {
        let request = samples::append(vec![SampleRun::new(session, n).started("x")]);
        drop(journal.append(request));
    }
    drop(journal);
    let journal = folder.open();
    assert_eq!(journal.open_runs().await.unwrap().len(), 50);
    assert_eq!(verify(&journal).await.fault, None);
}

fn with_pragma(pragma: &str, value: i32) -> OpenError {
    let folder = Folder::new();
    drop(folder.open());
    folder.connect().pragma_update(None, pragma, value).unwrap();
    JournalStore::open(&folder.options()).unwrap_err()
}

#[test]
fn a_newer_format_and_foreign_files_are_refused() {
    let error = with_pragma("user_version", 3);
    assert!(matches!(error, OpenError::Newer { found: 3, known: 2 }), "{error:?}");
    assert_eq!(error.code(), ErrorCode::JournalNewer);
    let error = with_pragma("application_id", 77);
    assert!(matches!(error, OpenError::NotAJournal), "{error:?}");

    let folder = Folder::new();
    std::fs::create_dir_all(folder.state_dir()).unwrap();
    std::fs::write(folder.database(), "not a database at all, but longer than a header".repeat(100)).unwrap();
    let error = JournalStore::open(&folder.options()).unwrap_err();
    assert!(matches!(error, OpenError::NotAJournal), "{error:?}");
    assert_eq!(error.code(), ErrorCode::JournalCorrupt);

    let folder = Folder::new();
    std::fs::write(folder.state_dir(), "a file where the folder should be").unwrap();
    let error = JournalStore::open(&folder.options()).unwrap_err();
    assert_eq!(error.code(), ErrorCode::StateDirUnusable, "{error:?}");
}

#[tokio::test]
async fn the_way_to_the_folder_may_lead_through_a_link() {
    let folder = Folder::new();
    let link = folder.state_dir().with_file_name("link");
    std::fs::create_dir_all(folder.state_dir()).unwrap();
    std::os::unix::fs::symlink(folder.state_dir(), &link).unwrap();
    let options = palyra_journal::OpenOptions { state_dir: link, ..folder.options() };
    let journal = JournalStore::open(&options).unwrap();
    write_runs(&journal, 0..1).await;
    assert_eq!(verify(&journal).await.entries, 8);
}

#[tokio::test]
async fn a_fenced_journal_rebuilds_nothing() {
    let folder = Folder::new();
    let first = folder.open();
    let second = folder.open();
    assert!(first.rebuild(silent()).await.is_err());
    assert_eq!(second.rebuild(silent()).await.unwrap(), 3);
}

#[tokio::test]
async fn projections_of_another_version_are_folded_anew() {
    let folder = Folder::new();
    let journal = folder.open();
    write_runs(&journal, 0..3).await;
    let runs = journal.open_runs().await.unwrap();
    journal.close().await;
    let connection = folder.connect();
    let old = "UPDATE projections SET version = 0; DROP TABLE f_run; CREATE TABLE f_run(old TEXT);
        CREATE TABLE forgotten(x); DELETE FROM f_session; DELETE FROM f_epoch;";
    connection.execute_batch(old).unwrap();
    drop(connection);
    let journal = folder.open();
    assert_eq!(journal.epoch(), Epoch(2));
    assert_eq!(journal.open_runs().await.unwrap(), runs);
    let session = samples::session(samples::principal(0), 0);
    assert_eq!(journal.session_tape(session, None, 100).await.unwrap().entries.len(), 18);
}

/// Appends an entry as a newer version would: of a kind that this one does not know.
fn append_unknown(connection: &Connection, kind: u16, run: Option<&mut SampleRun>) -> Seq {
    let last = "SELECT envelope FROM entry ORDER BY seq DESC LIMIT 1";
    let last: Vec<u8> = connection.query_row(last, [], |row| row.get(0)).unwrap();
    let before = Envelope::decode(&last).unwrap();
    let like = run.map(|run| run.requested(1));
    let envelope = Envelope {
        redaction: RedactionMark::Untouched,
        kind,
        seq: before.seq.next(),
        prev: leaf_hash(&last),
        session: like.as_ref().and_then(|entry| entry.session),
        principal: like.as_ref().map_or(before.principal, |entry| entry.principal),
        run: like.as_ref().and_then(|entry| entry.run),
        commitment: None,
        facts: vec![8, 1, 0x62, 1, 7],
        ..before
    };
    let seq = envelope.seq.0.cast_signed();
    let tape = envelope.run.map(|(run, at)| (run.to_bytes(), at.0));
    connection
        .execute(
            "INSERT INTO entry VALUES (?1, ?2, ?3, ?4, ?5)",
            (seq, envelope.encode().unwrap(), tape.map(|t| t.0), tape.map(|t| t.1), kind),
        )
        .unwrap();
    grow_tree(connection, leaf_hash(&envelope.encode().unwrap()));
    let event = match envelope.run {
        Some(_) => JournalEvent::Tape(TapeEvent::Unknown { kind }),
        None => JournalEvent::Unknown { kind },
    };
    let Envelope { seq, time, principal, session, run, .. } = envelope;
    let folded = FoldedEntry { seq, kind, time, principal, session, run, event: &event };
    row_tool::fold_entry(connection, &folded).unwrap();
    envelope.seq
}

fn grow_tree(connection: &Connection, leaf: LeafHash) {
    let read = |row: &rusqlite::Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, Vec<u8>>(1)?));
    let (size, hashes) = connection.query_row("SELECT size, hashes FROM frontier", [], read).unwrap();
    let mut frontier = Frontier::from_bytes(size.cast_unsigned(), &hashes).unwrap();
    frontier.push(leaf);
    let grown = (frontier.size().cast_signed(), frontier.to_bytes());
    connection.execute("UPDATE frontier SET size = ?1, hashes = ?2", grown).unwrap();
}

#[tokio::test]
async fn an_unknown_kind_on_a_tape_parks_its_run() {
    let folder = Folder::new();
    let journal = folder.open();
    let session = samples::session(samples::principal(0), 0);
    let mut runs = [0, 1].map(|n| SampleRun::new(session, n));
    for run in &mut runs {
        journal.append(samples::append(vec![run.started("x"), run.requested(1)])).await.unwrap();
    }
    journal.close().await;
    let connection = folder.connect();
    append_unknown(&connection, 0x7ABC, Some(&mut runs[0]));
    append_unknown(&connection, 0x8ABC, Some(&mut runs[1]));
    drop(connection);

    let journal = folder.open();
    assert_eq!(journal.status().health, JournalHealth::Writable);
    journal.rebuild(silent()).await.unwrap();
    let tape = journal.tape(runs[0].run, TapeSeq(2), 10).await.unwrap();
    assert_eq!(tape.entries[0].event, TapeEvent::Unknown { kind: 0x7ABC });
    let phase = async |run: &SampleRun| journal.run(run.run).await.unwrap().unwrap().phase;
    assert_eq!(phase(&runs[0]).await, RunPhase::Waiting(WaitReason::UnknownKind));
    assert_eq!(phase(&runs[1]).await, RunPhase::Running, "kinds from 0x8000 on may be skipped");
    assert_eq!(verify(&journal).await.fault, None);
}

#[tokio::test]
async fn an_unknown_critical_kind_outside_tapes_makes_the_start_read_only() {
    for (kind, health) in [(0x7ABC, JournalHealth::Quarantined), (0x8ABC, JournalHealth::Writable)] {
        let folder = Folder::new();
        let journal = folder.open();
        let runs = write_runs(&journal, 0..2).await;
        journal.close().await;
        let seq = append_unknown(&folder.connect(), kind, None);
        let journal = folder.open();
        assert_eq!(journal.status().health, health);
        let raw = journal.entries(seq, 1).await.unwrap().remove(0);
        assert_eq!((raw.event, raw.kind), (JournalEvent::Unknown { kind }, kind));
        assert_eq!(journal.tape(runs[1].run, TapeSeq(0), 10).await.unwrap().entries.len(), 6);
        let appended = journal.append(start_of_run()).await;
        assert_eq!(appended.is_ok(), health == JournalHealth::Writable, "{appended:?}");
        assert_eq!(verify(&journal).await.fault, None);
    }
}
