//! Clears the content that rows have from erased entries.
//!
//! Invariant: the rows afterwards are those that a fold without these payloads makes.

use palyra_types::proof::SeqRange;

use super::changed_columns::ChangedColumns;
use super::row_cache::{Family, encode, load_row};
use super::row_store::{RowLookup, RowStore, RowWrite, StoreFault};

/// Clears the content columns of a family that come from these entries. The ranges are ascending and apart.
///
/// # Errors
/// [`StoreFault`] when the store fails.
pub fn erase_content<F: Family>(store: &mut dyn RowStore, ranges: &[SeqRange]) -> Result<(), StoreFault> {
    let (Some(first), Some(last)) = (ranges.first(), ranges.last()) else { return Ok(()) };
    let bounds = SeqRange { first: first.first, last: last.last };
    for column in 0..F::TABLE.content.len() {
        // One look at the index, however many ranges there are.
        for (id, source) in store.sourced(F::TABLE, column, bounds)? {
            if !ranges.iter().any(|range| range.holds(source)) {
                continue;
            }
            let Some(mut stored) = store.get(F::TABLE, RowLookup::Id(id))? else { continue };
            stored.content[column].bytes = None;
            let row = load_row::<F>(&stored)?;
            store.write(F::TABLE, id, RowWrite::Update(&encode::<F>(&row), ChangedColumns::ALL))?;
        }
    }
    Ok(())
}
