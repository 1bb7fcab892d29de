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
    #[error("the task is {}; {}{}", stage.as_str(), condition(*act), other_act(*act, *stage))]
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

fn condition(act: PersonAct) -> &'static str {
    match act {
        PersonAct::Cancel => "only a task that waits or is worked at can be cancelled",
        PersonAct::RunNow => "only a task that waits can be run now",
        PersonAct::Retry => "only a dead letter, or a task whose outcome is unknown, can be run again",
        PersonAct::Drop => "only a dead letter, or a task whose outcome is unknown, can be dropped",
    }
}

/// Names the act that does the same to a task in this stage.
fn other_act(act: PersonAct, stage: TaskStage) -> &'static str {
    match act {
        PersonAct::Retry if stage.is_open() => "; `palyra admin tasks run-now TASK` runs one that waits",
        PersonAct::Drop if stage.is_open() => "; `palyra admin tasks cancel TASK` ends one that waits",
        PersonAct::RunNow if stage.needs_person() => "; `palyra admin tasks retry TASK` runs this one again",
        PersonAct::Cancel if stage.needs_person() => "; `palyra admin tasks drop TASK` drops this one",
        _ => "",
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stage_that_does_not_fit_leads_to_the_act_that_does() {
        let said = |act, stage| QueueError::WrongStage { stage, act }.to_string();
        assert!(said(PersonAct::Retry, TaskStage::Waiting).contains("`palyra admin tasks run-now TASK`"));
        assert!(said(PersonAct::Drop, TaskStage::Waiting).contains("`palyra admin tasks cancel TASK`"));
        assert!(said(PersonAct::RunNow, TaskStage::DeadLetter).contains("`palyra admin tasks retry TASK`"));
        assert!(said(PersonAct::Cancel, TaskStage::DeadLetter).contains("`palyra admin tasks drop TASK`"));
        assert!(!said(PersonAct::Retry, TaskStage::Done).contains("palyra"));
    }
}
