//! The handle of the queue, and how its loop is started.

use std::sync::Arc;

use futures::channel::oneshot;
use palyra_journal_core::families::queued_tasks::{self, TaskQuery};
use palyra_journal_core::family::{QueryFamilies, ReadFamilies};
use palyra_ports::ReadError;
use palyra_types::QueuedTaskId;
use palyra_types::access::ActorIdentity;
use palyra_types::queued_task::OrchestratorBackgroundTaskRecord;
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
    driver.spawn(QueueLoop::new(ports, handlers, commands_rx, Arc::clone(&signal), driver.drain()));
    BackgroundQueue { commands_tx, signal, families }
}

impl BackgroundQueue {
    /// Puts a task into the queue, unless an open one has the same kind, principal and subject. Returns after the commit.
    ///
    /// # Errors
    /// [`QueueError::Refused`] where the queue is full; [`QueueError::NoHandler`]; [`QueueError::Append`];
    /// [`QueueError::Read`]; [`QueueError::Stopped`].
    pub async fn enqueue(&self, task: NewTask) -> Result<EnqueueReceipt, QueueError> {
        self.send(QueueRequest::Enqueue(task)).await
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

    async fn send(&self, request: QueueRequest) -> Result<EnqueueReceipt, QueueError> {
        let (reply_tx, reply_rx) = oneshot::channel();
        let sent = self.commands_tx.send(QueueCommand { request, reply_tx }).await;
        sent.map_err(|_| QueueError::Stopped)?;
        self.signal.notify_one();
        reply_rx.await.map_err(|oneshot::Canceled| QueueError::Stopped)?
    }
}
