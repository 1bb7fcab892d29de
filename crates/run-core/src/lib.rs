//! Decides what a run does, without a clock, a disk, a network or chance.
//!
//! Everything arrives as a value and leaves as a value; ordered maps only. Replaying a tape rebuilds the
//! machine, so what it needs to stay right is in the facts of the events, never only in memory.
//!
//! Begin at [`machine::RunStateMachine::decide`].

#![warn(clippy::wildcard_enum_match_arm)]

pub mod input;

pub mod machine;

pub mod tool_calls;

pub mod model_call;

pub mod failure_table;

pub mod budget;

pub mod loop_guard;

pub mod grant;

pub mod transcript;

pub mod prompt;

pub mod coalesce;

#[cfg(test)]
mod scenario;

pub use grant::{Execution, Grant, Intent};
pub use input::{ApprovalAnswer, Decision, Effect, JudgedCall, PrepareRefusal, Prepared, RunInput};
pub use machine::{RunError, RunStateMachine};
