//! A family, and its rows in use between reading and writing them.
//!
//! Owns what a family declares and which of its rows have changed. Invariant: after [`RowCache::flush`] the store equals the cache; after
//! [`RowCache::forget`] nothing is cached, so the next lookup goes to the store.

use std::collections::HashMap;

use rustc_hash::FxBuildHasher;

use super::declaration::{FamilyTable, RowsPerKey};
use super::folded_entry::FoldedEntry;
use super::index_key::{IndexKey, KeyRange};
use super::passed::PassedChanges;
use super::row_store::{
    ContentCell, EncodedRow, RowId, RowLookup, RowScan, RowStore, RowWrite, ScanOrder, StoreFault, StoredRow,
    scan_pages,
};

/// Records of one sort: what a row is, and how entries change rows.
pub trait Family: Sized + 'static {
    /// What adapters make tables from.
    const TABLE: &'static FamilyTable;

    /// Whether the keys of a row in the indexes with one row per key never change: they are then made once.
    const HAS_FIXED_KEYS: bool = false;

    /// A row in use.
    type Row: Clone;

    /// Encodes everything of a row that is not content.
    fn facts(row: &Self::Row) -> Vec<u8>;

    /// Returns the content columns of a row, in the order of the declaration.
    fn content(_row: &Self::Row) -> Vec<ContentCell> {
        Vec::new()
    }

    /// Decodes a row; `None` where the facts are malformed. An empty cell gives the row that a fold without this content
    /// gives.
    fn load(stored: &StoredRow) -> Option<Self::Row>;

    /// Returns the key of a row in an index of the declaration.
    fn index(row: &Self::Row, index: usize) -> Option<IndexKey>;

    /// Folds an entry. It makes at most one new row.
    ///
    /// # Errors
    /// [`StoreFault`] when the store fails.
    fn fold(rows: &mut FamilyCache<'_, Self>, entry: &FoldedEntry<'_>) -> Result<(), StoreFault>;
}

/// Rows cached at most; beyond it they are written and forgotten.
const ROWS_CACHED_MAX: usize = 4_096;

/// What the store holds of a cached row.
enum StoreState<Row> {
    Same,
    Missing,
    Older(Row),
}

struct CachedRow<Row> {
    row: Row,
    /// Its keys in the indexes with one row per key, `None` for the other ones.
    unique_keys: Vec<Option<IndexKey>>,
    stored: StoreState<Row>,
}

/// Rows by key; nothing depends on the order, and none of these maps is walked through.
type RowsByKey = HashMap<IndexKey, RowId, FxBuildHasher>;

/// The rows of a family that are in use.
pub struct RowCache<F: Family> {
    rows: HashMap<RowId, CachedRow<F::Row>, FxBuildHasher>,
    /// For each index with one row per key, the cached rows by key.
    keys: Vec<RowsByKey>,
    changed: Vec<RowId>,
    /// Whether the cache has every row of the table: there are no other ones.
    has_all: bool,
}

impl<F: Family> Default for RowCache<F> {
    fn default() -> Self {
        let keys = F::TABLE.indexes.iter().map(|_| RowsByKey::default()).collect();
        Self { rows: HashMap::default(), keys, changed: Vec::new(), has_all: false }
    }
}

impl<F: Family> RowCache<F> {
    /// Makes the cache of an empty table: it reads nothing from the store while it has all rows.
    #[must_use]
    pub fn of_empty_table() -> Self {
        Self { has_all: true, ..Self::default() }
    }

    /// Gives access to the rows, with what earlier families passed.
    pub fn over<'a>(
        &'a mut self,
        store: &'a mut dyn RowStore,
        passed: &'a mut PassedChanges,
    ) -> FamilyCache<'a, F> {
        FamilyCache { cached: self, store, passed }
    }

    /// Folds an entry into the rows, given what earlier families passed, and adds what it passes.
    ///
    /// # Errors
    /// [`StoreFault`] when the store fails.
    pub fn fold(
        &mut self,
        store: &mut dyn RowStore,
        entry: &FoldedEntry<'_>,
        passed: &mut PassedChanges,
    ) -> Result<(), StoreFault> {
        F::fold(&mut self.over(store, passed), entry)
    }

    /// Writes what changed, in the order in which rows were first changed.
    ///
    /// # Errors
    /// [`StoreFault`] when the store fails.
    pub fn flush(&mut self, store: &mut dyn RowStore) -> Result<(), StoreFault> {
        for id in std::mem::take(&mut self.changed) {
            let Some(cached) = self.rows.get_mut(&id) else { continue };
            let encoded = encode::<F>(&cached.row);
            match std::mem::replace(&mut cached.stored, StoreState::Same) {
                StoreState::Same => {}
                StoreState::Missing => store.write(F::TABLE, id, RowWrite::Insert(&encoded))?,
                StoreState::Older(older) => {
                    let older = encode::<F>(&older);
                    if older != encoded {
                        let changed = encoded.changed_since(&older);
                        store.write(F::TABLE, id, RowWrite::Update(&encoded, changed))?;
                    }
                }
            }
        }
        if self.is_full() {
            self.forget();
        }
        Ok(())
    }

    /// Returns whether writing is due, for folds over many entries.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.rows.len() > ROWS_CACHED_MAX
    }

    /// Returns how many rows wait to be written.
    #[must_use]
    pub fn changed_rows(&self) -> usize {
        self.changed.len()
    }

    /// Drops every row, changed or not.
    pub fn forget(&mut self) {
        self.rows.clear();
        self.keys.iter_mut().for_each(RowsByKey::clear);
        self.changed.clear();
        self.has_all = false;
    }

    fn add(&mut self, id: RowId, row: F::Row, stored: StoreState<F::Row>) {
        let unique_keys = unique_keys::<F>(&row);
        for (keys, key) in self.keys.iter_mut().zip(&unique_keys) {
            key.as_ref().and_then(|key| keys.insert(key.clone(), id));
        }
        self.rows.insert(id, CachedRow { row, unique_keys, stored });
    }
}

/// A family's rows during a fold.
pub struct FamilyCache<'a, F: Family> {
    cached: &'a mut RowCache<F>,
    store: &'a mut dyn RowStore,
    /// What earlier families passed, and what this one passes.
    pub passed: &'a mut PassedChanges,
}

impl<F: Family> FamilyCache<'_, F> {
    /// Returns a row.
    ///
    /// # Errors
    /// [`StoreFault`] when the store fails; so for every method.
    pub fn get(&mut self, id: RowId) -> Result<Option<F::Row>, StoreFault> {
        if let Some(cached) = self.cached.rows.get(&id) {
            return Ok(Some(cached.row.clone()));
        }
        if self.cached.has_all {
            return Ok(None);
        }
        let Some(stored) = self.store.get(F::TABLE, RowLookup::Id(id))? else { return Ok(None) };
        let row = load_row::<F>(&stored)?;
        self.cached.add(id, row.clone(), StoreState::Same);
        Ok(Some(row))
    }

    /// Returns the row with a key of an index with one row per key.
    ///
    /// # Errors
    /// See [`FamilyCache::get`].
    pub fn find(&mut self, index: usize, key: &IndexKey) -> Result<Option<(RowId, F::Row)>, StoreFault> {
        if let Some(id) = self.cached.keys[index].get(key).copied() {
            return Ok(self.get(id)?.map(|row| (id, row)));
        }
        if self.cached.has_all {
            return Ok(None);
        }
        let Some(stored) = self.store.get(F::TABLE, RowLookup::Key { index, key })? else { return Ok(None) };
        if let Some(cached) = self.cached.rows.get(&stored.id) {
            // The cached row is newer: the store finds it by a key that it no longer has.
            let same = F::index(&cached.row, index).as_ref() == Some(key);
            return Ok(same.then(|| (stored.id, cached.row.clone())));
        }
        let row = load_row::<F>(&stored)?;
        self.cached.add(stored.id, row.clone(), StoreState::Same);
        Ok(Some((stored.id, row)))
    }

    /// Returns the names of all rows with a key of an index with many rows per key. Writes what changed before.
    ///
    /// # Errors
    /// See [`FamilyCache::get`].
    pub fn find_all(&mut self, index: usize, key: IndexKey) -> Result<Vec<RowId>, StoreFault> {
        self.cached.flush(self.store)?;
        let range = KeyRange::of_prefix(key);
        let scan = RowScan { index, range, after: None, order: ScanOrder::Ascending, limit: usize::MAX };
        let rows = scan_pages(self.store, F::TABLE, scan)?;
        Ok(rows.into_iter().map(|scanned| scanned.row.id).collect())
    }

    /// Adds the row that an entry makes.
    ///
    /// # Errors
    /// [`StoreFault::Conflict`] when the entry has made a row of this family already.
    pub fn insert(&mut self, entry: &FoldedEntry<'_>, row: F::Row) -> Result<(), StoreFault> {
        let id = RowId::from(entry.seq);
        if self.cached.rows.contains_key(&id) {
            return Err(StoreFault::Conflict { table: F::TABLE.name });
        }
        self.cached.add(id, row, StoreState::Missing);
        self.cached.changed.push(id);
        Ok(())
    }

    /// Changes a row if it exists.
    ///
    /// # Errors
    /// See [`FamilyCache::get`].
    pub fn change(&mut self, id: RowId, change: impl FnOnce(&mut F::Row)) -> Result<(), StoreFault> {
        if !self.cached.has_all && !self.cached.rows.contains_key(&id) && self.get(id)?.is_none() {
            return Ok(());
        }
        let RowCache { rows, keys, changed, .. } = &mut *self.cached;
        let Some(cached) = rows.get_mut(&id) else { return Ok(()) };
        if matches!(cached.stored, StoreState::Same) {
            cached.stored = StoreState::Older(cached.row.clone());
            changed.push(id);
        }
        change(&mut cached.row);
        if F::HAS_FIXED_KEYS {
            debug_assert!(unique_keys::<F>(&cached.row) == cached.unique_keys, "{}", F::TABLE.name);
            return Ok(());
        }
        let after = unique_keys::<F>(&cached.row);
        if after != cached.unique_keys {
            let before = std::mem::replace(&mut cached.unique_keys, after.clone());
            for ((keys, old), new) in keys.iter_mut().zip(before).zip(after) {
                old.and_then(|key| keys.remove(&key));
                new.and_then(|key| keys.insert(key, id));
            }
        }
        Ok(())
    }

    /// Changes the row with a key of an index with one row per key, if there is one.
    ///
    /// # Errors
    /// See [`FamilyCache::get`].
    pub fn change_by(
        &mut self,
        index: usize,
        key: &IndexKey,
        change: impl FnOnce(&mut F::Row),
    ) -> Result<(), StoreFault> {
        let id = match self.cached.keys[index].get(key) {
            Some(id) => Some(*id),
            None => self.find(index, key)?.map(|(id, _)| id),
        };
        id.map_or(Ok(()), |id| self.change(id, change))
    }
}

/// Returns the keys of a row in the indexes with one row per key, `None` for the other ones.
fn unique_keys<F: Family>(row: &F::Row) -> Vec<Option<IndexKey>> {
    let is_unique = |index: usize| F::TABLE.indexes[index].rows_per_key == RowsPerKey::One;
    (0..F::TABLE.indexes.len())
        .map(|index| is_unique(index).then(|| F::index(row, index)).flatten())
        .collect()
}

/// Encodes a row with all its keys.
pub(super) fn encode<F: Family>(row: &F::Row) -> EncodedRow {
    let keys = (0..F::TABLE.indexes.len()).map(|index| F::index(row, index)).collect();
    EncodedRow { facts: F::facts(row), keys, content: F::content(row) }
}

/// Decodes a row.
///
/// # Errors
/// [`StoreFault::Damaged`] where it is malformed.
pub fn load_row<F: Family>(stored: &StoredRow) -> Result<F::Row, StoreFault> {
    F::load(stored).ok_or(StoreFault::Damaged { table: F::TABLE.name, id: stored.id })
}
