//! Events about tasks of the background queue, in all their forms; ids and fences are few, so that leases meet their ends.

use palyra_journal_core::families::queued_tasks::{self, TaskQuery};
use palyra_journal_core::family::{QueryFamilies, ReadFamilies};
use palyra_ports::NewEntry;
use palyra_types::queued_task::{
    AttemptEnd, TaskAttemptEnded, TaskEnqueued, TaskEvent, TaskFollowUp, TaskKey, TaskKind,
};
use palyra_types::{LeaseFence, QueuedTaskId};

use super::{RandomAppends, exposed};

/// Tasks that random events name.
const TASKS: u64 = 24;
/// Subjects that they have.
pub const TASK_KEYS: u8 = 3;

impl RandomAppends {
    /// Returns entries about tasks alone.
    pub fn task_entries(&mut self, count: usize) -> Vec<NewEntry> {
        let entry = |me: &mut Self| NewEntry {
            time: me.time(),
            principal: me.principal(),
            session: None,
            run: None,
            event: me.task_event().into(),
        };
        (0..count).map(|_| entry(self)).collect()
    }

    pub(super) fn task_event(&mut self) -> TaskEvent {
        let task = QueuedTaskId::from_parts(13, self.below(TASKS).into());
        let fence = LeaseFence(1 + self.number());
        let until = self.time();
        match self.below(16) {
            0 => TaskEvent::CancelRequested { task },
            1 => TaskEvent::RunNowRequested { task },
            2 => TaskEvent::RetryRequested { task },
            3 => TaskEvent::Dropped { task },
            4 | 5 => TaskEvent::Progressed { task, fence, marker: self.below(5), until },
            6..=8 => TaskEvent::Leased { task, fence, until },
            9..=12 => TaskEvent::AttemptEnded(TaskAttemptEnded {
                task,
                fence,
                end: self.one_of(&AttemptEnd::ALL).0,
                next: self.follow_up(),
                explanation: self.text(),
            }),
            _ => {
                let payload = self.text();
                TaskEvent::Enqueued(TaskEnqueued {
                    task,
                    kind: self.one_of(&TaskKind::ALL).0,
                    key: self
                        .maybe(|me| TaskKey([u8::try_from(me.below(TASK_KEYS.into())).unwrap_or(0); 16])),
                    due: until,
                    payload_bytes: u32::try_from(payload.expose().len()).unwrap_or(0),
                    payload,
                })
            }
        }
    }

    fn follow_up(&mut self) -> TaskFollowUp {
        match self.below(8) {
            0 => TaskFollowUp::Done,
            1 => TaskFollowUp::Cancelled,
            2 | 3 => TaskFollowUp::DeadLetter,
            4 => TaskFollowUp::OutcomeUnknown,
            _ => TaskFollowUp::Again { due: self.time() },
        }
    }
}

/// Adds the tasks.
pub(super) async fn records(journal: &impl ReadFamilies, all: &mut Vec<String>) {
    let query = TaskQuery { limit: 500, ..TaskQuery::default() };
    let found = journal.query(move |rows, log| queued_tasks::records(rows, log, &query)).await.unwrap();
    // Texts of states that were written before there were tasks stay the same.
    if !found.is_empty() {
        all.push(exposed(&found, |one| one.explanation.expose().clone()));
    }
}
