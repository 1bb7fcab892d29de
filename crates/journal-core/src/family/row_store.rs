//! The border to an adapter that stores rows: what folds, queries and erasures ask of it.

use std::error::Error;

use palyra_types::Seq;
use palyra_types::proof::SeqRange;

use super::changed_columns::ChangedColumns;
use super::declaration::FamilyTable;
use super::index_key::{IndexKey, KeyRange};

/// A row's name: the number of the entry that made it. An entry makes at most one row of a family.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RowId(pub u64);

impl From<Seq> for RowId {
    fn from(seq: Seq) -> Self {
        Self(seq.0)
    }
}

impl From<RowId> for Seq {
    fn from(id: RowId) -> Self {
        Self(id.0)
    }
}

/// The value of a content column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContentCell {
    /// `None` where there is none, or no longer.
    pub bytes: Option<Vec<u8>>,
    /// The entry that it comes from.
    pub source: Seq,
}

impl ContentCell {
    /// Makes a cell of bytes; an empty slice makes an empty cell.
    #[must_use]
    pub fn new(bytes: impl Into<Vec<u8>>, source: Seq) -> Self {
        let bytes = bytes.into();
        Self { bytes: (!bytes.is_empty()).then_some(bytes), source }
    }

    /// Returns the bytes, empty where there are none.
    #[must_use]
    pub fn to_bytes(&self) -> &[u8] {
        self.bytes.as_deref().unwrap_or_default()
    }

    /// Returns the text, empty where there is none; `None` where it is malformed.
    #[must_use]
    pub fn to_text(&self) -> Option<String> {
        String::from_utf8(self.to_bytes().to_vec()).ok()
    }
}

/// A row as it is stored, without the keys that are derived from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredRow {
    /// Its name.
    pub id: RowId,
    /// Everything that is not content.
    pub facts: Vec<u8>,
    /// The content columns, in the order of the declaration.
    pub content: Vec<ContentCell>,
}

/// A row to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EncodedRow {
    /// Everything that is not content.
    pub facts: Vec<u8>,
    /// The key in each index.
    pub keys: Vec<Option<IndexKey>>,
    /// The content columns, in the order of the declaration.
    pub content: Vec<ContentCell>,
}

impl EncodedRow {
    /// Returns the columns in which this row differs from an earlier state of it.
    #[must_use]
    pub fn changed_since(&self, older: &Self) -> ChangedColumns {
        let keys = older.keys.iter().zip(&self.keys).enumerate();
        let changed = keys.filter(|(_, (before, after))| before != after);
        let columns = changed.fold(ChangedColumns::NONE, |columns, (index, _)| columns.with_key(index));
        if older.content == self.content { columns } else { columns.with_content() }
    }
}

/// What names one row.
#[derive(Debug, Clone, Copy)]
pub enum RowLookup<'a> {
    /// Its id.
    Id(RowId),
    /// Its key in an index with one row per key.
    Key {
        /// Position in the declaration.
        index: usize,
        /// The key.
        key: &'a IndexKey,
    },
}

/// In which direction an index is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScanOrder {
    /// The lowest key and id first.
    Ascending,
    /// The highest key and id first.
    Descending,
}

/// A page of an index.
#[derive(Debug, Clone)]
pub struct RowScan {
    /// Position in the declaration.
    pub index: usize,
    /// The keys that are wanted.
    pub range: KeyRange,
    /// The place of the last row of the page before.
    pub after: Option<(IndexKey, RowId)>,
    /// The direction.
    pub order: ScanOrder,
    /// Rows at most.
    pub limit: usize,
}

/// A row with the key by which a scan found it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScannedRow {
    /// The key in the index.
    pub key: IndexKey,
    /// The row.
    pub row: StoredRow,
}

/// How a row is written.
#[derive(Debug, Clone, Copy)]
pub enum RowWrite<'a> {
    /// It is new.
    Insert(&'a EncodedRow),
    /// It is stored; its facts and these columns are written, the other ones are what they were.
    Update(&'a EncodedRow, ChangedColumns),
}

/// Why a store did not do what it was asked for.
#[derive(Debug, thiserror::Error)]
pub enum StoreFault {
    /// A row is not what its family writes.
    #[error("row {} of `{table}` cannot be decoded", id.0)]
    Damaged {
        /// The family.
        table: &'static str,
        /// The row.
        id: RowId,
    },
    /// A row contradicts the entry that it names.
    #[error("a row contradicts the entry {seq} that it names")]
    Contradiction {
        /// The entry.
        seq: Seq,
    },
    /// Two rows have one id, or one key of an index with one row per key.
    #[error("two rows of `{table}` have the same id or key")]
    Conflict {
        /// The family.
        table: &'static str,
    },
    /// The adapter failed; the source is the adapter's own error.
    #[error("the store of rows failed")]
    Failed(#[source] Box<dyn Error + Send + Sync>),
}

/// Rows of all families: inside a transaction of the writer, or one snapshot.
pub trait RowStore {
    /// Returns a row.
    ///
    /// # Errors
    /// [`StoreFault`]; so for every method.
    fn get(
        &mut self,
        table: &'static FamilyTable,
        by: RowLookup<'_>,
    ) -> Result<Option<StoredRow>, StoreFault>;

    /// Returns a page of an index, ordered by key and id.
    ///
    /// # Errors
    /// See [`RowStore::get`].
    fn scan(&mut self, table: &'static FamilyTable, scan: &RowScan) -> Result<Vec<ScannedRow>, StoreFault>;

    /// Writes a row.
    ///
    /// # Errors
    /// See [`RowStore::get`]; [`StoreFault::Conflict`] or the adapter's own where an id or key is taken.
    fn write(
        &mut self,
        table: &'static FamilyTable,
        id: RowId,
        write: RowWrite<'_>,
    ) -> Result<(), StoreFault>;

    /// Returns the rows whose content column comes from an entry of a range and is not empty, with that entry.
    ///
    /// # Errors
    /// See [`RowStore::get`].
    fn sourced(
        &mut self,
        table: &'static FamilyTable,
        column: usize,
        range: SeqRange,
    ) -> Result<Vec<(RowId, Seq)>, StoreFault>;
}

/// Rows read from a store at once.
pub(super) const PAGE_ROWS: usize = 256;

/// Returns the rows of a scan, however many these are, page by page.
///
/// # Errors
/// [`StoreFault`] when the store fails.
pub(crate) fn scan_pages(
    store: &mut dyn RowStore,
    table: &'static FamilyTable,
    mut scan: RowScan,
) -> Result<Vec<ScannedRow>, StoreFault> {
    let limit = scan.limit;
    let mut rows: Vec<ScannedRow> = Vec::new();
    while rows.len() < limit {
        scan.limit = PAGE_ROWS.min(limit - rows.len());
        let page = store.scan(table, &scan)?;
        let is_last = page.len() < scan.limit;
        rows.extend(page);
        if is_last {
            break;
        }
        scan.after = rows.last().map(|last| (last.key.clone(), last.row.id));
    }
    Ok(rows)
}
