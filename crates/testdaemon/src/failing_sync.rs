//! A sync fails once: the journal takes nothing more, says so, and the next start repairs it.
//!
//! Begin at [`suite`].

mod scenario;
mod suite;

pub use suite::{SyncOptions, suite};
