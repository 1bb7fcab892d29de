//! Two schedules become due, and the daemon is killed on the way to what they lead to: nothing is lost and nothing doubled.
//!
//! One schedule starts a run, the other one delivers a reminder, about which a program and a webhook get a message. Owns the
//! ledgers of both receivers, which the daemon does not write, and what must be true of them and of the journal in the end.
//! Begin at [`suite`].

mod place;
mod webhook;
mod program;
mod legs;
mod facts;
mod differences;
mod story_client;
mod context;
mod scenario;
mod controls;
mod counts;
mod suite;

pub use suite::suite;
