//! Which leases are over, which tasks free workers take next, and when there is something to decide again.

use std::collections::BTreeMap;
use std::time::Duration;

use palyra_types::Timestamp;
use palyra_types::queued_task::{AttemptEnd, TaskEvent, TaskKind, TaskStage};

use crate::queue_time::QueueTime;
use crate::queued_task::{QueuedTask, TaskState};
use crate::task_rules::rules;

/// Tasks that are worked at at the same time, of all kinds, at most.
pub const WORKERS_MAX: usize = 6;

/// A task that has been due for so long comes before kinds of a higher priority, so that each is performed at some time.
const STARVED: Duration = Duration::from_secs(10 * 60);

/// What the queue sees when it decides.
#[derive(Debug, Clone, Copy)]
pub struct QueueView<'a> {
    /// Tasks that wait: of each kind that has a handler at least the first ones by urgency and due time, as many as it may
    /// be worked at.
    pub waiting: &'a [QueuedTask],
    /// Tasks that workers are at, all of them.
    pub leased: &'a [QueuedTask],
    /// Whether workers may take new tasks: not once the daemon drains.
    pub may_lease: bool,
}

/// What follows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct QueueDecision {
    /// Attempts that are lost, and new leases; to be recorded before a worker begins.
    pub events: Vec<TaskEvent>,
    /// After which time there is something to decide again, if no worker reports before.
    pub wake: Option<Duration>,
}

/// Decides what happens now. The same view at the same time gives the same decision.
#[must_use]
pub fn decide(view: QueueView<'_>, now: QueueTime) -> QueueDecision {
    let mut decision = QueueDecision::default();
    let mut busy: BTreeMap<TaskKind, usize> = BTreeMap::new();
    for task in view.leased {
        // An expired worker counts until the next decision: by then it has been stopped.
        *busy.entry(task.state().kind).or_default() += 1;
        if task.is_expired(now) {
            decision.events.extend(task.lose(AttemptEnd::NoHeartbeat, now));
            // Its place may be what a ready task waits for.
            decision.wake_after(Duration::ZERO);
        } else {
            decision.wake_after(task.state().until.since(now.steady));
        }
    }
    let mut free = WORKERS_MAX.saturating_sub(view.leased.len());
    let mut ready: Vec<&QueuedTask> = view.waiting.iter().filter(|task| task.is_ready(now)).collect();
    ready.sort_by_key(|task| rank(task.state(), now));
    for task in ready.into_iter().filter(|_| view.may_lease) {
        let busy = busy.entry(task.state().kind).or_default();
        if free == 0 || *busy >= task.rules().concurrency {
            continue;
        }
        free -= 1;
        *busy += 1;
        decision.events.extend(task.lease(now));
        decision.wake_after(task.rules().visibility);
    }
    let waits = |task: &&QueuedTask| task.state().stage == TaskStage::Waiting && !task.is_ready(now);
    for task in view.waiting.iter().filter(waits) {
        decision.wake_after(task.state().due.since(now.wall));
    }
    decision
}

impl QueueDecision {
    fn wake_after(&mut self, span: Duration) {
        self.wake = Some(self.wake.map_or(span, |wake| wake.min(span)));
    }
}

/// Returns the place of a ready task in the order in which workers take them, lowest first.
fn rank(task: &TaskState, now: QueueTime) -> (bool, bool, u8, Timestamp, [u8; 16]) {
    let is_starved = now.wall.since(task.due) >= STARVED;
    (!task.is_urgent, !is_starved, rules(task.kind).priority, task.due, task.task.to_bytes())
}

#[cfg(test)]
mod tests;
