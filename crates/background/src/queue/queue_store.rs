//! What the loop of the queue reads from the journal and writes to it.

use std::collections::BTreeMap;
use std::sync::Arc;

use palyra_journal_core::families::queued_tasks::{self, EnqueuedTask, QueuedTaskRow};
use palyra_journal_core::family::QueryFamilies;
use palyra_ports::recorder::AttachedData;
use palyra_ports::{AppendClass, AppendError, EntryActor, NewEntry, ReadError};
use palyra_queue::{OpenTasks, QueueTime, QueuedTask, TaskEvent, TaskKey, TaskKind};
use palyra_types::access::ActorIdentity;
use palyra_types::{PrincipalId, QueuedTaskId, SessionId};

use super::queue_ports::QueuePorts;

/// The subject of a task, among all tasks.
pub(super) type SubjectKey = (TaskKind, PrincipalId, TaskKey);

/// A task with whom it works for.
#[derive(Debug, Clone, Copy)]
pub(super) struct OwnedTask {
    pub(super) task: QueuedTask,
    pub(super) principal: PrincipalId,
    pub(super) session: Option<SessionId>,
}

impl OwnedTask {
    /// Returns an entry of the daemon itself about the task.
    pub(super) fn entry(&self, event: TaskEvent) -> TaskEntry {
        TaskEntry { principal: self.principal, session: self.session, event, actor: None }
    }
}

/// What commands need to know of the journal.
#[derive(Debug, Default)]
pub(super) struct CommandFacts {
    pub(super) tasks: BTreeMap<QueuedTaskId, OwnedTask>,
    pub(super) subjects: BTreeMap<SubjectKey, QueuedTaskId>,
}

/// An event to be recorded.
#[derive(Debug)]
pub(super) struct TaskEntry {
    pub(super) principal: PrincipalId,
    pub(super) session: Option<SessionId>,
    pub(super) event: TaskEvent,
    pub(super) actor: Option<ActorIdentity>,
}

/// Reads and writes tasks.
#[derive(Clone)]
pub(super) struct QueueStore {
    ports: QueuePorts,
}

impl QueueStore {
    pub(super) fn new(ports: QueuePorts) -> Self {
        Self { ports }
    }

    /// Returns the tasks that are leased by the journal, and how many tasks are open.
    pub(super) async fn leased(&self) -> Result<(Vec<QueuedTaskRow>, OpenTasks), ReadError> {
        let read = self.ports.families.query(|rows, _| {
            let leased = queued_tasks::leased(rows)?;
            Ok((leased, queued_tasks::open_counts(rows)?))
        });
        read.await
    }

    /// Returns the session that a task works for.
    pub(super) async fn session_of(&self, task: QueuedTaskId) -> Result<Option<SessionId>, ReadError> {
        let read = self.ports.families.query(move |rows, log| {
            let Some((seq, _)) = queued_tasks::task(rows, task)? else { return Ok(None) };
            Ok(queued_tasks::enqueued(log, seq)?.session)
        });
        read.await
    }

    /// Returns what commands need to know.
    pub(super) async fn facts(
        &self,
        tasks: Vec<QueuedTaskId>,
        subjects: Vec<SubjectKey>,
    ) -> Result<CommandFacts, ReadError> {
        let read = self.ports.families.query(move |rows, log| {
            let mut facts = CommandFacts::default();
            for id in tasks {
                let Some((seq, row)) = queued_tasks::task(rows, id)? else { continue };
                let session = queued_tasks::enqueued(log, seq)?.session;
                facts.tasks.insert(id, OwnedTask { task: row.task, principal: row.principal, session });
            }
            for subject in subjects {
                let (kind, principal, key) = subject;
                let open = queued_tasks::open_with_key(rows, kind, principal, key)?;
                facts.subjects.extend(open.map(|task| (subject, task)));
            }
            Ok(facts)
        });
        read.await
    }

    /// Returns the first waiting tasks of each kind, up to its limit, and the entries of those that are ready.
    pub(super) async fn waiting(
        &self,
        limits: Vec<(TaskKind, usize)>,
        now: QueueTime,
    ) -> Result<Vec<(QueuedTask, Option<EnqueuedTask>)>, ReadError> {
        let read = self.ports.families.query(move |rows, log| {
            let mut found = Vec::new();
            for (kind, limit) in limits {
                for (seq, task) in queued_tasks::waiting(rows, kind, limit)? {
                    let is_ready = task.is_ready(now);
                    let enqueued = is_ready.then(|| queued_tasks::enqueued(log, seq)).transpose()?;
                    found.push((task, enqueued));
                }
            }
            Ok(found)
        });
        read.await
    }

    /// Appends events in one commit.
    pub(super) async fn append(&self, events: &[TaskEntry], class: AppendClass) -> Result<(), AppendError> {
        let time = self.ports.clock.wall();
        let entry = |entry: &TaskEntry| NewEntry {
            time,
            principal: entry.principal,
            session: entry.session,
            run: None,
            event: entry.event.clone().into(),
        };
        let actors = events.iter().enumerate();
        let actors = actors.filter_map(|(at, entry)| Some(EntryActor { entry: at, actor: entry.actor? }));
        let attached = AttachedData { actors: actors.collect(), ..AttachedData::default() };
        let entries = events.iter().map(entry).collect();
        self.ports.recorder.record_with(entries, class, Vec::new(), attached).await?;
        Ok(())
    }

    pub(super) fn new_id(&self) -> QueuedTaskId {
        let entropy = Arc::clone(&self.ports.entropy);
        entropy.new_id(self.ports.clock.wall())
    }
}
