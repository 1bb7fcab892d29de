//! Tasks of the background queue by a naive fold: a list of records, each changed by what its entries say.

use palyra_types::event::JournalEvent;
use palyra_types::queued_task::{
    AttemptEnd, OrchestratorBackgroundTaskRecord, TaskEvent, TaskFollowUp, TaskKey, TaskStage,
};
use palyra_types::tape::JournalEventRecord;
use palyra_types::{LeaseFence, QueuedTaskId, Redacted, Timestamp};

/// Tasks in the order in which they were put into the queue.
#[derive(Debug, Default)]
pub struct QueuedTaskOracle {
    tasks: Vec<OracleTask>,
}

#[derive(Debug)]
struct OracleTask {
    record: OrchestratorBackgroundTaskRecord,
    key: Option<TaskKey>,
    is_urgent: bool,
    until: Timestamp,
}

impl QueuedTaskOracle {
    pub(super) fn fold(&mut self, entry: &JournalEventRecord) {
        let JournalEvent::Task(event) = &entry.event else { return };
        let known = self.tasks.iter_mut().find(|known| known.record.task == event.task());
        match (known, event) {
            (Some(known), event) => known.fold(entry, event),
            (None, TaskEvent::Enqueued(enqueued)) => self.tasks.push(OracleTask {
                record: OrchestratorBackgroundTaskRecord {
                    task: enqueued.task,
                    kind: enqueued.kind,
                    principal: entry.principal,
                    session: entry.session,
                    seq: entry.seq,
                    created: entry.time,
                    changed: entry.time,
                    stage: TaskStage::Waiting,
                    due: enqueued.due,
                    fence: LeaseFence(0),
                    attempts: 0,
                    progress: 0,
                    is_cancel_requested: false,
                    last_end: None,
                    explanation: Redacted::default(),
                },
                key: enqueued.key,
                is_urgent: false,
                until: Timestamp(0),
            }),
            (None, _) => {}
        }
    }

    /// Returns the tasks, those with the highest ids first.
    #[must_use]
    pub fn records(&self) -> Vec<OrchestratorBackgroundTaskRecord> {
        let mut records: Vec<_> = self.tasks.iter().map(|task| task.record.clone()).collect();
        records.sort_by_key(|record| std::cmp::Reverse(record.task));
        records
    }

    /// Returns the tasks that wait: by kind, then urgent ones first, then by the time at which they are due.
    #[must_use]
    pub fn waiting(&self) -> Vec<QueuedTaskId> {
        let mut waiting: Vec<_> =
            self.tasks.iter().filter(|task| task.record.stage == TaskStage::Waiting).collect();
        waiting.sort_by_key(|task| (task.record.kind, !task.is_urgent, task.record.due, task.record.seq));
        waiting.into_iter().map(|task| task.record.task).collect()
    }

    /// Returns the tasks that a worker is at with the ends of their leases, lowest id first.
    #[must_use]
    pub fn leased(&self) -> Vec<(QueuedTaskId, Timestamp)> {
        let leased = self.tasks.iter().filter(|task| task.record.stage == TaskStage::Leased);
        let mut leased: Vec<_> = leased.map(|task| (task.record.task, task.until)).collect();
        leased.sort_unstable();
        leased
    }

    /// Returns the subjects of open tasks, each with the first task that has it, lowest key and then oldest first.
    #[must_use]
    pub fn open_with_key(&self, key: TaskKey) -> Vec<QueuedTaskId> {
        let open = |stage| matches!(stage, TaskStage::Waiting | TaskStage::Leased);
        let found = self.tasks.iter().filter(|task| task.key == Some(key) && open(task.record.stage));
        found.map(|task| task.record.task).collect()
    }
}

impl OracleTask {
    fn fold(&mut self, entry: &JournalEventRecord, event: &TaskEvent) {
        let Self { record, is_urgent, until, .. } = self;
        let is_current = |fence: &LeaseFence| record.stage == TaskStage::Leased && record.fence == *fence;
        let failed = matches!(record.stage, TaskStage::DeadLetter | TaskStage::OutcomeUnknown);
        let before = (record.stage, record.progress, record.is_cancel_requested, *is_urgent, *until);
        match event {
            TaskEvent::Leased { fence, until: end, .. }
                if record.stage == TaskStage::Waiting && *fence > record.fence =>
            {
                record.stage = TaskStage::Leased;
                record.fence = *fence;
                record.progress = 0;
                *until = *end;
                *is_urgent = false;
                record.attempts += 1;
            }
            TaskEvent::Progressed { fence, marker, until: end, .. } if is_current(fence) => {
                record.progress = record.progress.max(*marker);
                *until = (*until).max(*end);
            }
            TaskEvent::AttemptEnded(ended) if is_current(&ended.fence) => {
                record.last_end = Some(ended.end);
                record.explanation = ended.explanation.clone();
                if ended.end == AttemptEnd::Stopped {
                    record.attempts -= 1;
                }
                record.stage = match ended.next {
                    TaskFollowUp::Done => TaskStage::Done,
                    TaskFollowUp::Again { due } => {
                        record.due = due;
                        TaskStage::Waiting
                    }
                    TaskFollowUp::DeadLetter => TaskStage::DeadLetter,
                    TaskFollowUp::OutcomeUnknown => TaskStage::OutcomeUnknown,
                    TaskFollowUp::Cancelled => TaskStage::Cancelled,
                };
            }
            TaskEvent::CancelRequested { .. } if record.stage == TaskStage::Waiting => {
                record.stage = TaskStage::Cancelled;
            }
            TaskEvent::CancelRequested { .. } if record.stage == TaskStage::Leased => {
                record.is_cancel_requested = true;
            }
            TaskEvent::RunNowRequested { .. } if record.stage == TaskStage::Waiting => *is_urgent = true,
            TaskEvent::RetryRequested { .. } if failed => {
                record.stage = TaskStage::Waiting;
                record.attempts = 0;
                record.is_cancel_requested = false;
                *is_urgent = true;
            }
            TaskEvent::Dropped { .. } if failed => record.stage = TaskStage::Dropped,
            _ => return,
        }
        if before != (record.stage, record.progress, record.is_cancel_requested, *is_urgent, *until) {
            record.changed = entry.time;
        }
    }
}
