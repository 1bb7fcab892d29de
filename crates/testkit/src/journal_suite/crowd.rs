//! Many callers at once.

use palyra_ports::maintain_journal::MaintainJournal;
use palyra_ports::{AppendError, AppendTape, Guard, JournalAppendRequest, ReadTape};
use palyra_types::TapeSeq;
use palyra_types::run::RunLifecycleState;

use super::JournalFactory;
use super::samples::{self, SampleRun, append};
use crate::JournalReads;

/// Each task's appends keep their order, whatever happens between them.
pub async fn appends_from_many_tasks_keep_each_runs_order(factory: &impl JournalFactory) {
    let journal = factory.make();
    let before = journal.status().entries;
    let tasks = (0..32).map(|n| {
        let journal = journal.clone();
        tokio::spawn(async move {
            let mut run = SampleRun::new(samples::session(samples::principal(n.into()), 0), n);
            for request in run.text_run() {
                journal.append(request).await.unwrap();
            }
            // Several in flight at once keep the order in which they were handed over.
            let later: Vec<_> = (0..10).map(|_| journal.append(append(vec![run.text(2, "more")]))).collect();
            futures::future::join_all(later)
                .await
                .into_iter()
                .for_each(|result| assert!(result.is_ok(), "{result:?}"));
            run
        })
    });
    let runs = futures::future::join_all(tasks).await;
    for run in runs.into_iter().map(Result::unwrap) {
        let page = journal.tape(run.run, TapeSeq(0), 100).await.unwrap();
        let numbers: Vec<u32> = page.entries.iter().map(|entry| entry.tape_seq.0).collect();
        assert_eq!(numbers, (1..=16).collect::<Vec<_>>());
        assert!(page.entries.is_sorted_by_key(|entry| entry.seq));
    }
    assert_eq!(journal.status().entries, before + 32 * 16);
}

/// Whoever got a receipt finds the entry, in tape and record.
pub async fn what_was_acknowledged_is_read_at_once(factory: &impl JournalFactory) {
    let journal = factory.make();
    for n in 0..20 {
        let mut run = SampleRun::new(samples::session(samples::principal(0), 0), n);
        journal.append(append(vec![run.started("x")])).await.unwrap();
        assert_eq!(journal.tape(run.run, TapeSeq(0), 10).await.unwrap().entries.len(), 1);
        journal.append(append(vec![run.requested(1), run.finished()])).await.unwrap();
        let record = journal.run(run.run).await.unwrap().unwrap();
        assert_eq!((record.state, record.last_tape_seq), (RunLifecycleState::Done, TapeSeq(3)));
    }
}

/// Of appends that all want to be the next one, one is.
pub async fn of_rivals_for_one_place_one_wins(factory: &impl JournalFactory) {
    let journal = factory.make();
    let mut run = SampleRun::new(samples::session(samples::principal(0), 0), 0);
    journal.append(append(vec![run.started("x")])).await.unwrap();
    let next = run.requested(1);
    let request = JournalAppendRequest {
        guards: vec![Guard::RunAt { run: run.run, tape_seq: TapeSeq(1) }],
        ..append(vec![next])
    };
    let rivals: Vec<_> = (0..16).map(|_| journal.append(request.clone())).collect();
    let results = futures::future::join_all(rivals).await;
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
    let lost = Err(AppendError::GuardFailed { index: 0 });
    assert_eq!(results.iter().filter(|result| **result == lost).count(), 15);
}

/// Nobody waiting for the answer does not undo the append.
pub async fn a_dropped_future_takes_nothing_back(factory: &impl JournalFactory) {
    let journal = factory.make();
    let mut run = SampleRun::new(samples::session(samples::principal(0), 0), 0);
    drop(journal.append(append(vec![run.started("x")])));
    journal.append(append(vec![run.requested(1)])).await.unwrap();
    assert_eq!(journal.tape(run.run, TapeSeq(0), 10).await.unwrap().entries.len(), 2);
}
