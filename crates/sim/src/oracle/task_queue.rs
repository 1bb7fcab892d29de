//! Tasks of the background queue: leases, their numbers, and what is done under them.
//!
//! Owns a naive picture of each task. Invariant: a task has one lease at a time, and nothing is done for it without one.

use std::collections::BTreeMap;

use palyra_types::compaction::{CompactionCause, SessionCompaction};
use palyra_types::queued_task::{TaskEvent, TaskFollowUp, TaskKind};
use palyra_types::{QueuedTaskId, SessionId};

/// Watches tasks.
#[derive(Default)]
pub(super) struct TaskCheck {
    tasks: BTreeMap<QueuedTaskId, TaskView>,
}

struct TaskView {
    kind: TaskKind,
    session: Option<SessionId>,
    fence: u32,
    is_leased: bool,
    is_open: bool,
}

impl TaskCheck {
    /// Takes an event of a task; returns what is wrong with it.
    pub(super) fn take(&mut self, session: Option<SessionId>, event: &TaskEvent) -> Option<String> {
        let id = event.task();
        if let TaskEvent::Enqueued(enqueued) = event {
            let view = TaskView { kind: enqueued.kind, session, fence: 0, is_leased: false, is_open: true };
            let before = self.tasks.insert(id, view);
            return before.map(|_| format!("task {id} is put into the queue a second time"));
        }
        let Some(view) = self.tasks.get_mut(&id) else {
            return Some(format!("task {id} was never put into the queue"));
        };
        match event {
            TaskEvent::Leased { fence, .. } => view.lease(id, fence.0),
            TaskEvent::AttemptEnded(ended) => {
                let is_current = view.is_leased && view.fence == ended.fence.0;
                view.is_leased = false;
                view.is_open = matches!(ended.next, TaskFollowUp::Again { .. });
                (!is_current).then(|| format!("task {id} ends under a lease that is over"))
            }
            TaskEvent::CancelRequested { .. } => {
                view.is_open &= view.is_leased;
                None
            }
            TaskEvent::RetryRequested { .. } => {
                view.is_open = true;
                None
            }
            TaskEvent::Dropped { .. } => {
                view.is_open = false;
                None
            }
            TaskEvent::Enqueued(_) | TaskEvent::Progressed { .. } | TaskEvent::RunNowRequested { .. } => None,
        }
    }

    /// Returns what is wrong with a summary that only a task makes.
    pub(super) fn check_summary(&self, made: &SessionCompaction) -> Option<String> {
        match made.cause {
            CompactionCause::Person | CompactionCause::Refused => return None,
            CompactionCause::Window | CompactionCause::Idle => {}
        }
        let of_session = |view: &TaskView| {
            view.kind == TaskKind::Compaction && view.is_leased && view.session == Some(made.session)
        };
        let is_leased = self.tasks.values().any(of_session);
        (!is_leased).then(|| format!("a task sums session {} up without a lease", made.session))
    }

    /// Returns what is wrong with tasks that are open while everything rests.
    pub(super) fn left_open(&self) -> Vec<String> {
        let open = self.tasks.iter().filter(|(_, view)| view.is_open);
        open.map(|(id, _)| format!("task {id} of the queue is never over")).collect()
    }
}

impl TaskView {
    fn lease(&mut self, id: QueuedTaskId, fence: u32) -> Option<String> {
        let wrong = if self.is_leased {
            Some(format!("task {id} has two leases at once"))
        } else if fence <= self.fence {
            Some(format!("task {id} has a lease whose number is not higher than the one before"))
        } else {
            None
        };
        self.is_leased = true;
        self.fence = fence;
        wrong
    }
}
