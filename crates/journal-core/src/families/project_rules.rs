//! What people accepted of what projects say. One row for each acceptance; the file is in the entry that made the row.

use palyra_types::PrincipalId;
use palyra_types::event::{JournalEvent, PolicyEvent};
use palyra_types::project_file::AcceptedProjectFileRecord;

use crate::family::{
    Family, FamilyCache, FamilyIndex, FamilyTable, FoldedEntry, IndexKey, LogView, RowStore, RowsPerKey,
    StoreFault, StoredRow, logged_records,
};

/// The family.
pub struct ProjectRulesFamily;

impl Family for ProjectRulesFamily {
    const TABLE: &'static FamilyTable = &FamilyTable {
        name: "project_rules",
        version: 1,
        indexes: &[FamilyIndex { name: "of_principal", rows_per_key: RowsPerKey::Many }],
        content: &[],
    };

    /// Whose it is; `None` once it is withdrawn.
    type Row = Option<PrincipalId>;

    fn facts(owner: &Self::Row) -> Vec<u8> {
        owner.map(|owner| owner.to_bytes().to_vec()).unwrap_or_default()
    }

    fn load(stored: &StoredRow) -> Option<Self::Row> {
        match stored.facts.as_slice() {
            [] => Some(None),
            owner => Some(Some(PrincipalId::from_bytes(owner.try_into().ok()?))),
        }
    }

    fn index(owner: &Self::Row, _index: usize) -> Option<IndexKey> {
        owner.map(|owner| IndexKey::new().bytes(&owner.to_bytes()))
    }

    fn fold(rows: &mut FamilyCache<'_, Self>, entry: &FoldedEntry<'_>) -> Result<(), StoreFault> {
        let JournalEvent::Policy(event) = entry.event else { return Ok(()) };
        match event {
            PolicyEvent::ProjectRulesAccepted(_) => rows.insert(entry, Some(entry.principal)),
            PolicyEvent::ProjectRulesWithdrawn(accepted) => rows.change((*accepted).into(), |owner| {
                *owner = owner.filter(|owner| *owner != entry.principal);
            }),
            _ => Ok(()),
        }
    }
}

/// Returns what a principal accepted and did not withdraw, oldest first.
///
/// # Errors
/// [`StoreFault`] when the store fails, or a row contradicts its entry.
pub fn of_principal(
    rows: &mut dyn RowStore,
    log: &mut dyn LogView,
    principal: PrincipalId,
) -> Result<Vec<AcceptedProjectFileRecord>, StoreFault> {
    let prefix = IndexKey::new().bytes(&principal.to_bytes());
    logged_records::<ProjectRulesFamily, _>(rows, log, 0, prefix, |seq, entry| match entry.event {
        JournalEvent::Policy(PolicyEvent::ProjectRulesAccepted(file)) => {
            Some(AcceptedProjectFileRecord { seq, accepted: entry.time, file })
        }
        _ => None,
    })
}
