//! Why the queue did not do what a caller asked.

use palyra_ports::{AppendError, ReadError};
use palyra_queue::{QueueRefusal, TaskKind, TaskStage};
use palyra_types::ErrorCode;

use super::person_act::PersonAct;

/// Why the queue did not do what a caller asked.
#[derive(Debug, Clone, thiserror::Error)]
pub enum QueueError {
    /// The queue is full, or the task too large.
    #[error(transparent)]
    Refused(#[from] QueueRefusal),
    /// Nothing in this daemon performs such tasks.
    #[error("this daemon performs no tasks of the kind `{}`", kind.as_str())]
    NoHandler {
        /// The kind.
        kind: TaskKind,
    },
    /// No such task.
    #[error("no such task; `palyra admin tasks list` shows the tasks")]
    NotFound,
    /// The task is in a stage in which this cannot be done.
    #[error("the task is {}; {}", stage.as_str(), remedy(*act))]
    WrongStage {
        /// The stage.
        stage: TaskStage,
        /// The act.
        act: PersonAct,
    },
    /// The journal did not take it.
    #[error(transparent)]
    Append(#[from] AppendError),
    /// The journal could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The daemon drains.
    #[error("the background queue has stopped, because the daemon is shutting down")]
    Stopped,
}

fn remedy(act: PersonAct) -> &'static str {
    match act {
        PersonAct::Cancel => "only a task that waits or is worked at can be cancelled",
        PersonAct::RunNow => "only a task that waits can be run now",
        PersonAct::Retry => "only a dead letter, or a task whose outcome is unknown, can be run again",
        PersonAct::Drop => "only a dead letter, or a task whose outcome is unknown, can be dropped",
    }
}

impl QueueError {
    /// Returns the stable code shown to clients.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Refused(QueueRefusal::Full { .. }) => ErrorCode::QueueFull,
            Self::Refused(QueueRefusal::PayloadTooLarge { .. }) | Self::NoHandler { .. } => {
                ErrorCode::InvalidArgument
            }
            Self::NotFound => ErrorCode::TaskNotFound,
            Self::WrongStage { .. } => ErrorCode::TaskInWrongStage,
            Self::Append(error) => error.code(),
            Self::Read(error) => error.code(),
            Self::Stopped => ErrorCode::ShuttingDown,
        }
    }
}
