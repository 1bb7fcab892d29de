//! Queries of families on a connection: rows and entries of one snapshot.

use palyra_journal_core::family::{LogView, LoggedEntry, RowStore, Snapshot, SnapshotQuery, StoreFault};
use palyra_ledger::Envelope;
use palyra_types::Seq;
use rusqlite::Connection;

use crate::entry::StoredEntry;
use crate::fault::{EntryFault, ReadFault};
use crate::rows::{SqliteRows, sql_error};

/// The entries of a connection.
struct JournalLog<'a>(&'a Connection);

impl LogView for JournalLog<'_> {
    fn entry(&mut self, seq: Seq) -> Result<LoggedEntry, StoreFault> {
        let failed = |fault: ReadFault| StoreFault::Failed(Box::new(fault));
        let stored = StoredEntry::at(self.0, seq).map_err(failed)?;
        let event = stored.event().map_err(failed)?;
        let Envelope { time, principal, session, run, .. } = stored.envelope;
        Ok(LoggedEntry { time, principal, session, run, event })
    }
}

/// Runs a query in one snapshot.
pub(crate) fn read_rows<T>(
    connection: &Connection,
    query: impl FnOnce(&mut dyn RowStore, &mut dyn LogView) -> Result<T, StoreFault>,
) -> Result<T, ReadFault> {
    let snapshot = connection.unchecked_transaction()?;
    query(&mut SqliteRows::new(&snapshot), &mut JournalLog(&snapshot)).map_err(read_fault)
}

/// Runs a query of the port in one snapshot.
pub(crate) fn run_query(connection: &Connection, query: SnapshotQuery) -> Result<(), ReadFault> {
    read_rows(connection, |rows, log| query(Snapshot { rows, log }))
}

fn read_fault(fault: StoreFault) -> ReadFault {
    match fault {
        StoreFault::Contradiction { seq } => EntryFault::Row.at(seq),
        StoreFault::Damaged { id, .. } => EntryFault::Row.at(id.into()),
        StoreFault::Failed(source) => match source.downcast::<ReadFault>() {
            Ok(fault) => *fault,
            Err(source) => sql_error(StoreFault::Failed(source)).into(),
        },
        fault @ StoreFault::Conflict { .. } => sql_error(fault).into(),
    }
}
