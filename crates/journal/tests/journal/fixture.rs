//! Database files of every released format still open, verify and say what they said.
//!
//! The files are made once per format by the example `write_fixture` and never changed afterwards.

use std::path::Path;
use std::sync::Arc;

use palyra_journal::{JournalStore, OpenError, OpenOptions};
use palyra_journal_core::families::{agents, principals};
use palyra_journal_core::family::QueryFamilies;
use palyra_ports::maintain_journal::MaintainJournal;
use palyra_ports::{AppendTape, Export, KeyChoice, ProveJournal, ReadTape};
use palyra_testkit::JournalReads;
use palyra_testkit::journal_suite::samples::{self, SampleRun};
use palyra_types::event::{JournalEvent, TapeEvent, ToolEvent};
use palyra_types::run::{IdempotencyDigest, RunLifecycleState};
use palyra_types::{Epoch, ErrorCode, Seq, TapeSeq};
use rusqlite::{Connection, OpenFlags};

use crate::handovers::heads;
use crate::opened::Folder;
use crate::signatures::export;
use crate::written::{silent, verify, write_runs};

/// The entry whose payload was taken away before the file was kept.
const ERASED: Seq = Seq(10);

fn kept(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

#[tokio::test]
async fn the_file_of_format_1_still_says_what_it_said() {
    let folder = folder_of_format_1();
    let journal = folder.open();
    let expected = std::fs::read_to_string(kept("journal-v1.txt")).unwrap();
    let entries = journal.entries(Seq(0), expected.lines().count()).await.unwrap();
    for (entry, expected) in entries.iter().zip(expected.lines()) {
        let leaf: String = entry.leaf.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(format!("{leaf} {:04x} {:?}", entry.kind, entry.content), expected);
        let unknown = JournalEvent::Unknown { kind: entry.kind };
        let unknown_on_tape = JournalEvent::Tape(TapeEvent::Unknown { kind: entry.kind });
        assert!(entry.event != unknown && entry.event != unknown_on_tape, "{entry:?}");
    }
    assert_eq!(entries.len(), 27);
    assert_eq!(journal.epoch(), Epoch(3));
    let fault = verify(&journal).await.fault.map(|(seq, _)| seq);
    assert_eq!(fault, Some(ERASED), "nothing is wrong but the payload that was taken away");

    let session = samples::session(samples::principal(0), 0);
    let [text, tool, open] = [0, 1, 2].map(|n| SampleRun::new(session, n).run);
    let states = [text, tool, open].map(|run| journal.run(run));
    let mut found = Vec::new();
    for state in states {
        found.push(state.await.unwrap().unwrap().state);
    }
    use RunLifecycleState::{Done, InProgress};
    assert_eq!(found, [Done, Done, InProgress]);
    let by_key = journal.run_by_idempotency(session.principal, IdempotencyDigest([6; 32])).await;
    assert_eq!(by_key, Ok(Some(tool)));
    let output = journal.tape(tool, TapeSeq(6), 1).await.unwrap().entries.remove(0);
    match output.event {
        TapeEvent::Tool(ToolEvent::Finished(finished)) => {
            assert!(*finished.output.expose() == "# README\n".repeat(9_000));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(
        journal.query(|rows, _| agents::all(rows)).await.unwrap()[0].profile.instructions.expose(),
        "Be brief."
    );
    assert_eq!(journal.query(|rows, _| principals::all(rows)).await.unwrap()[0].name.expose(), "user:local");
    assert_eq!(journal.session_by_key(session.principal, "home".to_owned()).await.unwrap().unwrap().runs, 3);
    journal.rebuild(silent()).await.unwrap();
    assert_eq!(journal.open_runs().await.unwrap().len(), 1);
    let next = samples::append(vec![SampleRun::new(session, 9).started("still writable")]);
    journal.append(next).await.unwrap();
}

/// Puts a file of format 1 where a journal is opened.
fn folder_of_format_1() -> Folder {
    let folder = Folder::new();
    std::fs::create_dir_all(folder.state_dir()).unwrap();
    std::fs::copy(kept("journal-v1.db"), folder.database()).unwrap();
    folder
}

fn format_of(file: &Path) -> i32 {
    let connection = Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    connection.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap()
}

#[tokio::test]
async fn a_file_of_format_1_is_copied_and_gets_its_tree() {
    let folder = folder_of_format_1();
    let journal = folder.open();
    let copy = folder.state_dir().join("journal.db.format-1");
    assert_eq!(std::fs::read(&copy).unwrap(), std::fs::read(kept("journal-v1.db")).unwrap());
    assert_eq!((format_of(&copy), format_of(&folder.database())), (1, 2));
    let size: i64 = folder.connect().query_row("SELECT size FROM frontier", [], |row| row.get(0)).unwrap();
    assert_eq!(size.cast_unsigned(), journal.status().entries);
    journal.close().await;
    drop(journal);
    std::fs::remove_file(&copy).unwrap();
    let journal = folder.open();
    assert_eq!(journal.epoch(), Epoch(4));
    assert!(!copy.exists(), "it is made once");
}

#[tokio::test]
async fn the_first_head_of_an_upgraded_log_is_kept_for_it_alone_covers_what_came_before() {
    let folder = folder_of_format_1();
    let journal = folder.open();
    let first = journal.newest_checkpoint().unwrap();
    for n in 20..22 {
        write_runs(&journal, n..n + 1).await;
        journal.sign_checkpoint(KeyChoice::Current).await.unwrap();
    }
    journal.close().await;
    drop(journal);
    let journal = folder.open();
    let run = write_runs(&journal, 22..23).await.remove(0);
    let bundle = export(&journal, Export::Run(run.run)).await.unwrap();
    journal.close().await;
    let starts = heads(&folder);
    assert_eq!((starts.len(), starts[0], starts[1].1), (3, (first.head.size, 1), 2), "{starts:?}");
    let (_, handovers) = bundle.iter().find(|(path, _)| path == "handovers").unwrap();
    assert!(handovers.starts_with(first.note.as_bytes()), "a bundle has it too");
    assert_eq!(verify(&journal).await.fault.map(|(seq, _)| seq), Some(ERASED));
}

#[test]
fn without_space_for_the_copy_nothing_is_changed() {
    let folder = folder_of_format_1();
    let options = OpenOptions { free_space: Some(Arc::new(|| Ok(1_000_000))), ..folder.options() };
    let error = JournalStore::open(&options).unwrap_err();
    assert!(matches!(error, OpenError::NoSpaceToUpgrade { free_bytes: 1_000_000, .. }), "{error:?}");
    assert_eq!(error.code(), ErrorCode::DiskFull);
    assert_eq!(format_of(&folder.database()), 1);
    assert!(!folder.state_dir().join("journal.db.format-1").exists());
    let row = |row: &rusqlite::Row<'_>| row.get::<_, i64>(0);
    let entries: i64 = folder.connect().query_row("SELECT count(*) FROM entry", [], row).unwrap();
    assert_eq!(entries, 27);
    drop(folder.open());
}
