//! Database files of every released format still open, verify and say what they said.
//!
//! The files are made once per format by the example `write_fixture` and never changed afterwards.

use std::path::Path;

use palyra_ports::maintain_journal::MaintainJournal;
use palyra_ports::read_records::ReadRecords;
use palyra_ports::{AppendTape, ReadTape};
use palyra_testkit::journal_suite::samples::{self, SampleRun};
use palyra_types::event::{JournalEvent, TapeEvent};
use palyra_types::run::{IdempotencyDigest, RunLifecycleState};
use palyra_types::{Epoch, Seq, TapeSeq};

use crate::opened::Folder;
use crate::written::{silent, verify};

/// The entry whose payload was taken away before the file was kept.
const ERASED: Seq = Seq(10);

fn kept(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

#[tokio::test]
async fn the_file_of_format_1_still_says_what_it_said() {
    let folder = Folder::new();
    std::fs::create_dir_all(folder.state_dir()).unwrap();
    std::fs::copy(kept("journal-v1.db"), folder.database()).unwrap();
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
        TapeEvent::ToolFinished(finished) => assert!(*finished.output.expose() == "# README\n".repeat(9_000)),
        other => panic!("{other:?}"),
    }
    assert_eq!(journal.agents().await.unwrap()[0].profile.instructions.expose(), "Be brief.");
    assert_eq!(journal.principals().await.unwrap()[0].name.expose(), "user:local");
    assert_eq!(journal.session_by_key(session.principal, "home".to_owned()).await.unwrap().unwrap().runs, 3);
    journal.rebuild(silent()).await.unwrap();
    assert_eq!(journal.open_runs().await.unwrap().len(), 1);
    let next = samples::append(vec![SampleRun::new(session, 9).started("still writable")]);
    journal.append(next).await.unwrap();
}
