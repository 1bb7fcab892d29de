//! Derived tables at start: rebuilt where they do not fit the log, before anything is judged by them.
//!
//! Owns how much is compared. Invariant: only tables that are derived are changed.

use std::path::Path;

use rusqlite::Connection;

use super::error::OpenError;
use super::options::{Derived, OpenOptions};
use super::tail::LogTail;
use crate::refold;
use crate::rows;
use crate::table_check;

/// Entries up to which a start compares every row with a fold anew. A longer log is compared beside
/// the service.
pub(crate) const ENTRIES_COMPARED_MAX: u64 = 2_048;

/// Rebuilds the derived tables unless they fit.
pub(super) fn settle(
    options: &OpenOptions,
    connection: &Connection,
    database: &Path,
    tail: Option<&LogTail>,
) -> Result<(), OpenError> {
    let what = match options.derived {
        Derived::Rebuilt => Some("it was asked for"),
        Derived::Checked => match table_check::misfit(connection)? {
            None => {
                settle_families(options, connection)?;
                misfit_of_rows(connection, database, tail)
            }
            what => what,
        },
    };
    what.map_or(Ok(()), |what| rebuild(options, connection, what))
}

/// Rebuilds the families whose tables are not those that this program makes and fills.
fn settle_families(options: &OpenOptions, connection: &Connection) -> Result<(), OpenError> {
    rows::drop_unknown_families(connection)?;
    let stale = rows::stale_families(connection)?;
    if !stale.is_empty() {
        let families: Vec<&str> = stale.iter().map(|table| table.name).collect();
        tracing::warn!(?families, "rebuilding the families of records whose version is another one");
        refold::rebuild_families(connection, &stale, &|done, total| options.report_rebuild(done, total))?;
    }
    Ok(())
}

fn misfit_of_rows(connection: &Connection, database: &Path, tail: Option<&LogTail>) -> Option<&'static str> {
    if tail.is_some_and(|tail| !table_check::knows_epoch(connection, tail.last_epoch)) {
        return Some("the newest epoch is not the one of the log");
    }
    if is_short(tail) { differing_row(database) } else { None }
}

/// A log that cannot be read to its end says nothing of what is derived from it.
fn differing_row(database: &Path) -> Option<&'static str> {
    match table_check::agrees(database) {
        Ok(true) => None,
        Ok(false) => Some("a row is not what the log says"),
        Err(error) => {
            tracing::error!(%error, "what is derived from the log cannot be compared with it");
            None
        }
    }
}

fn is_short(tail: Option<&LogTail>) -> bool {
    tail.is_some_and(|tail| tail.chain.next_seq.0 <= ENTRIES_COMPARED_MAX)
}

/// Rebuilds the derived tables.
pub(super) fn rebuild(options: &OpenOptions, connection: &Connection, what: &str) -> Result<(), OpenError> {
    tracing::warn!(what, "rebuilding everything that is derived from the log");
    Ok(refold::recreate(connection, &|done, total| options.report_rebuild(done, total))?)
}
