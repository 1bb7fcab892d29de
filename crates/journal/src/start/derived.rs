//! Derived tables at start: rebuilt where they do not fit the log, before anything is judged by them.
//!
//! Owns how much is compared. Invariant: only tables that are derived are changed.

use std::path::Path;

use rusqlite::Connection;

use super::error::OpenError;
use super::options::{Derived, OpenOptions};
use super::tail::Tail;
use crate::project;

/// Entries up to which a start compares every row with a fold anew. A longer log is compared beside
/// the service.
pub(crate) const ENTRIES_COMPARED_MAX: u64 = 2_048;

/// Rebuilds the derived tables unless they fit.
pub(super) fn settle(
    options: &OpenOptions,
    connection: &Connection,
    database: &Path,
    tail: Option<&Tail>,
) -> Result<(), OpenError> {
    let newest = tail.map(|tail| tail.last_epoch);
    let what = match options.derived {
        Derived::Rebuilt => Some("it was asked for"),
        Derived::Checked => match project::misfit(connection, newest)? {
            None if is_short(tail) => differing_row(database),
            what => what,
        },
    };
    what.map_or(Ok(()), |what| rebuild(connection, what))
}

/// A log that cannot be read to its end says nothing of what is derived from it.
fn differing_row(database: &Path) -> Option<&'static str> {
    match project::agrees(database) {
        Ok(true) => None,
        Ok(false) => Some("a row is not what the log says"),
        Err(error) => {
            tracing::error!(%error, "what is derived from the log cannot be compared with it");
            None
        }
    }
}

fn is_short(tail: Option<&Tail>) -> bool {
    tail.is_some_and(|tail| tail.chain.next_seq.0 <= ENTRIES_COMPARED_MAX)
}

/// Rebuilds the derived tables.
pub(super) fn rebuild(connection: &Connection, what: &str) -> Result<(), OpenError> {
    tracing::warn!(what, "rebuilding everything that is derived from the log");
    Ok(project::recreate(connection)?)
}
