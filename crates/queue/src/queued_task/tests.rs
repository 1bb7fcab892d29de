//! What follows each event of one task.

use palyra_types::queued_task::{AttemptEnd, TaskEvent, TaskKind, TaskStage};
use palyra_types::{LeaseFence, Timestamp};

use crate::fixture::{apply, at, report, waiting};
use crate::queue_time::QueueTime;
use crate::queued_task::QueuedTask;
use crate::task_rules::rules;

const REPEATED: TaskKind = TaskKind::Compaction;
const OPAQUE: TaskKind = TaskKind::OutboxSend;

fn leased(kind: TaskKind) -> QueuedTask {
    let mut task = waiting(kind, 1, 0);
    let event = task.lease(at(1));
    apply(&mut task, event);
    task
}

fn after(kind: TaskKind, end: AttemptEnd, is_cancelled: bool) -> TaskStage {
    let mut task = leased(kind);
    if is_cancelled {
        let event = task.cancel();
        apply(&mut task, event);
    }
    let event = task.end_attempt(report(1, end), at(2));
    apply(&mut task, event);
    assert_eq!(task.state().last_end, Some(end));
    task.state().stage
}

#[test]
fn what_follows_an_attempt_depends_on_its_end_its_kind_and_whether_it_was_cancelled() {
    use AttemptEnd::*;
    use TaskStage::*;
    for (end, repeated, opaque, cancelled, opaque_cancelled) in [
        (Completed, Done, Done, Done, Done),
        (Stopped, Waiting, Waiting, Cancelled, Cancelled),
        (Failed, Waiting, Waiting, Cancelled, Cancelled),
        (InDoubt, Waiting, OutcomeUnknown, Cancelled, OutcomeUnknown),
        (Panicked, Waiting, OutcomeUnknown, Cancelled, OutcomeUnknown),
        (NoHeartbeat, Waiting, OutcomeUnknown, Cancelled, OutcomeUnknown),
        (ProcessEnded, Waiting, OutcomeUnknown, Cancelled, OutcomeUnknown),
    ] {
        assert_eq!(after(REPEATED, end, false), repeated, "{end:?}");
        assert_eq!(after(OPAQUE, end, false), opaque, "{end:?}");
        assert_eq!(after(REPEATED, end, true), cancelled, "{end:?} after a cancel");
        assert_eq!(after(OPAQUE, end, true), opaque_cancelled, "{end:?} after a cancel");
    }
}

#[test]
fn a_task_that_fails_too_often_is_a_dead_letter_and_a_person_lets_it_run_again_or_drops_it() {
    let mut task = waiting(REPEATED, 1, 0);
    let attempts_max = rules(REPEATED).attempts_max;
    for attempt in 1..=attempts_max {
        let now = QueueTime::agreed(task.state().due);
        assert_eq!(task.lease(QueueTime::agreed(Timestamp(now.wall.0 - 1))), None, "not before its time");
        let event = task.lease(now);
        apply(&mut task, event);
        let event = task.end_attempt(report(attempt, AttemptEnd::Failed), now);
        apply(&mut task, event);
    }
    assert_eq!((task.state().stage, task.state().attempts), (TaskStage::DeadLetter, attempts_max));
    assert_eq!((task.cancel(), task.run_now(), task.lease(at(i64::MAX / 2_000_000))), (None, None, None));
    let mut dropped = task;
    let event = dropped.drop_failed();
    apply(&mut dropped, event);
    assert_eq!((dropped.state().stage, dropped.retry()), (TaskStage::Dropped, None));
    let event = task.retry();
    apply(&mut task, event);
    assert_eq!((task.state().stage, task.state().attempts, task.retry()), (TaskStage::Waiting, 0, None));
    let event = task.lease(at(0));
    apply(&mut task, event);
    assert_eq!(task.state().fence, LeaseFence(attempts_max + 1), "fences go on");
}

#[test]
fn a_worker_of_an_earlier_lease_changes_nothing() {
    let mut task = leased(REPEATED);
    let event = task.lose(AttemptEnd::NoHeartbeat, at(1_000));
    apply(&mut task, event);
    let late = task.state().due;
    let event = task.lease(QueueTime::agreed(late));
    apply(&mut task, event);
    let before = task;
    assert_eq!(task.heartbeat(LeaseFence(1), 9, at(5_000)), None);
    assert_eq!(task.end_attempt(report(1, AttemptEnd::Completed), at(5_000)), None);
    // Also where such an event is in the log.
    let earlier = leased(REPEATED);
    let stale = [
        earlier.end_attempt(report(1, AttemptEnd::Completed), at(2)),
        earlier.heartbeat(LeaseFence(1), 9, at(9_999)),
        waiting(REPEATED, 1, 0).lease(at(1)),
    ];
    for event in stale {
        apply(&mut task, event);
        assert_eq!(task, before);
    }
}

#[test]
fn heartbeats_move_the_deadline_and_the_marker_forward_only() {
    let mut task = leased(REPEATED);
    let visibility = i64::try_from(rules(REPEATED).visibility.as_secs()).unwrap();
    assert!(!task.is_expired(at(visibility)) && task.is_expired(at(visibility + 1)));
    for (marker, seconds) in [(5, 100), (3, 50)] {
        let event = task.heartbeat(LeaseFence(1), marker, at(seconds));
        apply(&mut task, event);
    }
    assert_eq!(task.state().progress, 5);
    assert!(!task.is_expired(at(visibility + 99)) && task.is_expired(at(visibility + 100)));
    let jumped = QueueTime { wall: Timestamp(i64::MAX), steady: at(2).steady };
    assert!(!task.is_expired(jumped), "the wall clock alone ends no lease");
}

#[test]
fn a_stopped_attempt_does_not_count_and_its_task_is_due_at_once() {
    let mut task = leased(REPEATED);
    let event = task.end_attempt(report(1, AttemptEnd::Stopped), at(7));
    apply(&mut task, event);
    assert_eq!((task.state().attempts, task.state().due), (0, at(7).wall));
    assert!(task.is_ready(at(7)));
}

#[test]
fn an_event_of_another_task_changes_nothing() {
    let mut task = waiting(REPEATED, 1, 0);
    let other = waiting(REPEATED, 2, 0);
    let before = task;
    for event in [other.lease(at(1)), other.cancel(), other.run_now()] {
        apply(&mut task, event);
    }
    let dropped = TaskEvent::Dropped { task: before.state().task };
    task.evolve(&dropped);
    assert_eq!(task, before, "a task that did not fail is not dropped");
}
