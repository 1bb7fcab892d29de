//! Typed rows out of a store.

use palyra_types::Seq;

use super::index_key::{IndexKey, KeyRange};
use super::log_view::{LogView, LoggedEntry};
use super::row_cache::{Family, load_row};
use super::row_store::{PAGE_ROWS, RowId, RowLookup, RowScan, RowStore, ScanOrder, StoreFault, scan_pages};

/// Returns the row with a key of an index with one row per key.
///
/// # Errors
/// [`StoreFault`] when the store fails.
pub fn find_row<F: Family>(
    store: &mut dyn RowStore,
    index: usize,
    key: &IndexKey,
) -> Result<Option<(RowId, F::Row)>, StoreFault> {
    let stored = store.get(F::TABLE, RowLookup::Key { index, key })?;
    stored.map(|stored| Ok((stored.id, load_row::<F>(&stored)?))).transpose()
}

/// Returns the rows of a range of keys, page by page.
///
/// # Errors
/// [`StoreFault`] when the store fails.
pub fn scan_rows<F: Family>(
    store: &mut dyn RowStore,
    index: usize,
    range: KeyRange,
    order: ScanOrder,
    limit: usize,
) -> Result<Vec<(RowId, F::Row)>, StoreFault> {
    let found = scan_pages(store, F::TABLE, RowScan { index, range, after: None, order, limit })?;
    found.into_iter().map(|scanned| Ok((scanned.row.id, load_row::<F>(&scanned.row)?))).collect()
}

/// Returns every row that is in an index, in its order.
///
/// # Errors
/// [`StoreFault`] when the store fails.
pub fn all_rows<F: Family>(
    store: &mut dyn RowStore,
    index: usize,
) -> Result<Vec<(RowId, F::Row)>, StoreFault> {
    let range = KeyRange::of_prefix(IndexKey::new());
    scan_rows::<F>(store, index, range, ScanOrder::Ascending, usize::MAX)
}

/// Returns the rows of a range of keys that a predicate wants, page by page until there are enough of them.
///
/// # Errors
/// [`StoreFault`] when the store fails.
pub fn scan_wanted<F: Family>(
    store: &mut dyn RowStore,
    mut scan: RowScan,
    wanted: impl Fn(&F::Row) -> bool,
) -> Result<Vec<(RowId, F::Row)>, StoreFault> {
    let limit = scan.limit;
    let mut rows = Vec::new();
    // A page beyond what is asked for would be read in vain where every row is wanted.
    scan.limit = limit.clamp(1, PAGE_ROWS);
    loop {
        let page = store.scan(F::TABLE, &scan)?;
        let is_last = page.len() < scan.limit;
        scan.after = page.last().map(|last| (last.key.clone(), last.row.id));
        for scanned in page {
            let row = load_row::<F>(&scanned.row)?;
            if rows.len() < limit && wanted(&row) {
                rows.push((scanned.row.id, row));
            }
        }
        if is_last || rows.len() >= limit {
            return Ok(rows);
        }
        scan.limit = PAGE_ROWS;
    }
}

/// Visits the rows of a range of keys, page by page, lowest key first.
///
/// # Errors
/// [`StoreFault`] when the store fails.
pub fn visit_rows<F: Family>(
    store: &mut dyn RowStore,
    index: usize,
    range: KeyRange,
    mut visit: impl FnMut(F::Row),
) -> Result<(), StoreFault> {
    let mut scan = RowScan { index, range, after: None, order: ScanOrder::Ascending, limit: PAGE_ROWS };
    loop {
        let page = store.scan(F::TABLE, &scan)?;
        let is_last = page.len() < scan.limit;
        scan.after = page.last().map(|last| (last.key.clone(), last.row.id));
        for scanned in page {
            visit(load_row::<F>(&scanned.row)?);
        }
        if is_last {
            return Ok(());
        }
    }
}

/// Returns what the entries say that made the rows with keys of this beginning, lowest key first.
///
/// # Errors
/// [`StoreFault`] when the store fails, or `record` knows no such entry: the row contradicts it.
pub fn logged_records<F: Family, T>(
    store: &mut dyn RowStore,
    log: &mut dyn LogView,
    index: usize,
    prefix: IndexKey,
    record: impl Fn(Seq, LoggedEntry) -> Option<T>,
) -> Result<Vec<T>, StoreFault> {
    let found = scan_rows::<F>(store, index, KeyRange::of_prefix(prefix), ScanOrder::Ascending, usize::MAX)?;
    let of_row = |(id, _): (RowId, F::Row)| {
        record(id.into(), log.entry(id.into())?).ok_or(StoreFault::Contradiction { seq: id.into() })
    };
    found.into_iter().map(of_row).collect()
}
