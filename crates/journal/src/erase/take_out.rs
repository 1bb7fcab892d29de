//! What leaves the tables in the commit of an `Erased` entry: payloads, files, and every column derived from them.
//!
//! Invariant: what is left equals a fold over the log without these payloads.

use palyra_journal_core::families::FamilySet;
use palyra_types::event::{JournalEvent, LogEvent};
use palyra_types::proof::SeqRange;
use rusqlite::Connection;

use super::find::bounds;
use crate::entry::PreparedEntry;
use crate::rows::{SqliteRows, sql_error};
use palyra_journal_core::seq_ranges::joined;

/// What an append's `Erased` entries took away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TakenOut {
    /// There were none.
    Nothing,
    /// Rows have changed beneath whoever remembers them.
    Content,
}

/// Takes out what the `Erased` entries among these name; the caller holds their transaction.
pub(crate) fn take_out_named(
    connection: &Connection,
    families: &mut FamilySet,
    entries: &[PreparedEntry],
) -> rusqlite::Result<TakenOut> {
    let mut taken = TakenOut::Nothing;
    for entry in entries {
        if let JournalEvent::Log(LogEvent::Erased { ranges, .. }) = &entry.event {
            let ranges = joined(ranges.clone());
            take_out(connection, &ranges)?;
            families.erase_content(&mut SqliteRows::new(connection), &ranges).map_err(sql_error)?;
            taken = TakenOut::Content;
        }
    }
    Ok(taken)
}

fn take_out(connection: &Connection, ranges: &[SeqRange]) -> rusqlite::Result<()> {
    for table in ["payload", "chunk"] {
        let mut delete =
            connection.prepare_cached(&format!("DELETE FROM {table} WHERE seq BETWEEN ?1 AND ?2"))?;
        for range in ranges {
            delete.execute(bounds(*range))?;
        }
    }
    Ok(())
}
