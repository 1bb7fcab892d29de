//! Folding the whole log, at start or when a person asks.

use rusqlite::Connection;

use super::fold::Projections;
use super::folded::Folded;
use crate::entry::{ENTRY_COLUMNS, StoredEntry};
use crate::fault::ReadFault;
use crate::schema;

/// Entries between two reports of progress.
const PROGRESS_EVERY_ENTRIES: u64 = 4_096;

/// Entries between two lines of the log about progress.
const PROGRESS_TOLD_EVERY_ENTRIES: u64 = 16 * PROGRESS_EVERY_ENTRIES;

/// Makes all projections anew, tables and rows, in one transaction.
pub(crate) fn recreate(connection: &Connection) -> Result<(), ReadFault> {
    let transaction = connection.unchecked_transaction()?;
    schema::recreate_projections(&transaction)?;
    fold_log(&transaction, &|done, total| {
        if done.is_multiple_of(PROGRESS_TOLD_EVERY_ENTRIES) || done == total {
            tracing::info!(done, total, "rebuilding what is derived from the log");
        }
    })?;
    Ok(transaction.commit()?)
}

/// Folds every entry into empty projections and returns their number; the caller holds the transaction.
pub(crate) fn fold_log(connection: &Connection, progress: &dyn Fn(u64, u64)) -> Result<u64, ReadFault> {
    let total: i64 =
        connection.query_row("SELECT coalesce(max(seq) + 1, 0) FROM entry", [], |row| row.get(0))?;
    let total = total.cast_unsigned();
    let sql =
        format!("SELECT {ENTRY_COLUMNS} FROM entry e LEFT JOIN payload p ON p.seq = e.seq ORDER BY e.seq");
    let mut statement = connection.prepare(&sql)?;
    let mut rows = statement.query([])?;
    let mut projections = Projections::new();
    let mut done: u64 = 0;
    while let Some(row) = rows.next()? {
        let stored = StoredEntry::read(connection, row)?;
        let event = stored.event()?;
        let folded = Folded {
            seq: stored.envelope.seq,
            kind: stored.envelope.kind,
            time: stored.envelope.time,
            principal: stored.envelope.principal,
            session: stored.envelope.session,
            run: stored.envelope.run,
            event: &event,
        };
        projections.fold(connection, &folded)?;
        if projections.is_full() {
            projections.flush(connection)?;
        }
        done += 1;
        if done.is_multiple_of(PROGRESS_EVERY_ENTRIES) {
            progress(done, total);
        }
    }
    projections.flush(connection)?;
    progress(done, total);
    Ok(done)
}
