//! Folding the log anew: everything, or the families whose tables are of another version.

use palyra_journal_core::families::{FamilySet, with_linked_families};
use palyra_journal_core::family::{FamilySelection, FamilyTable, FoldedEntry};
use palyra_ledger::Envelope;
use palyra_types::Seq;
use rusqlite::Connection;

use crate::entry::{SELECT_ENTRIES, StoredEntry};
use crate::fault::ReadFault;
use crate::rows::{self, SqliteRows, sql_error};
use crate::schema;
use crate::sql::{seq_to_sql, u64_from_sql};

/// Entries between two reports of progress.
const PROGRESS_EVERY_ENTRIES: u64 = 4_096;

/// Entries between two lines of the log about progress.
const PROGRESS_TOLD_EVERY_ENTRIES: u64 = 16 * PROGRESS_EVERY_ENTRIES;

/// Rows of families that one commit changes: about 4 MiB, for each of them changes a page.
const PIECE_ROWS_MAX: usize = 1_024;

/// Makes all projections anew, tables and rows, in one transaction.
pub(crate) fn recreate(connection: &Connection, progress: &dyn Fn(u64, u64)) -> Result<(), ReadFault> {
    let transaction = connection.unchecked_transaction()?;
    schema::recreate_projections(&transaction)?;
    fold_log(&transaction, progress)?;
    Ok(transaction.commit()?)
}

/// Folds every entry into empty projections and returns their number; the caller holds the transaction.
pub(crate) fn fold_log(connection: &Connection, progress: &dyn Fn(u64, u64)) -> Result<u64, ReadFault> {
    let mut families = FamilySet::of_empty_tables(FamilySelection::All);
    let mut store = SqliteRows::new(connection);
    let entries = fold_entries(connection, Seq(0), progress, &mut |entry| {
        families.fold(&mut store, entry).map_err(sql_error)?;
        if families.is_full() {
            families.flush(&mut store).map_err(sql_error)?;
        }
        Ok(FoldFlow::Next)
    })?;
    families.flush(&mut SqliteRows::new(connection)).map_err(sql_error)?;
    Ok(entries.0)
}

/// Makes the tables of families anew in several commits; a crash between two of them leaves a mark that the next start
/// finds.
pub(crate) fn rebuild_families(
    connection: &Connection,
    tables: &[&'static FamilyTable],
    progress: &dyn Fn(u64, u64),
) -> Result<(), ReadFault> {
    let tables = &with_linked_families(tables);
    let transaction = connection.unchecked_transaction()?;
    rows::begin_rebuild(&transaction, tables)?;
    transaction.commit()?;
    let mut families = FamilySet::of_empty_tables(FamilySelection::Only(tables.clone()));
    let mut from = Seq(0);
    loop {
        let transaction = connection.unchecked_transaction()?;
        let next = fold_piece(&transaction, &mut families, from, progress)?;
        if next.is_none() {
            rows::finish_rebuild(&transaction, tables)?;
        }
        transaction.commit()?;
        let Some(next) = next else { return Ok(()) };
        from = next;
        // Connections never move the write-ahead log by themselves; where another program reads it, it grows.
        connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))?;
    }
}

/// Folds entries until one commit is full; returns the first entry of the next one.
fn fold_piece(
    connection: &Connection,
    families: &mut FamilySet,
    from: Seq,
    progress: &dyn Fn(u64, u64),
) -> Result<Option<Seq>, ReadFault> {
    let mut store = SqliteRows::new(connection);
    let end = fold_entries(connection, from, progress, &mut |entry| {
        families.fold(&mut store, entry).map_err(sql_error)?;
        Ok(if families.changed_rows() < PIECE_ROWS_MAX { FoldFlow::Next } else { FoldFlow::Stop })
    })?;
    families.flush(&mut SqliteRows::new(connection)).map_err(sql_error)?;
    let total = entry_count(connection)?;
    Ok((end.0 < total).then_some(end))
}

/// Writes a line to the log now and then.
pub(crate) fn log_progress(done: u64, total: u64) {
    if done.is_multiple_of(PROGRESS_TOLD_EVERY_ENTRIES) || done == total {
        tracing::info!(done, total, "rebuilding what is derived from the log");
    }
}

fn entry_count(connection: &Connection) -> rusqlite::Result<u64> {
    let sql = "SELECT coalesce(max(seq) + 1, 0) FROM entry";
    connection.query_row(sql, [], |row| row.get(0)).map(u64_from_sql)
}

/// Whether the walk goes on behind an entry.
enum FoldFlow {
    Next,
    Stop,
}

/// Hands out entries in order; returns the number of the first one that was not handed out.
fn fold_entries(
    connection: &Connection,
    from: Seq,
    progress: &dyn Fn(u64, u64),
    fold: &mut dyn FnMut(&FoldedEntry<'_>) -> rusqlite::Result<FoldFlow>,
) -> Result<Seq, ReadFault> {
    let total = entry_count(connection)?;
    let sql = format!("{SELECT_ENTRIES} WHERE e.seq >= ?1 ORDER BY e.seq");
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query([seq_to_sql(from)])?;
    let mut done = from.0;
    while let Some(row) = rows.next()? {
        let stored = StoredEntry::read(connection, row)?;
        let event = stored.event()?;
        let Envelope { seq, kind, time, principal, session, run, .. } = stored.envelope;
        let flow = fold(&FoldedEntry { seq, kind, time, principal, session, run, event: &event })?;
        done += 1;
        if done.is_multiple_of(PROGRESS_EVERY_ENTRIES) {
            progress(done, total);
        }
        if let FoldFlow::Stop = flow {
            return Ok(Seq(done));
        }
    }
    progress(done, total);
    Ok(Seq(done))
}
