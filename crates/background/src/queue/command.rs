//! What callers ask of the queue.

use futures::channel::oneshot;
use palyra_queue::{TaskKey, TaskKind};
use palyra_types::access::ActorIdentity;
use palyra_types::{PrincipalId, QueuedTaskId, Redacted, SessionId, Timestamp};

use super::error::QueueError;
use super::person_act::PersonAct;

/// A task to be put into the queue.
#[derive(Debug, Clone)]
pub struct NewTask {
    /// Its kind.
    pub kind: TaskKind,
    /// On whose behalf; nil for the daemon itself.
    pub principal: PrincipalId,
    /// The session that it works for; an erasure of the session takes the payload along.
    pub session: Option<SessionId>,
    /// Its subject: while a task of this kind, principal and subject is open, no other one is put into the queue.
    pub key: Option<TaskKey>,
    /// When it may begin; `None` for now.
    pub due: Option<Timestamp>,
    /// What its handler needs to know.
    pub payload: Redacted<String>,
}

/// The answer to a task that was put into the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EnqueueReceipt {
    /// The task.
    pub task: QueuedTaskId,
    /// Whether it is new; an open task with the same subject is not.
    pub is_new: bool,
}

/// A request with the place for its answer.
#[derive(Debug)]
pub(super) struct QueueCommand {
    pub(super) request: QueueRequest,
    pub(super) reply_tx: oneshot::Sender<Result<EnqueueReceipt, QueueError>>,
}

/// A request.
#[derive(Debug)]
pub(super) enum QueueRequest {
    Enqueue(NewTask),
    Person {
        act: PersonAct,
        task: QueuedTaskId,
        actor: ActorIdentity,
    },
    /// Ends the attempt of a worker that shows no progress.
    Requeue {
        task: QueuedTaskId,
    },
}
