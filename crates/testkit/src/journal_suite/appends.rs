//! What an append may and may not do.

use std::sync::Arc;

use palyra_ports::append_tape::APPEND_ENTRIES_MAX;
use palyra_ports::maintain_journal::MaintainJournal;
use palyra_ports::read_tape::MoreEntries;
use palyra_ports::{AppendError, AppendTape, JournalAppendRequest, ReadTape, StaticText};
use palyra_types::event::{JournalEvent, LogEvent, TapeEvent};
use palyra_types::tape::ContentState;
use palyra_types::{Epoch, RunId, Seq, TapeSeq};

use super::JournalFactory;
use super::samples::{self, SampleRun, append};

fn run(n: u64) -> SampleRun {
    SampleRun::new(samples::session(samples::principal(0), 0), n)
}

/// A tape is its entries, numbered from 1, in order.
pub async fn tapes_are_dense_and_read_back_as_written(factory: &impl JournalFactory) {
    let journal = factory.make();
    let mut run = run(0);
    let mut written = Vec::new();
    for request in run.text_run() {
        written.extend(request.entries.clone());
        journal.append(request).await.unwrap();
    }
    let page = journal.tape(run.run, TapeSeq(0), 1_000).await.unwrap();
    assert_eq!(page.more, MoreEntries::None);
    assert_eq!(page.entries.len(), written.len());
    for ((at, read), written) in (1..).zip(&page.entries).zip(&written) {
        assert_eq!(read.tape_seq, TapeSeq(at));
        assert_eq!(written.run, Some((read.run, read.tape_seq)));
        assert_eq!((read.principal, Some(read.session)), (written.principal, written.session));
        assert_eq!((read.time, read.content), (written.time, ContentState::Present));
        assert_eq!(JournalEvent::Tape(read.event.clone()), written.event);
    }
    assert!(page.entries.is_sorted_by_key(|entry| entry.seq));
    let nobody = journal.tape(RunId::from_parts(1, 1), TapeSeq(0), 10).await.unwrap();
    assert_eq!((nobody.entries.len(), nobody.more), (0, MoreEntries::None));
}

/// Entries of one append stand next to each other, or nowhere.
pub async fn an_append_is_all_or_nothing(factory: &impl JournalFactory) {
    let journal = factory.make();
    let mut first = run(0);
    let mut broken = run(1);
    let before = journal.status().entries;
    let mut entries = vec![broken.started("one"), broken.requested(1), broken.text(1, "x")];
    entries[2].run = Some((broken.run, TapeSeq(9)));
    let refused = journal.append(append(entries)).await;
    assert!(matches!(refused, Err(AppendError::Invalid { .. })), "{refused:?}");
    assert_eq!(journal.status().entries, before);
    assert!(journal.tape(broken.run, TapeSeq(0), 10).await.unwrap().entries.is_empty());

    let committed = journal.append(append(vec![first.started("two"), first.requested(1)])).await.unwrap();
    assert_eq!(committed.first_seq, Seq(before));
    let seqs: Vec<_> = journal.tape(first.run, TapeSeq(0), 10).await.unwrap().entries;
    assert_eq!(seqs.iter().map(|entry| entry.seq.0).collect::<Vec<_>>(), [before, before + 1]);
}

/// A tape number is the next one, and a run stays with its session and principal.
pub async fn tape_numbers_out_of_line_are_refused(factory: &impl JournalFactory) {
    let journal = factory.make();
    let mut run = run(0);
    journal.append(append(vec![run.started("hello")])).await.unwrap();
    let next = run.requested(1);
    let mut bad = Vec::new();
    for tape_seq in [0, 3, 7] {
        let mut entry = next.clone();
        entry.run = Some((run.run, TapeSeq(tape_seq)));
        bad.push(entry);
    }
    let mut foreign = next.clone();
    foreign.principal = samples::principal(1);
    bad.push(foreign);
    let mut elsewhere = next.clone();
    elsewhere.session = Some(samples::session(samples::principal(0), 5).id);
    bad.push(elsewhere);
    for entry in bad {
        let refused = journal.append(append(vec![entry.clone()])).await;
        assert!(matches!(refused, Err(AppendError::Invalid { .. })), "{entry:?}: {refused:?}");
    }
    journal.append(append(vec![next])).await.unwrap();
}

/// Each kind has its place.
pub async fn entries_in_the_wrong_place_are_refused(factory: &impl JournalFactory) {
    let journal = factory.make();
    let mut run = run(0);
    let start = run.started("hello");
    let mut without_run = start.clone();
    without_run.run = None;
    let mut without_session = start.clone();
    without_session.session = None;
    let mut not_a_start = run.text(1, "x");
    not_a_start.run = start.run;
    let mut session_on_tape = samples::session_opened(run.session, None, run.time);
    session_on_tape.run = start.run;
    let mut unknown = start.clone();
    unknown.event = JournalEvent::Tape(TapeEvent::Unknown { kind: 7 });
    let mut own = samples::session_opened(run.session, None, run.time);
    own.event = JournalEvent::Log(LogEvent::EpochStarted { epoch: Epoch(9), key: [1; 32], sealing: None });
    for entry in [without_run, without_session, not_a_start, session_on_tape, unknown, own] {
        let refused = journal.append(append(vec![entry.clone()])).await;
        assert!(matches!(refused, Err(AppendError::Invalid { .. })), "{entry:?}: {refused:?}");
    }
    journal.append(append(vec![start])).await.unwrap();
}

/// As many entries as the limit says fit; one more does not, nor does none.
pub async fn limits_hold_in_both_directions(factory: &impl JournalFactory) {
    let journal = factory.make();
    let full = |n: u64, count: usize| {
        let mut run = run(n);
        let mut entries = vec![run.started("hello"), run.requested(1)];
        entries.extend((2..count).map(|_| run.text(1, "x")));
        append(entries)
    };
    let refused = journal.append(append(Vec::new())).await;
    assert!(matches!(refused, Err(AppendError::Invalid { .. })), "{refused:?}");
    let refused = journal.append(full(0, APPEND_ENTRIES_MAX + 1)).await;
    assert!(matches!(refused, Err(AppendError::Invalid { .. })), "{refused:?}");
    journal.append(full(0, APPEND_ENTRIES_MAX)).await.unwrap();
}

/// A static text is given with every append that names it, and stored once.
pub async fn statics_may_come_again(factory: &impl JournalFactory) {
    let journal = factory.make();
    // SHA-256 of "instructions".
    let sha256 = [
        0x23, 0x8f, 0xa2, 0x8a, 0x94, 0x97, 0x6c, 0x7d, 0xa1, 0x45, 0x63, 0xbc, 0x87, 0x3c, 0x27, 0x29, 0xbd,
        0x5c, 0xd3, 0x25, 0x38, 0x90, 0x85, 0xbb, 0x4c, 0x6d, 0xd0, 0xde, 0x28, 0x92, 0x35, 0x90,
    ];
    for n in 0..3 {
        let text = StaticText { sha256, body: Arc::from("instructions") };
        let request = JournalAppendRequest { statics: vec![text], ..append(vec![run(n).started("hello")]) };
        journal.append(request).await.unwrap();
    }
}
