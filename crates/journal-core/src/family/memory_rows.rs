//! Rows in memory: the second adapter, for tests and simulation.

use std::collections::{BTreeMap, BTreeSet};

use palyra_types::Seq;
use palyra_types::proof::SeqRange;

use super::changed_columns::ChangedColumns;
use super::declaration::{ContentSource, FamilyTable, RowsPerKey};
use super::index_key::IndexKey;
use super::row_store::{
    EncodedRow, RowId, RowLookup, RowScan, RowStore, RowWrite, ScanOrder, ScannedRow, StoreFault, StoredRow,
};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct MemoryTable {
    rows: BTreeMap<RowId, EncodedRow>,
    indexes: Vec<BTreeSet<(IndexKey, RowId)>>,
}

/// The rows of all families. Two stores that hold the same rows are equal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MemoryRows {
    tables: BTreeMap<&'static str, MemoryTable>,
}

impl MemoryRows {
    /// Returns how many rows a family has.
    #[must_use]
    pub fn count(&self, table: &'static FamilyTable) -> usize {
        self.tables.get(table.name).map_or(0, |table| table.rows.len())
    }

    fn table(&mut self, table: &'static FamilyTable) -> &mut MemoryTable {
        self.tables.entry(table.name).or_insert_with(|| MemoryTable {
            rows: BTreeMap::new(),
            indexes: table.indexes.iter().map(|_| BTreeSet::new()).collect(),
        })
    }
}

impl MemoryTable {
    fn stored(&self, id: RowId) -> Option<StoredRow> {
        let row = self.rows.get(&id)?;
        Some(StoredRow { id, facts: row.facts.clone(), content: row.content.clone() })
    }

    fn by_key(&self, index: usize, key: &IndexKey) -> Option<RowId> {
        let from = (key.clone(), RowId(0));
        self.indexes[index].range(from..).next().filter(|(found, _)| found == key).map(|(_, id)| *id)
    }

    fn put(&mut self, table: &'static FamilyTable, id: RowId, row: &EncodedRow) -> Result<(), StoreFault> {
        for (index, key) in row.keys.iter().enumerate() {
            let one = table.indexes[index].rows_per_key == RowsPerKey::One;
            let taken = key.as_ref().and_then(|key| self.by_key(index, key));
            if one && taken.is_some_and(|other| other != id) {
                return Err(StoreFault::Conflict { table: table.name });
            }
        }
        if let Some(before) = self.rows.insert(id, row.clone()) {
            for (entries, key) in self.indexes.iter_mut().zip(before.keys) {
                key.map(|key| entries.remove(&(key, id)));
            }
        }
        for (entries, key) in self.indexes.iter_mut().zip(&row.keys) {
            key.as_ref().map(|key| entries.insert((key.clone(), id)));
        }
        Ok(())
    }
}

/// Returns a row with its new facts and the columns that changed.
fn updated(before: &EncodedRow, row: &EncodedRow, changed: ChangedColumns) -> EncodedRow {
    let mut updated = EncodedRow { facts: row.facts.clone(), ..before.clone() };
    for (index, key) in row.keys.iter().enumerate().filter(|(index, _)| changed.has_key(*index)) {
        updated.keys[index].clone_from(key);
    }
    if changed.has_content() {
        updated.content.clone_from(&row.content);
    }
    updated
}

impl RowStore for MemoryRows {
    fn get(
        &mut self,
        table: &'static FamilyTable,
        by: RowLookup<'_>,
    ) -> Result<Option<StoredRow>, StoreFault> {
        let table = self.table(table);
        let id = match by {
            RowLookup::Id(id) => Some(id),
            RowLookup::Key { index, key } => table.by_key(index, key),
        };
        Ok(id.and_then(|id| table.stored(id)))
    }

    fn scan(&mut self, table: &'static FamilyTable, scan: &RowScan) -> Result<Vec<ScannedRow>, StoreFault> {
        let table = self.table(table);
        let bounds = (scan.range.from.clone(), RowId(0))..(scan.range.until.clone(), RowId(0));
        let found = table.indexes[scan.index].range(bounds);
        let is_after = |place: &&(IndexKey, RowId)| match (&scan.after, scan.order) {
            (None, _) => true,
            (Some(after), ScanOrder::Ascending) => *place > after,
            (Some(after), ScanOrder::Descending) => *place < after,
        };
        let places: Vec<_> = match scan.order {
            ScanOrder::Ascending => found.filter(is_after).take(scan.limit).cloned().collect(),
            ScanOrder::Descending => found.rev().filter(is_after).take(scan.limit).cloned().collect(),
        };
        let row = |(key, id)| table.stored(id).map(|row| ScannedRow { key, row });
        Ok(places.into_iter().filter_map(row).collect())
    }

    fn write(
        &mut self,
        table: &'static FamilyTable,
        id: RowId,
        write: RowWrite<'_>,
    ) -> Result<(), StoreFault> {
        let rows = self.table(table);
        match write {
            RowWrite::Insert(_) if rows.rows.contains_key(&id) => {
                Err(StoreFault::Conflict { table: table.name })
            }
            RowWrite::Insert(row) => rows.put(table, id, row),
            RowWrite::Update(row, changed) => match rows.rows.get(&id) {
                Some(before) => {
                    let row = updated(before, row, changed);
                    rows.put(table, id, &row)
                }
                None => Ok(()),
            },
        }
    }

    fn sourced(
        &mut self,
        table: &'static FamilyTable,
        column: usize,
        range: SeqRange,
    ) -> Result<Vec<(RowId, Seq)>, StoreFault> {
        let source = table.content[column].source;
        let rows = self.table(table).rows.iter().filter_map(|(id, row)| {
            let cell = &row.content[column];
            let seq = match source {
                ContentSource::Birth => Seq::from(*id),
                ContentSource::Own => cell.source,
            };
            (cell.bytes.is_some() && range.holds(seq)).then_some((*id, seq))
        });
        let mut found: Vec<_> = rows.collect();
        found.sort_unstable_by_key(|(id, seq)| (*seq, *id));
        Ok(found)
    }
}
