//! The daemon is killed at every call that changes files, in turn; nothing is lost and nothing doubled.
//!
//! Begin at [`suite`].

mod lab;
mod legs;
mod plan;
mod scenario;
mod suite;

pub use lab::Lab;
pub use legs::LifeLeg;
pub use scenario::{Scenario, ScenarioOutcome};
pub use suite::{CrashOptions, suite};
