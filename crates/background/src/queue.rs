//! The background queue: tasks that survive a restart, each given to one worker at a time.
//!
//! Owns the one writer of tasks, a task of the driver: callers put commands into its mailbox, workers report to it, and each
//! of its ticks records what follows in one or two appends before anything of it happens. Knows no single kind of task:
//! what a task does is its handler's, and which task comes next is decided by the crate `queue`.
//!
//! Leases live in memory beside their records: one process has the journal, so a lease without a worker here is of a
//! process that ended, and is taken over when the queue starts. Heartbeats are not recorded one by one for the same reason:
//! another process never reads them.
//!
//! Invariant: a worker begins after its lease is recorded, and a task is done once an end of its current lease is recorded.
//! Begin at [`spawn_background_queue_loop`].

mod command;
mod command_batch;
mod error;
mod handler;
mod handle;
mod lease;
mod person_act;
mod queue_loop;
mod queue_ports;
mod queue_store;
mod steady_clock;
mod worker_set;

pub use command::{EnqueueReceipt, NewTask};
pub use error::QueueError;
pub use handle::{BackgroundQueue, spawn_background_queue_loop};
pub use handler::{TaskEnd, TaskHandler, TaskWork};
pub use lease::TaskLease;
pub use palyra_journal_core::families::queued_tasks::TaskQuery;
pub use person_act::PersonAct;
pub use queue_ports::QueuePorts;

#[cfg(test)]
mod tests;
