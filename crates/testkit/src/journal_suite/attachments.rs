//! Files beside entries, keys of inputs, and what sessions remember of themselves.

use std::sync::Arc;

use palyra_journal_core::families::resets;
use palyra_journal_core::family::QueryFamilies;
use palyra_ports::read_records::{SessionFilter, SessionQuery};
use palyra_ports::{AppendError, AppendTape, EntryBlobs, Guard, JournalAppendRequest, NewEntry, ReadTape};
use palyra_types::attachment::{Attachment, AttachmentBody, Blob, BlobRef};
use palyra_types::event::{JournalEvent, RunEvent, SessionEvent, TapeEvent};
use palyra_types::run::{IdempotencyDigest, InputDelivery, UserInput};
use palyra_types::{Content, Redacted, Seq, TapeSeq, Timestamp};

use super::JournalFactory;
use super::samples::{self, SampleRun, append};
use crate::JournalReads;

fn bytes(len: usize, seed: u8) -> Blob {
    let bytes: Vec<u8> = (0..len).map(|at| u8::try_from(at % 251).unwrap_or(0).wrapping_add(seed)).collect();
    Redacted::cleaned(Arc::from(bytes))
}

fn attachment(blob: &Blob, index: u32) -> Attachment {
    Attachment {
        name: "picture.png".into(),
        media_type: "image/png".into(),
        bytes: blob.expose().len() as u64,
        sha256: Redacted::cleaned(palyra_ledger::sha256(blob.expose())),
        body: AttachmentBody::Blob { index },
    }
}

fn started_with(run: &mut SampleRun, attachments: Vec<Attachment>) -> NewEntry {
    let mut entry = run.started("look at these");
    if let JournalEvent::Tape(TapeEvent::Run(RunEvent::Started(started))) = &mut entry.event {
        started.input.attachments = attachments;
    }
    entry
}

/// Whatever their size, files come back as they were, by run, entry and index, and pages do not carry them.
pub async fn files_lie_beside_their_entry(factory: &impl JournalFactory) {
    let journal = factory.make();
    let mut run = SampleRun::new(samples::session(samples::principal(0), 0), 0);
    let blobs: Vec<Blob> =
        [0, 1, 65_536, 65_537, 3_000_000].into_iter().zip(0..).map(|(len, seed)| bytes(len, seed)).collect();
    let mut attachments: Vec<Attachment> =
        blobs.iter().zip(0..).map(|(blob, index)| attachment(blob, index)).collect();
    let text = AttachmentBody::Text(Redacted::cleaned("x".repeat(100_000)));
    attachments.insert(1, Attachment { body: text, ..attachments[0].clone() });
    let entry = started_with(&mut run, attachments);
    let written = entry.event.clone();
    let request = JournalAppendRequest {
        entries: vec![entry, run.requested(1)],
        blobs: vec![EntryBlobs { entry: 0, blobs: blobs.clone() }],
        ..JournalAppendRequest::default()
    };
    let first = journal.append(request).await.unwrap().first_seq;
    let page = journal.tape(run.run, TapeSeq(0), 10).await.unwrap();
    assert_eq!(JournalEvent::Tape(page.entries[0].event.clone()), written);
    assert_eq!(page.entries.len(), 2);
    let place = |tape_seq, index| BlobRef { run: run.run, tape_seq: TapeSeq(tape_seq), index };
    for (index, blob) in (0..).zip(&blobs) {
        assert_eq!(journal.blob(place(1, index)).await.unwrap().as_ref(), Some(blob), "blob {index}");
    }
    assert_eq!(journal.blob(place(1, 5)).await.unwrap(), None);
    assert_eq!(journal.blob(place(2, 0)).await.unwrap(), None);
    assert_eq!(journal.blob(place(9, 0)).await.unwrap(), None);
    factory.erase(&journal, first);
    assert_eq!(journal.blob(place(1, 2)).await.unwrap(), None);
}

/// An append whose files are not the ones its entries name changes nothing.
pub async fn files_that_are_not_named_are_refused(factory: &impl JournalFactory) {
    let journal = factory.make();
    let blob = bytes(10, 1);
    let named = attachment(&blob, 0);
    let longer = Attachment { bytes: 11, ..named.clone() };
    let misnumbered = Attachment { body: AttachmentBody::Blob { index: 1 }, ..named.clone() };
    let cases: Vec<(Vec<Attachment>, Vec<EntryBlobs>)> = vec![
        (vec![named.clone()], vec![]),
        (vec![], vec![EntryBlobs { entry: 0, blobs: vec![blob.clone()] }]),
        (vec![longer], vec![EntryBlobs { entry: 0, blobs: vec![blob.clone()] }]),
        (vec![misnumbered], vec![EntryBlobs { entry: 0, blobs: vec![blob.clone()] }]),
        (vec![named.clone()], vec![EntryBlobs { entry: 0, blobs: vec![blob.clone(), blob.clone()] }]),
        (vec![named], vec![EntryBlobs { entry: 1, blobs: vec![blob] }]),
    ];
    for (case, (attachments, blobs)) in cases.into_iter().enumerate() {
        let mut run = SampleRun::new(samples::session(samples::principal(0), 0), 0);
        let entries = vec![started_with(&mut run, attachments)];
        let request = JournalAppendRequest { entries, blobs, ..JournalAppendRequest::default() };
        let refused = journal.append(request).await;
        assert!(matches!(refused, Err(AppendError::Invalid { .. })), "case {case}: {refused:?}");
        assert_eq!(journal.run(run.run).await.unwrap(), None, "case {case}");
    }
}

/// The key of an input that joined a run is as much taken as one that began a run.
pub async fn the_key_of_an_input_leads_to_its_run(factory: &impl JournalFactory) {
    let journal = factory.make();
    let principal = samples::principal(0);
    let mut run = SampleRun::new(samples::session(principal, 0), 0);
    let digest = IdempotencyDigest([7; 32]);
    let unseen = Guard::IdempotencyUnseen { principal, digest };
    let input = TapeEvent::Run(RunEvent::InputReceived {
        input: UserInput::text("and be quick".into()),
        delivery: InputDelivery::Steer,
        idempotency: Some(digest),
    });
    journal.append(append(vec![run.started("x"), run.requested(1)])).await.unwrap();
    assert_eq!(journal.run_by_idempotency(principal, digest).await.unwrap(), None);
    let guards = vec![unseen.clone()];
    let request =
        JournalAppendRequest { guards, entries: vec![run.entry(input)], ..JournalAppendRequest::default() };
    journal.append(request).await.unwrap();
    assert_eq!(journal.run_by_idempotency(principal, digest).await.unwrap(), Some(run.run));
    assert_eq!(journal.run_by_idempotency(samples::principal(1), digest).await.unwrap(), None);
    let mut other = SampleRun::new(samples::session(principal, 0), 1);
    let again = JournalAppendRequest { guards: vec![unseen], ..append(vec![other.started("y")]) };
    assert_eq!(journal.append(again).await, Err(AppendError::GuardFailed { index: 0 }));
}

/// Branches look for the reset that was in force at a place, not for the latest.
pub async fn every_reset_is_found_again(factory: &impl JournalFactory) {
    let journal = factory.make();
    let session = samples::session(samples::principal(0), 0);
    let other = samples::session(samples::principal(0), 1);
    let reset = |session: palyra_types::session::SessionRef, time| NewEntry {
        event: JournalEvent::Session(SessionEvent::Reset { session: session.id }),
        ..samples::session_opened(session, None, Timestamp(time))
    };
    let opened = |session| samples::session_opened(session, None, Timestamp(1));
    journal.append(append(vec![opened(session), opened(other)])).await.unwrap();
    let first = journal.append(append(vec![reset(session, 2)])).await.unwrap().first_seq;
    journal.append(append(vec![reset(other, 3)])).await.unwrap();
    let second = journal.append(append(vec![reset(session, 4)])).await.unwrap().first_seq;
    let before =
        async |seq| journal.query(move |rows, _| resets::latest_before(rows, session, seq)).await.unwrap();
    assert_eq!(before(first).await, None);
    assert_eq!(before(Seq(first.0 + 1)).await, Some(first));
    assert_eq!(before(second).await, Some(first));
    assert_eq!(before(Seq(u64::MAX >> 1)).await, Some(second));
}

/// Titles change, sessions are put away and taken up, and each can be looked for.
pub async fn sessions_are_found_by_their_words(factory: &impl JournalFactory) {
    let journal = factory.make();
    let principal = samples::principal(0);
    let sessions: Vec<_> = (0..4).map(|n| samples::session(principal, n)).collect();
    for (session, time) in sessions.iter().zip(10..) {
        let opened = samples::session_opened(*session, (time == 10).then_some("100% KEY"), Timestamp(time));
        journal.append(append(vec![opened])).await.unwrap();
    }
    let change = |at: usize, event: JournalEvent| NewEntry {
        event,
        ..samples::session_opened(sessions[at], None, Timestamp(20))
    };
    let renamed = |at: usize, label: Option<&str>| {
        change(
            at,
            JournalEvent::Session(SessionEvent::Renamed {
                session: sessions[at].id,
                label: label.map(|label| Redacted::cleaned(label.to_owned())),
            }),
        )
    };
    let archived =
        |at: usize| change(at, JournalEvent::Session(SessionEvent::Archived { session: sessions[at].id }));
    let restored =
        |at: usize| change(at, JournalEvent::Session(SessionEvent::Restored { session: sessions[at].id }));
    let mut run = SampleRun::new(sessions[2], 0);
    let steps = vec![renamed(1, Some("ÄRGER mit dem Drucker")), renamed(0, Some("x")), renamed(0, None)];
    journal.append(append(steps)).await.unwrap();
    journal.append(append(vec![run.started("Why does the printer_ smoke?")])).await.unwrap();
    journal.append(append(vec![archived(2), archived(3), restored(3)])).await.unwrap();
    let found = async |search: Option<&str>, only| {
        let search = search.map(Content::from);
        let query = SessionQuery { principal, after: None, search, only, surface: None, limit: 10 };
        let mut found: Vec<_> = journal.sessions(query).await.unwrap();
        found.sort_by_key(|record| record.session);
        found
            .iter()
            .map(|record| sessions.iter().position(|s| *s == record.session).unwrap())
            .collect::<Vec<_>>()
    };
    let all = SessionFilter::All;
    assert_eq!(found(None, all).await, [0, 1, 2, 3]);
    assert_eq!(found(None, SessionFilter::Current).await, [0, 1, 3]);
    assert_eq!(found(None, SessionFilter::Archived).await, [2]);
    assert_eq!(found(Some("ärger"), all).await, [1]);
    assert_eq!(found(Some("PRINTER_"), all).await, [2]);
    assert_eq!(found(Some("PRINTER_"), SessionFilter::Current).await, [0_usize; 0]);
    assert_eq!(found(Some("0% k"), all).await, [0]);
    assert_eq!(found(Some("%"), all).await, [0]);
    assert_eq!(found(Some("x"), all).await, [0_usize; 0]);
    let record = journal.session(sessions[2]).await.unwrap().unwrap();
    assert_eq!(record.archived, Some(Timestamp(20)));
    assert_eq!(journal.session(sessions[0]).await.unwrap().unwrap().label, None);
}
