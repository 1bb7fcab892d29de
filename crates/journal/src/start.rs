//! From a folder to a journal that can be written.
//!
//! Owns what happens before the first append: refusing folders and formats that do not fit, repairing after a
//! quarantine, pre-writing the WAL, opening the log, raising the epoch. Begin at [`open`].

mod options;

mod opening;

mod format;
mod upgrade;
mod repair;
mod wal_check;

mod folder;
mod missing;
mod derived;
mod tail;
mod integrity;
mod frontier;
mod begin;

mod error;

pub use error::OpenError;
pub use options::{Derived, OpenOptions};

pub(crate) use begin::SigningStart;
pub(crate) use derived::ENTRIES_COMPARED_MAX;
pub(crate) use opening::open;
