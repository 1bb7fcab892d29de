//! The border to what performs tasks.

use futures::future::BoxFuture;
use palyra_queue::TaskKind;
use palyra_types::{Content, PrincipalId, QueuedTaskId, Redacted, SessionId, Timestamp};

use super::lease::TaskLease;

/// Performs tasks of one kind.
pub trait TaskHandler: Send + Sync + 'static {
    /// Returns the kind.
    fn kind(&self) -> TaskKind;

    /// Performs a task. The future is dropped when its lease is over.
    ///
    /// Where lost attempts of the kind are repeated, a repetition must change nothing that the first attempt did: the id of
    /// the task is the same each time.
    fn run(&self, work: TaskWork) -> BoxFuture<'static, TaskEnd>;
}

/// A task to be performed.
#[derive(Debug)]
pub struct TaskWork {
    /// Its id.
    pub task: QueuedTaskId,
    /// On whose behalf; nil for the daemon itself.
    pub principal: PrincipalId,
    /// The session that it works for.
    pub session: Option<SessionId>,
    /// When it was put into the queue.
    pub created: Timestamp,
    /// The number of the attempt, from 1.
    pub attempt: u32,
    /// What there is to know.
    pub payload: Redacted<String>,
    /// The claim on it.
    pub lease: TaskLease,
}

/// How a worker reports its end.
#[derive(Debug, Clone)]
pub enum TaskEnd {
    /// The task is done.
    Completed,
    /// The task is done, and this is what it did, for people.
    CompletedWith(Content<String>),
    /// It stopped because it was asked to, and nothing took effect that a repetition would do twice.
    Stopped,
    /// The task is not done, for this reason.
    Failed(Content<String>),
    /// It is not known whether the task is done, for this reason.
    InDoubt(Content<String>),
}
