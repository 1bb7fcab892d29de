//! Whether a database file is a journal, and of a format that this version knows.

use super::error::OpenError;
use crate::schema;

/// The formats that are read here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LogFormat {
    /// The one that is written.
    Present,
    /// Format 1: the log alone.
    WithoutTree,
}

/// Refuses what is no journal, or newer than we know, by the two numbers that SQLite keeps for its users.
pub(super) fn check_stamp(application_id: i32, format: i32) -> Result<LogFormat, OpenError> {
    if application_id != schema::APPLICATION_ID {
        return Err(OpenError::NotAJournal);
    }
    match format {
        schema::FORMAT => Ok(LogFormat::Present),
        schema::FORMAT_WITHOUT_TREE => Ok(LogFormat::WithoutTree),
        found if found > schema::FORMAT => Err(OpenError::Newer { found, known: schema::FORMAT }),
        _ => Err(OpenError::NotAJournal),
    }
}
