//! Deleted responses: answers that a client may no longer find by their id. One row for each; the run and its tape stay.

use palyra_types::event::{JournalEvent, SessionEvent};
use palyra_types::{PrincipalId, RunId};

use crate::family::{
    Family, FamilyCache, FamilyIndex, FamilyTable, FoldedEntry, IndexKey, RowStore, RowsPerKey, StoreFault,
    StoredRow, find_row,
};

/// The family.
pub struct DeletedResponseFamily;

const BY_RESPONSE: usize = 0;

fn key(principal: PrincipalId, run: RunId) -> IndexKey {
    IndexKey::new().bytes(&principal.to_bytes()).bytes(&run.to_bytes())
}

impl Family for DeletedResponseFamily {
    const TABLE: &'static FamilyTable = &FamilyTable {
        name: "deleted_response",
        version: 1,
        indexes: &[FamilyIndex { name: "by_response", rows_per_key: RowsPerKey::One }],
        content: &[],
    };

    /// Who deleted it, and the run that made it.
    type Row = (PrincipalId, RunId);

    fn facts((principal, run): &Self::Row) -> Vec<u8> {
        [principal.to_bytes(), run.to_bytes()].concat()
    }

    fn load(stored: &StoredRow) -> Option<Self::Row> {
        let (principal, run) = stored.facts.split_first_chunk()?;
        Some((PrincipalId::from_bytes(*principal), RunId::from_bytes(run.try_into().ok()?)))
    }

    fn index((principal, run): &Self::Row, _index: usize) -> Option<IndexKey> {
        Some(key(*principal, *run))
    }

    fn fold(rows: &mut FamilyCache<'_, Self>, entry: &FoldedEntry<'_>) -> Result<(), StoreFault> {
        let JournalEvent::Session(SessionEvent::ResponseDeleted { run }) = entry.event else { return Ok(()) };
        match rows.find(BY_RESPONSE, &key(entry.principal, *run))? {
            Some(_) => Ok(()),
            None => rows.insert(entry, (entry.principal, *run)),
        }
    }
}

/// Returns whether a principal deleted the response of a run.
///
/// # Errors
/// [`StoreFault`] when the store fails.
pub fn is_deleted(rows: &mut dyn RowStore, principal: PrincipalId, run: RunId) -> Result<bool, StoreFault> {
    Ok(find_row::<DeletedResponseFamily>(rows, BY_RESPONSE, &key(principal, run))?.is_some())
}
