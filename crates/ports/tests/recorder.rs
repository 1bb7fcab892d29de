//! The recorder says of each entry what the redactor did to it, whichever field it did it to, and changes nothing.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

use std::sync::{Arc, Mutex};

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_ports::append_tape::APPEND_BYTES_MAX;
use palyra_ports::redactor::{CleanedText, RedactStream};
use palyra_ports::{
    AppendClass, AppendError, AppendTape, AttachedData, CommitReceipt, EntryBlobs, Guard,
    JournalAppendRequest, NewEntry, Recorder, Redactor,
};
use palyra_testkit::journal_suite::content_examples::examples;
use palyra_testkit::journal_suite::samples;
use palyra_testkit::{FakeClock, PassThrough};
use palyra_types::event::JournalEvent;
use palyra_types::event::content::ContentLeaf;
use palyra_types::{Content, PrincipalId, Redacted, RunId, Seq, TapeSeq, Timestamp};

/// Keeps what is appended.
#[derive(Clone, Default)]
struct KeptAppends(Arc<Mutex<Vec<JournalAppendRequest>>>);

impl AppendTape for KeptAppends {
    fn append(
        &self,
        request: JournalAppendRequest,
    ) -> BoxFuture<'static, Result<CommitReceipt, AppendError>> {
        self.0.lock().unwrap().push(request);
        async { Ok(CommitReceipt { first_seq: Seq(0) }) }.boxed()
    }
}

/// Finds nothing, with rules of number 7.
struct SeventhRules;

impl Redactor for SeventhRules {
    fn ruleset(&self) -> u32 {
        7
    }

    fn redact(&self, text: Content<String>) -> CleanedText {
        PassThrough.redact(text)
    }

    fn redact_json(&self, text: Content<String>) -> CleanedText {
        PassThrough.redact(text)
    }

    fn begin(&self) -> Box<dyn RedactStream> {
        PassThrough.begin()
    }
}

fn recorder(journal: &KeptAppends) -> Recorder {
    Recorder::new(Arc::new(journal.clone()), Arc::new(SeventhRules), Arc::new(FakeClock::new()))
}

fn entry(event: JournalEvent) -> NewEntry {
    NewEntry { time: Timestamp(1), principal: PrincipalId::NIL, session: None, run: None, event }
}

#[test]
fn a_placeholder_in_any_content_field_marks_its_entry_and_no_other() {
    let journal = KeptAppends::default();
    let recorder = recorder(&journal);
    for example in examples() {
        let mut is_text = true;
        example.event.for_each_content(&mut |field, leaf| {
            is_text &= field != example.field || !matches!(leaf, ContentLeaf::Opaque(_));
        });
        let planted = example.planted("a <secret:token> b");
        let events = [example.planted("a b"), planted, example.planted("a b")];
        let appending = recorder.record(events.clone().map(entry).into(), AppendClass::Normal, Vec::new());
        appending.now_or_never().unwrap().unwrap();
        let request = journal.0.lock().unwrap().pop().unwrap();
        let expected: &[usize] = if is_text { &[1] } else { &[] };
        assert_eq!(request.redaction.entries, expected, "{}", example.field);
        assert_eq!(request.redaction.ruleset, 7);
        let recorded: Vec<_> = request.entries.into_iter().map(|entry| entry.event).collect();
        assert_eq!(recorded, events, "{}: an entry was changed", example.field);
    }
}

#[test]
fn class_guards_and_data_beside_the_entries_are_handed_on() {
    let journal = KeptAppends::default();
    let run = RunId::from_parts(1, 2);
    let guard = Guard::RunAt { run, tape_seq: TapeSeq(3) };
    let blobs = vec![EntryBlobs { entry: 0, blobs: vec![Redacted::cleaned(Arc::from(&b"bytes"[..]))] }];
    let attached = AttachedData { blobs, ..AttachedData::default() };
    let session = samples::session(samples::principal(0), 0);
    let opened = samples::session_opened(session, Some("k"), Timestamp(1));
    let recorder = recorder(&journal);
    let appending =
        recorder.record_with(vec![opened], AppendClass::Ending, vec![guard.clone()], attached.clone());
    appending.now_or_never().unwrap().unwrap();
    let request = journal.0.lock().unwrap().pop().unwrap();
    assert_eq!((request.class, request.guards), (AppendClass::Ending, vec![guard]));
    assert_eq!(request.blobs[0].blobs, attached.blobs[0].blobs);
}

#[test]
fn more_content_than_a_journal_takes_is_refused_before_it_is_queued() {
    let journal = KeptAppends::default();
    let session = samples::session(samples::principal(0), 0);
    let record = |bytes: usize| {
        let opened = samples::session_opened(session, Some(&"k".repeat(bytes)), Timestamp(1));
        recorder(&journal).record(vec![opened], AppendClass::Normal, Vec::new()).now_or_never().unwrap()
    };
    assert!(record(APPEND_BYTES_MAX - 1_000).is_ok(), "the control");
    assert!(matches!(record(APPEND_BYTES_MAX + 1), Err(AppendError::Invalid { .. })));
    assert_eq!(journal.0.lock().unwrap().len(), 1);
}
