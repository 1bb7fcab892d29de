//! Commands that are answered by one append.

use palyra_ports::AppendClass;
use palyra_queue::{OpenTasks, QueueTime, QueuedTask, TaskEnqueued, TaskEvent};
use palyra_types::QueuedTaskId;

use super::command::{EnqueueReceipt, NewTask, QueueRequest};
use super::error::QueueError;
use super::person_act::PersonAct;
use super::queue_store::{CommandFacts, OwnedTask, TaskEntry};

/// What commands make of the queue, before it is recorded.
pub(super) struct CommandBatch {
    facts: CommandFacts,
    pub(super) open: OpenTasks,
    pub(super) entries: Vec<TaskEntry>,
    pub(super) class: AppendClass,
}

impl CommandBatch {
    /// Begins with what the journal says.
    pub(super) fn new(facts: CommandFacts, open: OpenTasks) -> Self {
        Self { facts, open, entries: Vec::new(), class: AppendClass::Ending }
    }

    /// Takes in one request.
    pub(super) fn apply(
        &mut self,
        request: QueueRequest,
        id: QueuedTaskId,
        now: QueueTime,
    ) -> Result<EnqueueReceipt, QueueError> {
        match request {
            QueueRequest::Enqueue(task) => self.enqueue(task, id, now),
            // Its end is recorded with the ends that workers report.
            QueueRequest::Requeue { task } => Ok(EnqueueReceipt { task, is_new: false }),
            QueueRequest::Person { act, task, actor } => {
                let owned = self.facts.tasks.get_mut(&task).ok_or(QueueError::NotFound)?;
                let stage = owned.task.state().stage;
                let event = event_of(act, &owned.task);
                if event.is_none() && act == PersonAct::Cancel && stage.is_open() {
                    return Ok(EnqueueReceipt { task, is_new: false });
                }
                let event = event.ok_or(QueueError::WrongStage { stage, act })?;
                let was_open = stage.is_open();
                owned.task.evolve(&event);
                let kind = owned.task.state().kind;
                let is_open = owned.task.state().stage.is_open();
                self.entries.push(TaskEntry { actor: Some(actor), ..owned.entry(event) });
                match (was_open, is_open) {
                    (true, false) => self.open.closed(kind),
                    (false, true) => self.open.opened(kind),
                    (true, true) | (false, false) => {}
                }
                Ok(EnqueueReceipt { task, is_new: false })
            }
        }
    }

    fn enqueue(
        &mut self,
        new: NewTask,
        id: QueuedTaskId,
        now: QueueTime,
    ) -> Result<EnqueueReceipt, QueueError> {
        let NewTask { kind, principal, session, key, due, payload } = new;
        let subject = key.map(|key| (kind, principal, key));
        if let Some(open) = subject.and_then(|subject| self.facts.subjects.get(&subject))
            && self.facts.tasks.get(open).is_none_or(|owned| owned.task.state().stage.is_open())
        {
            return Ok(EnqueueReceipt { task: *open, is_new: false });
        }
        let bytes = payload.expose().len();
        self.open.admit(kind, bytes)?;
        let payload_bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        let due = due.unwrap_or(now.wall);
        let enqueued = TaskEnqueued { task: id, kind, key, due, payload_bytes, payload };
        let owned = OwnedTask { task: QueuedTask::enqueued(&enqueued), principal, session };
        self.entries.push(owned.entry(TaskEvent::Enqueued(enqueued)));
        self.class = AppendClass::Normal;
        self.open.opened(kind);
        self.facts.tasks.insert(id, owned);
        self.facts.subjects.extend(subject.map(|subject| (subject, id)));
        Ok(EnqueueReceipt { task: id, is_new: true })
    }
}

fn event_of(act: PersonAct, task: &QueuedTask) -> Option<TaskEvent> {
    match act {
        PersonAct::Cancel => task.cancel(),
        PersonAct::RunNow => task.run_now(),
        PersonAct::Retry => task.retry(),
        PersonAct::Drop => task.drop_failed(),
    }
}
