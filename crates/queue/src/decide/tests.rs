//! Which tasks free workers take, and when there is something to decide again.

use std::time::Duration;

use palyra_types::Timestamp;
use palyra_types::queued_task::{AttemptEnd, TaskEvent, TaskKind, TaskStage};

use super::*;
use crate::fixture::{apply, at, waiting};

fn leased(task: QueuedTask, seconds: i64) -> QueuedTask {
    let mut task = task;
    let event = task.lease(at(seconds));
    apply(&mut task, event);
    task
}

fn taken(decision: &QueueDecision) -> Vec<u128> {
    let leases = decision.events.iter().filter(|event| matches!(event, TaskEvent::Leased { .. }));
    leases.map(|event| u128::from_be_bytes(event.task().to_bytes()) & 0xFFFF).collect()
}

fn view<'a>(waiting: &'a [QueuedTask], leased: &'a [QueuedTask]) -> QueueView<'a> {
    QueueView { waiting, leased, may_lease: true }
}

#[test]
fn workers_take_urgent_tasks_then_starved_ones_then_by_priority_then_by_time() {
    let mut urgent = waiting(TaskKind::Reflection, 1, i64::MAX);
    let event = urgent.run_now();
    apply(&mut urgent, event);
    let second = 1_000_000;
    let tasks = [
        waiting(TaskKind::Compaction, 5, 990 * second),
        waiting(TaskKind::Backup, 4, 999 * second),
        waiting(TaskKind::OutboxSend, 3, 1_000 * second),
        waiting(TaskKind::SessionCleanup, 2, 399 * second),
        urgent,
        waiting(TaskKind::JournalCare, 9, 1_001 * second),
    ];
    let decision = decide(view(&tasks, &[]), at(1_000));
    assert_eq!(taken(&decision), [1, 2, 3, 4, 5]);
    assert_eq!(decision.wake, Some(Duration::from_secs(1)), "until the one that is not due yet");
}

#[test]
fn no_kind_has_more_workers_than_its_rules_allow_and_all_together_not_more_than_there_are() {
    let many: Vec<_> = (0..9).map(|number| waiting(TaskKind::Compaction, number, 0)).collect();
    assert_eq!(taken(&decide(view(&many, &[]), at(1))), [0, 1]);
    let busy = [leased(many[0], 1)];
    assert_eq!(taken(&decide(view(&many[1..], &busy), at(2))), [1]);
    let kinds = [TaskKind::OutboxSend, TaskKind::ScheduledRun];
    let many: Vec<_> =
        (0..18).map(|number| waiting(kinds[usize::from(number % 2 == 1)], number, 0)).collect();
    let decision = decide(view(&many, &[]), at(1));
    assert_eq!(taken(&decision), [0, 2, 4, 6, 1, 3]);
    assert_eq!(taken(&decision).len(), WORKERS_MAX);
}

#[test]
fn an_expired_lease_is_lost_once_and_its_worker_counts_until_it_was_stopped() {
    let task = leased(waiting(TaskKind::Backup, 1, 0), 1);
    let next = waiting(TaskKind::Backup, 2, 0);
    let late = QueueTime::agreed(task.state().until);
    let decision = decide(view(&[next], &[task]), late);
    assert_eq!(decision.events, [task.lose(AttemptEnd::NoHeartbeat, late).unwrap()]);
    let mut lost = task;
    lost.evolve(&decision.events[0]);
    assert_eq!(lost.state().stage, TaskStage::Waiting);
    let decision = decide(view(&[next, lost], &[]), late);
    assert_eq!(taken(&decision), [2], "the lost one waits for its pause");
}

#[test]
fn nothing_is_taken_once_the_daemon_drains_and_leases_still_end() {
    let tasks = [waiting(TaskKind::Backup, 2, 0)];
    let task = leased(waiting(TaskKind::Backup, 1, 0), 1);
    let drained = QueueView { may_lease: false, ..view(&tasks, std::slice::from_ref(&task)) };
    let before = Timestamp(task.state().until.0 - 5);
    let decision = decide(drained, QueueTime::agreed(before));
    assert_eq!(decision, QueueDecision { events: Vec::new(), wake: Some(Duration::from_micros(5)) });
    assert_eq!(decide(drained, QueueTime::agreed(task.state().until)).events.len(), 1);
}

#[test]
fn an_empty_queue_needs_no_decision() {
    assert_eq!(decide(view(&[], &[]), at(1)), QueueDecision::default());
}
