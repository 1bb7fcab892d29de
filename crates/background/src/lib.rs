//! Background tasks: work that is done because its time has come, and not because a caller asked for it; and the drain
//! at which tasks and runs stop.
//!
//! Owns the loop that ticks each task and the last status of every task, as data. A task has no input: a tick looks at
//! the journal and does what is due, so that a repeated tick changes nothing. Work of a start is ticked once, in order,
//! before the daemon serves. Invariant: at most one tick of a task runs at a time, and a task that fails is ticked again
//! after a pause that grows. Begin at [`BackgroundDriver::spawn`]; work that must survive a restart is a task of the
//! [`queue`].

mod drain;
mod driver;
mod loop_timer;
pub mod queue;
mod status;
mod wall_clock_watch;

pub use drain::{Drain, Working};
pub use driver::{BackgroundDriver, BackgroundTask, NextTick, TickFailure};
pub use loop_timer::LoopTimer;
pub use status::{BackgroundStatus, FinishedTick, TaskState, TaskStatus};
pub use wall_clock_watch::WallClockWatch;

#[cfg(test)]
mod tests;
