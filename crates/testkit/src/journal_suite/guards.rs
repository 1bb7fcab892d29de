//! The conditions of an append.

use palyra_ports::maintain_journal::MaintainJournal;
use palyra_ports::{AppendError, AppendTape, Guard, JournalAppendRequest, ReadTape};
use palyra_types::TapeSeq;
use palyra_types::run::IdempotencyDigest;

use super::JournalFactory;
use super::samples::{self, SampleRun, append};
use crate::JournalReads;

fn guarded(request: JournalAppendRequest, guards: Vec<Guard>) -> JournalAppendRequest {
    JournalAppendRequest { guards, ..request }
}

/// Zero stands for a run that does not exist.
pub async fn a_run_must_stand_where_the_guard_says(factory: &impl JournalFactory) {
    let journal = factory.make();
    let mut run = SampleRun::new(samples::session(samples::principal(0), 0), 0);
    let at = |tape_seq| {
        vec![Guard::RunAt {
            run: SampleRun::new(samples::session(samples::principal(0), 0), 0).run,
            tape_seq: TapeSeq(tape_seq),
        }]
    };
    let start = append(vec![run.started("hello")]);
    let failed = Err(AppendError::GuardFailed { index: 0 });
    assert_eq!(journal.append(guarded(start.clone(), at(1))).await, failed);
    journal.append(guarded(start.clone(), at(0))).await.unwrap();
    assert_eq!(journal.append(guarded(start, at(0))).await, failed);
    let next = append(vec![run.requested(1)]);
    assert_eq!(journal.append(guarded(next.clone(), at(0))).await, failed);
    assert_eq!(journal.append(guarded(next.clone(), at(2))).await, failed);
    journal.append(guarded(next, at(1))).await.unwrap();
}

/// Guards are checked in order, the first that fails is named, and others' appends go on.
pub async fn a_failed_guard_refuses_its_append_alone(factory: &impl JournalFactory) {
    let journal = factory.make();
    let session = samples::session(samples::principal(0), 0);
    let entries = journal.status().entries;
    let mut appends = Vec::new();
    for n in 0..20 {
        let mut run = SampleRun::new(session, n);
        let expected = if n % 2 == 0 { TapeSeq(0) } else { TapeSeq(5) };
        let guards = vec![
            Guard::SessionAbsent { session, key: None },
            Guard::RunAt { run: run.run, tape_seq: expected },
        ];
        appends.push(journal.append(guarded(append(vec![run.started("hello")]), guards)));
    }
    for (n, result) in futures::future::join_all(appends).await.into_iter().enumerate() {
        match n % 2 {
            0 => assert!(result.is_ok(), "{n}: {result:?}"),
            _ => assert_eq!(result, Err(AppendError::GuardFailed { index: 1 })),
        }
    }
    assert_eq!(journal.status().entries, entries + 10);
}

/// The second run with a key is refused, by the guard and without it; another principal's is not.
pub async fn an_idempotency_key_starts_one_run(factory: &impl JournalFactory) {
    let journal = factory.make();
    let digest = IdempotencyDigest([1; 32]);
    let start = |principal: u128, n: u64| {
        let principal = samples::principal(principal);
        let mut run = SampleRun::new(samples::session(principal, 0), n);
        run.idempotency = Some(digest);
        (vec![Guard::IdempotencyUnseen { principal, digest }], append(vec![run.started("hello")]), run.run)
    };
    let (guards, request, run) = start(0, 0);
    journal.append(guarded(request, guards)).await.unwrap();
    let (guards, request, again) = start(0, 1);
    let refused = journal.append(guarded(request.clone(), guards)).await;
    assert_eq!(refused, Err(AppendError::GuardFailed { index: 0 }));
    let refused = journal.append(request).await;
    assert!(matches!(refused, Err(AppendError::Invalid { .. })), "{refused:?}");
    assert!(journal.tape(again, TapeSeq(0), 1).await.unwrap().entries.is_empty());
    let (guards, request, foreign) = start(1, 2);
    journal.append(guarded(request, guards)).await.unwrap();
    let found = |principal| journal.run_by_idempotency(samples::principal(principal), digest);
    assert_eq!(found(0).await, Ok(Some(run)));
    assert_eq!(found(1).await, Ok(Some(foreign)));
    assert_eq!(found(2).await, Ok(None));
}

/// A run is in progress from its first model request to its end.
pub async fn one_run_of_a_session_is_in_progress(factory: &impl JournalFactory) {
    let journal = factory.make();
    let session = samples::session(samples::principal(0), 0);
    let [mut first, mut second] = [0, 1].map(|n| SampleRun::new(session, n));
    let mut elsewhere = SampleRun::new(samples::session(samples::principal(1), 0), 2);
    journal.append(append(vec![first.started("one")])).await.unwrap();
    journal.append(append(vec![second.started("two")])).await.unwrap();
    let alone = |run: &SampleRun| vec![Guard::NoOtherRunInProgress { session: run.session, run: run.run }];
    let begin = guarded(append(vec![first.requested(1)]), alone(&first));
    journal.append(begin).await.unwrap();
    let begin = guarded(append(vec![second.requested(1)]), alone(&second));
    assert_eq!(journal.append(begin.clone()).await, Err(AppendError::GuardFailed { index: 0 }));
    let mine = guarded(append(vec![first.text(1, "x")]), alone(&first));
    journal.append(mine).await.unwrap();
    let other = guarded(append(vec![elsewhere.started("x"), elsewhere.requested(1)]), alone(&elsewhere));
    journal.append(other).await.unwrap();
    journal.append(append(vec![first.message(1, 0), first.finished()])).await.unwrap();
    journal.append(begin).await.unwrap();
}

/// A session is opened once; a key belongs to one session of a principal.
pub async fn a_session_and_its_key_are_given_once(factory: &impl JournalFactory) {
    let journal = factory.make();
    let time = palyra_types::Timestamp(1);
    let open = |principal: u128, n: u128, key: &'static str| {
        let session = samples::session(samples::principal(principal), n);
        let guards = vec![Guard::SessionAbsent { session, key: Some(key.into()) }];
        guarded(append(vec![samples::session_opened(session, Some(key), time)]), guards)
    };
    journal.append(open(0, 0, "home")).await.unwrap();
    let failed = Err(AppendError::GuardFailed { index: 0 });
    assert_eq!(journal.append(open(0, 0, "other")).await, failed);
    assert_eq!(journal.append(open(0, 1, "home")).await, failed);
    journal.append(open(0, 1, "other")).await.unwrap();
    journal.append(open(1, 0, "home")).await.unwrap();
    let unguarded = guarded(open(0, 2, "home"), Vec::new());
    let refused = journal.append(unguarded).await;
    assert!(matches!(refused, Err(AppendError::Invalid { .. })), "{refused:?}");
}
