//! Lists of things that are added and removed, and are never deleted: those in use come first, the newest of them first.

use palyra_types::Timestamp;

use crate::family::{
    Family, FamilyIndex, IndexKey, KeyRange, RowId, RowStore, RowsPerKey, ScanOrder, StoreFault, scan_rows,
};

/// The first index of such a family.
pub(super) const IN_USE_FIRST: FamilyIndex =
    FamilyIndex { name: "in_use_first", rows_per_key: RowsPerKey::Many };

const USED: u8 = 1;
const REMOVED: u8 = 0;

/// Returns the key in [`IN_USE_FIRST`].
pub(super) fn in_use_first(removed: Option<Timestamp>) -> IndexKey {
    IndexKey::new().byte(if removed.is_some() { REMOVED } else { USED })
}

/// Returns the rows, those in use before removed ones up to a limit, in the order in which they were made.
pub(super) fn listed<F: Family>(
    rows: &mut dyn RowStore,
    limit: usize,
) -> Result<Vec<(RowId, F::Row)>, StoreFault> {
    let range = KeyRange::of_prefix(IndexKey::new());
    let mut found = scan_rows::<F>(rows, 0, range, ScanOrder::Descending, limit)?;
    found.sort_by_key(|(id, _)| *id);
    Ok(found)
}
