//! Reading in pages.

use palyra_ports::maintain_journal::MaintainJournal;
use palyra_ports::read_tape::{MAX_TAPE_ENTRIES_PER_RESPONSE, MoreEntries, TAPE_PAGE_BYTES_MAX};
use palyra_ports::{AppendTape, ReadTape};
use palyra_types::event::TapeEvent;
use palyra_types::{Seq, TapeSeq};

use super::JournalFactory;
use super::samples::{self, SampleRun, append};

/// Pages of any size, joined, are the tape.
pub async fn pages_join_without_gap_or_overlap(factory: &impl JournalFactory) {
    let journal = factory.make();
    let mut run = SampleRun::new(samples::session(samples::principal(0), 0), 0);
    journal.append(append(vec![run.started("hello"), run.requested(1)])).await.unwrap();
    for _ in 0..5 {
        let texts = (0..240).map(|_| run.text(1, "word ")).collect();
        journal.append(append(texts)).await.unwrap();
    }
    let total = run.tape_seq.0;
    for limit in [1, 7, 999, 1_000, 5_000, usize::MAX] {
        let mut after = TapeSeq(if limit == 1 { total - 5 } else { 0 });
        loop {
            let page = journal.tape(run.run, after, limit).await.unwrap();
            let wanted = limit.min(MAX_TAPE_ENTRIES_PER_RESPONSE).min((total - after.0) as usize);
            assert_eq!(page.entries.len(), wanted, "limit {limit} after {after}");
            for entry in &page.entries {
                assert_eq!(entry.tape_seq, after.next());
                after = entry.tape_seq;
            }
            let rest = if after.0 < total { MoreEntries::Some } else { MoreEntries::None };
            assert_eq!(page.more, rest);
            if rest == MoreEntries::None {
                break;
            }
        }
        assert_eq!(after.0, total);
    }
    for after in [total + 7, u32::MAX] {
        let beyond = journal.tape(run.run, TapeSeq(after), 10).await.unwrap();
        assert_eq!((beyond.entries.len(), beyond.more), (0, MoreEntries::None));
    }
}

/// Large entries make short pages.
pub async fn a_page_holds_at_most_its_bytes_and_at_least_one_entry(factory: &impl JournalFactory) {
    let journal = factory.make();
    let mut run = SampleRun::new(samples::session(samples::principal(0), 0), 0);
    journal.append(append(vec![run.started("hello"), run.requested(1)])).await.unwrap();
    let large = "x".repeat(TAPE_PAGE_BYTES_MAX + 1_000);
    let half = "y".repeat(TAPE_PAGE_BYTES_MAX * 2 / 5);
    let texts = [&large, &half, &half, &half].map(|text| run.text(1, text));
    journal.append(append(texts.to_vec())).await.unwrap();
    let mut pages = Vec::new();
    let mut after = TapeSeq(0);
    loop {
        let page = journal.tape(run.run, after, 100).await.unwrap();
        pages.push(page.entries.len());
        after = page.entries.last().map_or(after, |entry| entry.tape_seq);
        if page.more == MoreEntries::None {
            break;
        }
    }
    assert_eq!(pages, [2, 1, 2, 1]);
    assert_eq!(after, run.tape_seq);
}

/// Runs of a session that overlap are read in the order in which they were written.
pub async fn a_session_is_read_in_the_journals_order(factory: &impl JournalFactory) {
    let journal = factory.make();
    let session = samples::session(samples::principal(0), 0);
    let elsewhere = samples::session(samples::principal(1), 0);
    let mut runs: Vec<SampleRun> = (0..6).map(|n| SampleRun::new(session, n)).collect();
    let mut other = SampleRun::new(elsewhere, 9);
    let mut written = Vec::new();
    journal.append(append(vec![other.started("not ours"), other.requested(1)])).await.unwrap();
    for round in 0..8 {
        for (at, run) in runs.iter_mut().enumerate() {
            if round < at {
                continue;
            }
            let entry = match run.tape_seq {
                TapeSeq(0) => run.started("hello"),
                TapeSeq(1) => run.requested(1),
                _ => run.text(1, "x"),
            };
            written.push(journal.append(append(vec![entry])).await.unwrap().first_seq);
            journal.append(append(vec![other.text(1, "not ours")])).await.unwrap();
        }
    }
    for limit in [1, 4, 1_000] {
        let mut after = None;
        let mut read = Vec::new();
        loop {
            let page = journal.session_tape(session, after, limit).await.unwrap();
            assert!(page.entries.len() <= limit);
            assert!(page.entries.iter().all(|entry| entry.session == session.id));
            assert!(page.entries.iter().all(|entry| !matches!(entry.event, TapeEvent::Unknown { .. })));
            read.extend(page.entries.iter().map(|entry| entry.seq));
            after = read.last().copied();
            if page.more == MoreEntries::None {
                break;
            }
        }
        assert_eq!(read, written, "limit {limit}");
    }
}

/// The raw journal is numbered from zero without gaps.
pub async fn raw_entries_are_read_from_anywhere(factory: &impl JournalFactory) {
    let journal = factory.make();
    let mut run = SampleRun::new(samples::session(samples::principal(0), 0), 0);
    for request in run.text_run() {
        journal.append(request).await.unwrap();
    }
    let total = journal.status().entries;
    let all = journal.entries(Seq(0), 1_000).await.unwrap();
    assert_eq!(all.len() as u64, total);
    assert!(all.iter().zip(0..).all(|(entry, seq)| entry.seq == Seq(seq)));
    let some = journal.entries(Seq(total - 2), 1).await.unwrap();
    assert_eq!(some.as_slice(), &all[all.len() - 2..all.len() - 1]);
    assert!(journal.entries(Seq(total), 10).await.unwrap().is_empty());
}
