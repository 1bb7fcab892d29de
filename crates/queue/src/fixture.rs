//! Values that tests share.

use palyra_types::queued_task::{AttemptEnd, TaskEnqueued, TaskEvent, TaskKind};
use palyra_types::{LeaseFence, QueuedTaskId, Redacted, Timestamp};

use crate::queue_time::QueueTime;
use crate::queued_task::{AttemptReport, QueuedTask};

pub(crate) fn enqueued(kind: TaskKind, number: u128, due: i64) -> TaskEnqueued {
    TaskEnqueued {
        task: QueuedTaskId::from_parts(1, number),
        kind,
        key: None,
        due: Timestamp(due),
        payload_bytes: 0,
        payload: Redacted::default(),
    }
}

pub(crate) fn waiting(kind: TaskKind, number: u128, due: i64) -> QueuedTask {
    QueuedTask::enqueued(&enqueued(kind, number, due))
}

pub(crate) fn at(seconds: i64) -> QueueTime {
    QueueTime::agreed(Timestamp(seconds * 1_000_000))
}

pub(crate) fn report(fence: u32, end: AttemptEnd) -> AttemptReport {
    AttemptReport { fence: LeaseFence(fence), end, explanation: Redacted::default() }
}

/// Applies an event that must follow.
pub(crate) fn apply(task: &mut QueuedTask, event: Option<TaskEvent>) {
    task.evolve(&event.expect("the event follows"));
}
