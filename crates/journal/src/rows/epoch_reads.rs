//! The epochs of a connection, by which late writers are refused.

use palyra_journal_core::families::epochs::{self, StartedEpoch};
use palyra_types::Epoch;
use rusqlite::Connection;

use super::sqlite_rows::{SqliteRows, sql_error};

/// Returns the newest epoch; zero before the first.
pub(crate) fn newest_epoch(connection: &Connection) -> rusqlite::Result<Epoch> {
    epochs::newest(&mut SqliteRows::new(connection)).map_err(sql_error)
}

/// Returns every epoch, newest first.
pub(crate) fn epochs_descending(connection: &Connection) -> rusqlite::Result<Vec<StartedEpoch>> {
    epochs::descending(&mut SqliteRows::new(connection)).map_err(sql_error)
}
