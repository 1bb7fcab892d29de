//! What is stored of an event, whole and after an erasure.

use std::sync::Arc;

use palyra_ports::maintain_journal::MaintainJournal;
use palyra_ports::{AppendTape, ReadTape};
use palyra_types::event::{JournalEvent, RunEvent, SessionEvent, TapeEvent, ToolEvent};
use palyra_types::tape::ContentState;
use palyra_types::{Redacted, Seq, TapeSeq, Timestamp};

use super::JournalFactory;
use super::random_appends::RandomAppends;
use super::samples::{self, SampleRun, append};
use crate::JournalReads;

/// Every kind and every variant comes back as it was, empty and strange content included.
pub async fn every_event_is_read_back_as_written(factory: &impl JournalFactory) {
    let journal = factory.make();
    let mut random = RandomAppends::new(11);
    let mut written = Vec::new();
    for _ in 0..300 {
        let request = random.next_append();
        let first = journal.append(request.clone()).await.unwrap().first_seq;
        written.extend((first.0..).zip(request.entries));
    }
    for (seq, entry) in written {
        let read = journal.entries(Seq(seq), 1).await.unwrap().remove(0);
        assert_eq!(read.event, entry.event, "seq {seq}");
        assert_eq!(
            (read.time, read.principal, read.session, read.run),
            (entry.time, entry.principal, entry.session, entry.run)
        );
        assert_eq!(read.content, ContentState::Present);
    }
}

/// Content of any size is one entry, read back whole.
pub async fn large_content_is_read_back_whole(factory: &impl JournalFactory) {
    let journal = factory.make();
    let mut run = SampleRun::new(samples::session(samples::principal(0), 0), 0);
    journal.append(append(vec![run.started("x"), run.requested(1)])).await.unwrap();
    for bytes in [0, 1, 8_000, 8_191, 8_192, 8_193, 65_530, 65_536, 65_540, 131_072, 3_000_000] {
        let output: String =
            (0..bytes).map(|at| char::from(b'a' + u8::try_from(at % 23).unwrap_or(0))).collect();
        let at = run.tape_seq;
        journal.append(append(vec![run.tool_finished(1, &output)])).await.unwrap();
        let page = journal.tape(run.run, at, 1).await.unwrap();
        match &page.entries[0].event {
            TapeEvent::Tool(ToolEvent::Finished(finished)) => {
                assert!(*finished.output.expose() == output, "{bytes} bytes");
            }
            other => panic!("{other:?}"),
        }
    }
}

/// Facts stay, content goes, the place on the tape is kept, and records forget too.
pub async fn erased_entries_keep_their_place_and_lose_their_content(factory: &impl JournalFactory) {
    let journal = factory.make();
    let session = samples::session(samples::principal(0), 0);
    let mut run = SampleRun::new(session, 0);
    let opened = samples::session_opened(session, Some("secret key"), Timestamp(1));
    let opened = journal.append(append(vec![opened])).await.unwrap().first_seq;
    let large = "z".repeat(20_000);
    let entries =
        vec![run.started("my secret"), run.requested(1), run.text(1, "an answer"), run.text(1, &large)];
    let first = journal.append(append(entries)).await.unwrap().first_seq;
    for seq in [opened, first, Seq(first.0 + 2), Seq(first.0 + 3)] {
        factory.erase(&journal, seq);
    }
    journal.rebuild(Arc::new(|_, _| ())).await.unwrap();
    let tape = journal.tape(run.run, TapeSeq(0), 10).await.unwrap().entries;
    assert_eq!(tape.len(), 4);
    let states: Vec<_> = tape.iter().map(|entry| entry.content).collect();
    let gone = ContentState::Erased;
    assert_eq!(states, [gone, ContentState::Present, gone, gone]);
    match &tape[0].event {
        TapeEvent::Run(RunEvent::Started(started)) => {
            assert_eq!(started.input.text, Redacted::default());
            assert_eq!((started.agent, started.config_digest), (samples::agent(), [3; 32]));
            assert_eq!((started.run_salt.expose(), started.model.expose()), (&[0; 32], &None));
            assert_eq!(started.workspace_root.expose().as_os_str(), "");
        }
        other => panic!("{other:?}"),
    }
    let record = journal.run(run.run).await.unwrap().unwrap();
    assert_eq!((record.last_tape_seq, record.input_preview), (TapeSeq(4), Redacted::default()));
    let session = journal.session(session).await.unwrap().unwrap();
    assert_eq!((session.key, session.runs), (None, 1));
    let raw = journal.entries(opened, 1).await.unwrap().remove(0);
    assert!(matches!(raw.event, JournalEvent::Session(SessionEvent::Opened { key: None, .. })), "{raw:?}");
}

/// Records folded anew are the records that were there.
pub async fn a_rebuild_changes_nothing(factory: &impl JournalFactory) {
    let journal = factory.make();
    let mut random = RandomAppends::new(5);
    for _ in 0..200 {
        journal.append(random.next_append()).await.unwrap();
    }
    let before = random.records(&journal).await;
    let entries = journal.rebuild(Arc::new(|_, _| ())).await.unwrap();
    assert_eq!(entries, journal.status().entries);
    assert_eq!(random.records(&journal).await, before);
}
