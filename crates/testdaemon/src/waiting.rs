//! Thousands of runs that each wait for a person, through `kill -9`: all are back at once, and cost little to keep.
//!
//! They are real: each was asked of the daemon by a client, and the model wanted to write a file. Begin at [`suite`].

mod crowd;
mod memory;
mod suite;

pub use suite::{WaitingOptions, suite};
