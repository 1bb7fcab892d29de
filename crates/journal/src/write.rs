//! The one writer: a queue, a thread, a connection.
//!
//! Owns every write to the log after the start. Knows no caller: appends come from the queue, answers go out
//! by their channel, and only after the commit returned. Begin at [`thread`].

mod prepare;
mod queue;
#[cfg(test)]
#[path = "write/queue/tests.rs"]
mod queue_tests;
#[cfg(test)]
mod schedules;
mod sync;

mod thread;
mod signing;
mod lost_files;

mod log_writer;
mod contents;
mod rebuild;
mod erasure;
mod guards;
mod authority;

mod checkpoint;
mod headroom;

pub(crate) use erasure::{PendingErasure, finish as finish_erasure};
pub use headroom::FreeSpace;
pub(crate) use headroom::{DiskHeadroom, free_space_of};
pub(crate) use log_writer::{GroupError, LogWriter};
pub(crate) use prepare::{own_append, own_entry, prepare};
pub(crate) use queue::{PendingAppend, PendingHead, PendingRebuild, Queue};
pub(crate) use thread::{Writer, spawn};
