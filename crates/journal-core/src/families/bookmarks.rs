//! Bookmarks: names of places in tapes. One row for each that was placed; the place and its name are in that entry.

use std::collections::BTreeSet;

use palyra_types::event::{Bookmark, JournalEvent, SessionEvent};
use palyra_types::{PrincipalId, RunId, Seq};

use crate::family::{
    Family, FamilyCache, FamilyIndex, FamilyTable, FoldedEntry, IndexKey, KeyRange, LogView, RowStore,
    RowsPerKey, StoreFault, StoredRow, logged_records, visit_rows,
};

/// The family.
pub struct BookmarkFamily;

impl Family for BookmarkFamily {
    const TABLE: &'static FamilyTable = &FamilyTable {
        name: "bookmark",
        version: 1,
        indexes: &[
            FamilyIndex { name: "of_principal", rows_per_key: RowsPerKey::Many },
            FamilyIndex { name: "of_run", rows_per_key: RowsPerKey::Many },
        ],
        content: &[],
    };

    /// The run, and whose it is; `None` when it was removed.
    type Row = (RunId, Option<PrincipalId>);

    fn facts((run, owner): &Self::Row) -> Vec<u8> {
        owner.iter().fold(run.to_bytes().to_vec(), |run, owner| [&run[..], &owner.to_bytes()].concat())
    }

    fn load(stored: &StoredRow) -> Option<Self::Row> {
        let (run, owner) = stored.facts.split_first_chunk()?;
        let owner = if owner.is_empty() { None } else { Some(owner.try_into().ok()?) };
        Some((RunId::from_bytes(*run), owner.map(PrincipalId::from_bytes)))
    }

    fn index((run, owner): &Self::Row, index: usize) -> Option<IndexKey> {
        let of_run = IndexKey::new().bytes(&run.to_bytes());
        if index == 0 { owner.map(|owner| IndexKey::new().bytes(&owner.to_bytes())) } else { Some(of_run) }
    }

    fn fold(rows: &mut FamilyCache<'_, Self>, entry: &FoldedEntry<'_>) -> Result<(), StoreFault> {
        let JournalEvent::Session(event) = entry.event else { return Ok(()) };
        match event {
            SessionEvent::BookmarkPlaced(placed) => rows.insert(entry, (placed.run, Some(entry.principal))),
            SessionEvent::BookmarkRemoved(placed) => rows.change((*placed).into(), |(_, owner)| {
                *owner = owner.filter(|owner| *owner != entry.principal);
            }),
            _ => Ok(()),
        }
    }
}

/// Returns the runs of all principals in which a bookmark is.
///
/// # Errors
/// [`StoreFault`] when the store fails.
pub fn marked_runs(rows: &mut dyn RowStore) -> Result<BTreeSet<RunId>, StoreFault> {
    let mut runs = BTreeSet::new();
    let all = KeyRange::of_prefix(IndexKey::new());
    visit_rows::<BookmarkFamily>(rows, 0, all, |(run, _)| {
        runs.insert(run);
    })?;
    Ok(runs)
}

/// Returns the bookmarks of a principal with the entries that placed them, oldest first.
///
/// # Errors
/// [`StoreFault`] when the store fails, or a row contradicts its entry.
pub fn of_principal(
    rows: &mut dyn RowStore,
    log: &mut dyn LogView,
    principal: PrincipalId,
) -> Result<Vec<(Seq, Bookmark)>, StoreFault> {
    let prefix = IndexKey::new().bytes(&principal.to_bytes());
    logged_records::<BookmarkFamily, _>(rows, log, 0, prefix, |seq, entry| match entry.event {
        JournalEvent::Session(SessionEvent::BookmarkPlaced(bookmark)) => Some((seq, bookmark)),
        _ => None,
    })
}
