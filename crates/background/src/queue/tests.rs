//! The queue over a journal in memory, on a fake clock.

mod crashes;
mod many;
mod rig;

use std::time::Duration;

use palyra_ports::{AppendError, Clock};
use palyra_types::queued_task::{AttemptEnd, TaskKind, TaskStage};
use palyra_types::{PrincipalId, QueuedTaskId, Timestamp};

use self::rig::{Rig, Script, actor, new_task};
use super::*;

const REPEATED: TaskKind = TaskKind::SessionCleanup;
const OPAQUE: TaskKind = TaskKind::OutboxSend;

#[tokio::test]
async fn a_task_is_performed_once_it_is_due_and_is_done() {
    let rig = Rig::start();
    rig.quiet().await;
    let due = Timestamp(rig.now().0 + 90_000_000);
    let receipt = rig.enqueue(NewTask { due: Some(due), ..new_task(REPEATED, 1) }).await;
    assert!(receipt.is_new);
    rig.quiet().await;
    assert_eq!((rig.begun(), rig.stage(receipt.task).await), (0, TaskStage::Waiting));
    for seconds in [60, 29] {
        rig.clock.advance(Duration::from_secs(seconds));
        rig.quiet().await;
    }
    assert_eq!(rig.begun(), 0, "not before its time");
    rig.clock.advance(Duration::from_secs(1));
    rig.stage_is(receipt.task, TaskStage::Done).await;
    let record = rig.record(receipt.task).await;
    assert_eq!((rig.begun(), record.attempts, record.fence.0), (1, 1, 1));
    assert_eq!(rig.task_entries().await, 3, "enqueued, leased, ended");
}

#[tokio::test]
async fn a_task_is_open_until_it_is_done_or_waits_for_a_person() {
    let rig = Rig::start();
    assert!(!rig.queue.has_open_tasks().await.unwrap());
    let due = Timestamp(rig.now().0 + 90_000_000);
    let later = rig.enqueue(NewTask { due: Some(due), ..new_task(REPEATED, 1) }).await.task;
    assert!(rig.queue.has_open_tasks().await.unwrap(), "it waits for its time");
    rig.clock.advance(Duration::from_secs(90));
    rig.stage_is(later, TaskStage::Done).await;
    assert!(!rig.queue.has_open_tasks().await.unwrap());
    rig.script(OPAQUE, [Script::UntilStopped, Script::Doubt]);
    let first = rig.enqueue(new_task(OPAQUE, 2)).await.task;
    rig.stage_is(first, TaskStage::Leased).await;
    assert!(rig.queue.has_open_tasks().await.unwrap(), "a worker is at it");
    rig.queue.act(actor(), PersonAct::Cancel, first).await.unwrap();
    rig.stage_is(first, TaskStage::Cancelled).await;
    let second = rig.enqueue(new_task(OPAQUE, 3)).await.task;
    rig.stage_is(second, TaskStage::OutcomeUnknown).await;
    assert!(!rig.queue.has_open_tasks().await.unwrap(), "only a person goes on with it");
}

#[tokio::test]
async fn one_task_of_a_subject_is_open_at_a_time() {
    let rig = Rig::start();
    rig.script(REPEATED, [Script::UntilStopped]);
    let first = rig.enqueue(new_task(REPEATED, 1)).await;
    rig.stage_is(first.task, TaskStage::Leased).await;
    let again = rig.enqueue(new_task(REPEATED, 1)).await;
    assert_eq!((again.task, again.is_new), (first.task, false));
    let other = NewTask { principal: PrincipalId::from_parts(9, 2), ..new_task(REPEATED, 1) };
    assert!(rig.enqueue(other).await.is_new, "of another principal");
    rig.queue.act(actor(), PersonAct::Cancel, first.task).await.unwrap();
    rig.stage_is(first.task, TaskStage::Cancelled).await;
    assert!(rig.enqueue(new_task(REPEATED, 1)).await.is_new);
    let both =
        tokio::join!(rig.queue.enqueue(new_task(REPEATED, 7)), rig.queue.enqueue(new_task(REPEATED, 7)));
    let (one, two) = (both.0.unwrap(), both.1.unwrap());
    assert_eq!((one.task, one.is_new, two.is_new), (two.task, true, false), "in one batch");
}

#[tokio::test]
async fn a_failed_attempt_is_repeated_after_its_pause_until_the_task_is_a_dead_letter() {
    let rig = Rig::start();
    let attempts = palyra_queue::rules(REPEATED).attempts_max;
    rig.script(REPEATED, (0..attempts).map(|_| Script::Fail));
    let task = rig.enqueue(new_task(REPEATED, 1)).await.task;
    for attempt in 1..attempts {
        rig.begun_is(attempt as usize).await;
        rig.stage_is(task, TaskStage::Waiting).await;
        rig.clock.advance(Duration::from_secs(60 * 60));
    }
    rig.stage_is(task, TaskStage::DeadLetter).await;
    let record = rig.record(task).await;
    assert_eq!(
        (record.last_end, record.explanation.expose().as_str()),
        (Some(AttemptEnd::Failed), "no room")
    );
    assert!(matches!(
        rig.queue.act(actor(), PersonAct::Cancel, task).await,
        Err(QueueError::WrongStage { stage: TaskStage::DeadLetter, .. })
    ));
    rig.queue.act(actor(), PersonAct::Retry, task).await.unwrap();
    rig.stage_is(task, TaskStage::Done).await;
    let unknown = QueuedTaskId::from_parts(1, 1);
    assert!(matches!(rig.queue.act(actor(), PersonAct::Drop, unknown).await, Err(QueueError::NotFound)));
}

#[tokio::test]
async fn a_panic_and_a_doubt_are_repeated_only_where_the_kind_says_so() {
    let rig = Rig::start();
    rig.script(REPEATED, [Script::Panic]);
    rig.script(OPAQUE, [Script::Panic, Script::Doubt]);
    let repeated = rig.enqueue(new_task(REPEATED, 1)).await.task;
    let opaque = [rig.enqueue(new_task(OPAQUE, 1)).await.task, rig.enqueue(new_task(OPAQUE, 2)).await.task];
    rig.stage_is(repeated, TaskStage::Waiting).await;
    for task in opaque {
        rig.stage_is(task, TaskStage::OutcomeUnknown).await;
    }
    rig.clock.advance(Duration::from_secs(60));
    rig.stage_is(repeated, TaskStage::Done).await;
    rig.queue.act(actor(), PersonAct::Drop, opaque[0]).await.unwrap();
    rig.queue.act(actor(), PersonAct::Retry, opaque[1]).await.unwrap();
    rig.stage_is(opaque[1], TaskStage::Done).await;
    rig.stage_is(opaque[0], TaskStage::Dropped).await;
}

#[tokio::test]
async fn a_worker_without_a_heartbeat_loses_its_lease_and_one_with_heartbeats_keeps_it() {
    let rig = Rig::start();
    rig.script(REPEATED, [Script::Deaf]);
    let visibility = palyra_queue::rules(REPEATED).visibility;
    let task = rig.enqueue(new_task(REPEATED, 1)).await.task;
    rig.begun_is(1).await;
    let lease = rig.lease(0);
    for marker in 1..=4 {
        rig.clock.advance(visibility * 3 / 4);
        assert!(lease.heartbeat(marker), "still its lease");
        rig.quiet().await;
    }
    rig.clock.set_wall_ahead(i64::from(u32::MAX) * 1_000_000);
    rig.quiet().await;
    assert_eq!(rig.stage(task).await, TaskStage::Leased, "a jump of the wall clock ends no lease");
    rig.clock.set_wall_ahead(0);
    let recorded = rig.record(task).await.progress;
    assert!((1..=4).contains(&recorded), "progress is recorded now and then: {recorded}");
    assert!(rig.task_entries().await <= 6, "not each heartbeat");
    rig.clock.advance(visibility);
    rig.quiet().await;
    rig.clock.advance(Duration::from_secs(1));
    rig.stage_is(task, TaskStage::Waiting).await;
    assert!(!lease.heartbeat(9) && lease.is_stop_requested());
    assert_eq!(rig.record(task).await.last_end, Some(AttemptEnd::NoHeartbeat));
    rig.clock.advance(Duration::from_secs(60));
    rig.stage_is(task, TaskStage::Done).await;
}

#[tokio::test]
async fn run_now_does_not_wait_for_the_time_and_a_cancelled_task_never_begins() {
    let rig = Rig::start();
    let far = Some(Timestamp(i64::MAX));
    let now = rig.enqueue(NewTask { due: far, ..new_task(REPEATED, 1) }).await.task;
    let never = rig.enqueue(NewTask { due: far, ..new_task(REPEATED, 2) }).await.task;
    rig.queue.act(actor(), PersonAct::Cancel, never).await.unwrap();
    rig.queue.act(actor(), PersonAct::RunNow, now).await.unwrap();
    rig.stage_is(now, TaskStage::Done).await;
    assert_eq!((rig.begun(), rig.stage(never).await), (1, TaskStage::Cancelled));
}

#[tokio::test]
async fn a_cancel_that_is_not_recorded_stops_no_worker() {
    let rig = Rig::start();
    rig.script(REPEATED, [Script::UntilStopped]);
    let task = rig.enqueue(new_task(REPEATED, 1)).await.task;
    rig.begun_is(1).await;
    rig.journal.fail_next(AppendError::DiskFull);
    rig.queue.act(actor(), PersonAct::Cancel, task).await.unwrap_err();
    rig.quiet().await;
    assert_eq!((rig.begun(), rig.stage(task).await), (1, TaskStage::Leased));
    rig.queue.act(actor(), PersonAct::Cancel, task).await.unwrap();
    rig.stage_is(task, TaskStage::Cancelled).await;
}

#[tokio::test]
async fn a_drain_stops_workers_and_the_next_start_goes_on() {
    let rig = Rig::start();
    rig.script(REPEATED, [Script::UntilStopped]);
    let task = rig.enqueue(new_task(REPEATED, 1)).await.task;
    rig.begun_is(1).await;
    rig.drain.begin();
    rig.drain.at_rest().await;
    rig.stage_is(task, TaskStage::Waiting).await;
    assert_eq!(
        (rig.record(task).await.attempts, rig.record(task).await.last_end),
        (0, Some(AttemptEnd::Stopped))
    );
    assert!(matches!(rig.queue.enqueue(new_task(REPEATED, 2)).await, Err(QueueError::Stopped)));
    let next = rig.restarted();
    next.stage_is(task, TaskStage::Done).await;
}

#[tokio::test]
async fn a_worker_that_does_not_stop_is_given_up_and_its_task_taken_over_once() {
    let rig = Rig::start();
    rig.script(REPEATED, [Script::Deaf]);
    rig.script(OPAQUE, [Script::Deaf]);
    let tasks = [rig.enqueue(new_task(REPEATED, 1)).await.task, rig.enqueue(new_task(OPAQUE, 1)).await.task];
    rig.begun_is(2).await;
    rig.drain.begin();
    rig.clock.someone_sleeps_until(rig.clock.boot().after(Duration::from_secs(5))).await;
    rig.clock.advance(Duration::from_secs(5));
    rig.drain.at_rest().await;
    let next = rig.restarted();
    next.stage_is(tasks[1], TaskStage::OutcomeUnknown).await;
    next.stage_is(tasks[0], TaskStage::Waiting).await;
    assert_eq!(next.record(tasks[0]).await.last_end, Some(AttemptEnd::ProcessEnded));
    next.clock.advance(Duration::from_secs(60));
    next.stage_is(tasks[0], TaskStage::Done).await;
    assert_eq!(next.record(tasks[0]).await.fence.0, 2);
}

#[tokio::test]
async fn what_is_not_recorded_is_refused_and_what_may_be_is_looked_up() {
    let rig = Rig::start();
    rig.quiet().await;
    rig.journal.fail_next(AppendError::Busy);
    let refused = rig.queue.enqueue(new_task(REPEATED, 1)).await;
    assert!(matches!(refused, Err(QueueError::Append(AppendError::Busy))), "{refused:?}");
    rig.clock.advance(Duration::from_secs(1));
    rig.quiet().await;
    assert_eq!(rig.task_entries().await, 0);
    rig.journal.lose_next_answer();
    let doubtful = rig.queue.enqueue(new_task(REPEATED, 1)).await;
    assert!(matches!(doubtful, Err(QueueError::Append(AppendError::Unknown))), "{doubtful:?}");
    let pause = Duration::from_secs(2);
    rig.clock.advance(pause);
    let task = rig.all().await[0].task;
    rig.stage_is(task, TaskStage::Done).await;
    // A lease in doubt was given to no worker: it is taken back and given again.
    rig.script(OPAQUE, [Script::Complete]);
    rig.quiet().await;
    rig.journal.hold();
    let enqueue = tokio::spawn({
        let queue = rig.queue.clone();
        async move { queue.enqueue(new_task(OPAQUE, 5)).await }
    });
    while rig.journal.held() == 0 {
        tokio::task::yield_now().await;
    }
    rig.journal.release();
    rig.journal.lose_next_answer();
    let task = enqueue.await.unwrap().unwrap().task;
    rig.quiet().await;
    rig.clock.advance(pause);
    rig.stage_is(task, TaskStage::Done).await;
    let record = rig.record(task).await;
    assert_eq!((record.attempts, rig.effects(task)), (1, 1), "{record:?}");
}

#[tokio::test]
async fn a_task_whose_payload_was_erased_is_cancelled_and_a_kind_without_a_handler_is_refused() {
    let rig = Rig::start();
    let due = Timestamp(rig.now().0 + 30_000_000);
    let task = rig.enqueue(NewTask { due: Some(due), ..new_task(REPEATED, 1) }).await.task;
    rig.journal.erase(rig.record(task).await.seq);
    rig.clock.advance(Duration::from_secs(30));
    rig.stage_is(task, TaskStage::Cancelled).await;
    assert_eq!(rig.begun(), 0);
    let refused = rig.queue.enqueue(new_task(TaskKind::Reflection, 1)).await;
    assert!(matches!(refused, Err(QueueError::NoHandler { .. })), "{refused:?}");
}

#[tokio::test]
async fn an_empty_queue_never_wakes_and_one_whose_task_is_far_away_looks_once_a_minute() {
    let rig = Rig::start();
    rig.quiet().await;
    let before = rig.ticks();
    rig.clock.advance(Duration::from_secs(3_600));
    rig.quiet().await;
    assert_eq!((rig.ticks(), rig.clock.next_deadline()), (before, None));
    let task = rig.enqueue(NewTask { due: Some(Timestamp(i64::MAX)), ..new_task(REPEATED, 1) }).await.task;
    rig.quiet().await;
    let before = rig.ticks();
    for _ in 0..600 {
        rig.clock.advance(Duration::from_secs(1));
        rig.quiet().await;
    }
    assert_eq!((rig.ticks() - before, rig.task_entries().await), (10, 1), "and it records nothing");
    rig.queue.act(actor(), PersonAct::Cancel, task).await.unwrap();
    rig.quiet().await;
    assert_eq!(rig.clock.next_deadline(), None);
}
