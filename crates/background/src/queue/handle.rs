//! The handle of the queue, and how its loop is started.

use std::sync::Arc;
use std::time::Duration;

use futures::channel::oneshot;
use palyra_journal_core::families::queued_tasks::{self, TaskQuery};
use palyra_journal_core::family::{QueryFamilies, ReadFamilies};
use palyra_ports::ReadError;
use palyra_queue::{TaskKind, WORKERS_MAX, rules};
use palyra_types::QueuedTaskId;
use palyra_types::access::ActorIdentity;
use palyra_types::queued_task::{OrchestratorBackgroundTaskRecord, TaskStage};
use tokio::sync::{Notify, mpsc};

use super::command::{EnqueueReceipt, NewTask, QueueCommand, QueueRequest};
use super::error::QueueError;
use super::handler::TaskHandler;
use super::person_act::PersonAct;
use super::queue_loop::QueueLoop;
use super::queue_ports::QueuePorts;
use crate::driver::BackgroundDriver;

/// Commands that wait in the mailbox of the queue; callers beyond that wait.
const COMMANDS_MAX: usize = 256;

/// Puts tasks into the queue, and changes what becomes of them. Clones share the queue.
#[derive(Clone)]
pub struct BackgroundQueue {
    commands_tx: mpsc::Sender<QueueCommand>,
    signal: Arc<Notify>,
    /// Given with each task that is put into the queue.
    enqueued: Arc<Notify>,
    handled: Arc<[TaskKind]>,
    families: Arc<dyn ReadFamilies>,
}

/// Starts the loop of the queue as a task of the driver: it takes over leases of a process that ended, and gives tasks to
/// these handlers until the daemon drains. A kind without a handler waits.
#[must_use]
pub fn spawn_background_queue_loop(
    driver: &BackgroundDriver,
    ports: QueuePorts,
    handlers: Vec<Arc<dyn TaskHandler>>,
) -> BackgroundQueue {
    let (commands_tx, commands_rx) = mpsc::channel(COMMANDS_MAX);
    let signal = Arc::new(Notify::new());
    let families = Arc::clone(&ports.families);
    let handled = handlers.iter().map(|handler| handler.kind()).collect();
    driver.spawn(QueueLoop::new(ports, handlers, commands_rx, Arc::clone(&signal), driver.drain()));
    BackgroundQueue { commands_tx, signal, enqueued: Arc::default(), handled, families }
}

impl BackgroundQueue {
    /// Puts a task into the queue, unless an open one has the same kind, principal and subject. Returns after the commit.
    ///
    /// # Errors
    /// [`QueueError::Refused`] where the queue is full; [`QueueError::NoHandler`]; [`QueueError::Append`];
    /// [`QueueError::Read`]; [`QueueError::Stopped`].
    pub async fn enqueue(&self, task: NewTask) -> Result<EnqueueReceipt, QueueError> {
        let receipt = self.send(QueueRequest::Enqueue(task)).await?;
        self.enqueued.notify_one();
        Ok(receipt)
    }

    /// Returns the signal that is given with each task that is put into the queue. One task waits for it.
    #[must_use]
    pub fn enqueued(&self) -> Arc<Notify> {
        Arc::clone(&self.enqueued)
    }

    /// Makes the loop look for due tasks.
    pub fn look_again(&self) {
        self.signal.notify_one();
    }

    /// Ends the attempt of a worker that shows no progress; the rules of its kind say what follows. Returns before the end
    /// is recorded.
    ///
    /// # Errors
    /// [`QueueError::NotFound`] where no worker is at the task; [`QueueError::Append`]; [`QueueError::Read`];
    /// [`QueueError::Stopped`].
    pub async fn requeue(&self, task: QueuedTaskId) -> Result<(), QueueError> {
        self.send(QueueRequest::Requeue { task }).await.map(|_| ())
    }

    /// Returns whether tasks of a kind are performed here.
    #[must_use]
    pub fn handles(&self, kind: TaskKind) -> bool {
        self.handled.contains(&kind)
    }

    /// Returns whether a task of a kind would be given to a worker, where so many tasks are worked at in all and of the kind.
    #[must_use]
    pub fn has_free_worker(&self, kind: TaskKind, busy: usize, busy_of_kind: usize) -> bool {
        self.handles(kind) && busy < WORKERS_MAX && busy_of_kind < rules(kind).concurrency
    }

    /// Returns the time without a heartbeat after which an attempt at a task of a kind is lost.
    #[must_use]
    pub fn heartbeat_span(&self, kind: TaskKind) -> Duration {
        rules(kind).visibility
    }

    /// Does what a person asks with a task. Returns after the commit.
    ///
    /// # Errors
    /// [`QueueError::NotFound`]; [`QueueError::WrongStage`]; [`QueueError::Append`]; [`QueueError::Read`];
    /// [`QueueError::Stopped`].
    pub async fn act(
        &self,
        actor: ActorIdentity,
        act: PersonAct,
        task: QueuedTaskId,
    ) -> Result<(), QueueError> {
        self.send(QueueRequest::Person { act, task, actor }).await.map(|_| ())
    }

    /// Lists a page of tasks, the newest first.
    ///
    /// # Errors
    /// [`ReadError`].
    pub async fn list(&self, query: TaskQuery) -> Result<Vec<OrchestratorBackgroundTaskRecord>, ReadError> {
        self.families.query(move |rows, log| queued_tasks::records(rows, log, &query)).await
    }

    /// Returns whether a task of a kind that is performed here waits, or is worked at.
    ///
    /// # Errors
    /// [`ReadError`].
    pub async fn has_open_tasks(&self) -> Result<bool, ReadError> {
        let handled = Arc::clone(&self.handled);
        let read = self.families.query(move |rows, log| {
            for kind in handled.iter().copied() {
                for stage in [TaskStage::Leased, TaskStage::Waiting] {
                    let query = TaskQuery { kind: Some(kind), stage: Some(stage), below: None, limit: 1 };
                    if !queued_tasks::records(rows, log, &query)?.is_empty() {
                        return Ok(true);
                    }
                }
            }
            Ok(false)
        });
        read.await
    }

    async fn send(&self, request: QueueRequest) -> Result<EnqueueReceipt, QueueError> {
        let (reply_tx, reply_rx) = oneshot::channel();
        let sent = self.commands_tx.send(QueueCommand { request, reply_tx }).await;
        sent.map_err(|_| QueueError::Stopped)?;
        self.signal.notify_one();
        reply_rx.await.map_err(|oneshot::Canceled| QueueError::Stopped)?
    }
}
