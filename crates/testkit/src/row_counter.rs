//! How many rows a query reads, for tests that bound it.

use palyra_journal_core::family::{
    FamilyTable, RowId, RowLookup, RowScan, RowStore, RowWrite, ScannedRow, StoreFault, StoredRow,
};
use palyra_types::Seq;
use palyra_types::proof::SeqRange;

/// A store that counts the rows that are read from it.
pub struct RowCounter<'a> {
    rows: &'a mut dyn RowStore,
    seen: usize,
}

impl<'a> RowCounter<'a> {
    /// Counts from zero.
    pub fn new(rows: &'a mut dyn RowStore) -> Self {
        Self { rows, seen: 0 }
    }

    /// Returns how many rows were asked for by id or key, or found by a scan.
    #[must_use]
    pub fn seen(&self) -> usize {
        self.seen
    }
}

impl RowStore for RowCounter<'_> {
    fn get(
        &mut self,
        table: &'static FamilyTable,
        lookup: RowLookup<'_>,
    ) -> Result<Option<StoredRow>, StoreFault> {
        self.seen += 1;
        self.rows.get(table, lookup)
    }

    fn scan(&mut self, table: &'static FamilyTable, scan: &RowScan) -> Result<Vec<ScannedRow>, StoreFault> {
        let found = self.rows.scan(table, scan)?;
        self.seen += found.len();
        Ok(found)
    }

    fn sourced(
        &mut self,
        table: &'static FamilyTable,
        column: usize,
        range: SeqRange,
    ) -> Result<Vec<(RowId, Seq)>, StoreFault> {
        self.rows.sourced(table, column, range)
    }

    fn write(
        &mut self,
        table: &'static FamilyTable,
        id: RowId,
        write: RowWrite<'_>,
    ) -> Result<(), StoreFault> {
        self.rows.write(table, id, write)
    }
}
