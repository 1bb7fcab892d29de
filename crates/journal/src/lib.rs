//! The journal on SQLite: one append-only log, projections beside it.
//!
//! Owns the files below the state directory that hold what happened, and makes the four journal ports.
//! Knows no run machine and no transport. Invariant: an append is answered only after its commit is durable,
//! and every projection equals a fold over the log.
//!
//! Begin at [`JournalStore`], then `write::thread` for appends and `read` for queries.

mod store;

mod start;
mod write;

mod read;

mod tree;
mod sign;
mod verify;
mod prove;

mod seal;

mod rows;
mod refold;
mod table_check;

mod erase;

mod blob;
mod entry;

#[doc(hidden)]
pub mod row_tool;
#[doc(hidden)]
pub use palyra_journal_core::untrusted;

mod connection;
mod file_places;
mod quarantine;
mod counters;
mod fault;
mod schema;
mod sql;

pub use seal::PayloadSealing;
pub use start::{Derived, OpenError, OpenOptions};
pub use store::JournalStore;
pub use write::FreeSpace;
