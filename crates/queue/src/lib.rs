//! Decides what becomes of tasks of the background queue.
//!
//! Owns the rules of each kind of task, the machine of one task, and which tasks a free worker takes next. Knows no clock,
//! disk, network, chance or task of the runtime: times are inputs, and decisions are returned as events that the caller
//! records.
//!
//! Invariant: [`QueuedTask::evolve`] is the only writer of a task, so a replay of its events gives the same task; an event
//! of a lease that is over changes nothing. Begin at [`QueuedTask`], then [`decide`].

#![warn(clippy::wildcard_enum_match_arm)]

mod task_rules;

mod backoff;
mod queue_time;

mod queued_task;
mod decide;
mod admission;

#[cfg(test)]
mod fixture;
#[cfg(test)]
mod interleavings;
#[cfg(test)]
mod properties;

pub use admission::{OpenTasks, QueueRefusal};
pub use backoff::backoff;
pub use decide::{QueueDecision, QueueView, WORKERS_MAX, decide};
pub use palyra_types::queued_task::{
    AttemptEnd, TASK_PAYLOAD_BYTES_MAX, TaskAttemptEnded, TaskEnqueued, TaskEvent, TaskFollowUp, TaskKey,
    TaskKind, TaskStage,
};
pub use queue_time::QueueTime;
pub use queued_task::{AttemptReport, QueuedTask, TaskState};
pub use task_rules::{LostAttempt, TaskRules, rules};
