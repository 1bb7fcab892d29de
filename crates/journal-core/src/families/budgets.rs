//! Budgets that are in force: one row for each time that one was set; what it says is in the entry that made the row.

use palyra_types::BudgetId;
use palyra_types::budget::{BudgetEvent, BudgetRecord};
use palyra_types::event::JournalEvent;

use crate::family::{
    Family, FamilyCache, FamilyIndex, FamilyTable, FoldedEntry, IndexKey, LogView, RowStore, RowsPerKey,
    StoreFault, StoredRow, logged_records,
};

/// The family.
pub struct BudgetFamily;

const IN_FORCE: usize = 0;

fn key(budget: BudgetId) -> IndexKey {
    IndexKey::new().bytes(&budget.to_bytes())
}

impl Family for BudgetFamily {
    const TABLE: &'static FamilyTable = &FamilyTable {
        name: "budget",
        version: 1,
        indexes: &[FamilyIndex { name: "in_force", rows_per_key: RowsPerKey::One }],
        content: &[],
    };

    /// The budget; `None` once it was replaced or removed.
    type Row = Option<BudgetId>;

    fn facts(budget: &Self::Row) -> Vec<u8> {
        budget.map(|budget| budget.to_bytes().to_vec()).unwrap_or_default()
    }

    fn load(stored: &StoredRow) -> Option<Self::Row> {
        match stored.facts.as_slice() {
            [] => Some(None),
            budget => Some(Some(BudgetId::from_bytes(budget.try_into().ok()?))),
        }
    }

    fn index(budget: &Self::Row, _index: usize) -> Option<IndexKey> {
        budget.map(key)
    }

    fn fold(rows: &mut FamilyCache<'_, Self>, entry: &FoldedEntry<'_>) -> Result<(), StoreFault> {
        let JournalEvent::Budget(event) = entry.event else { return Ok(()) };
        match event {
            BudgetEvent::Set(set) => {
                rows.change_by(IN_FORCE, &key(set.budget), |budget| *budget = None)?;
                rows.insert(entry, Some(set.budget))
            }
            BudgetEvent::Removed { budget } => {
                rows.change_by(IN_FORCE, &key(*budget), |budget| *budget = None)
            }
            BudgetEvent::Account { .. } | BudgetEvent::AuxiliaryUsed(_) => Ok(()),
        }
    }
}

/// Returns the budgets that are in force, in order of id.
///
/// # Errors
/// [`StoreFault`] when the store fails, or a row contradicts its entry.
pub fn in_force(rows: &mut dyn RowStore, log: &mut dyn LogView) -> Result<Vec<BudgetRecord>, StoreFault> {
    logged_records::<BudgetFamily, _>(rows, log, IN_FORCE, IndexKey::new(), |seq, entry| match entry.event {
        JournalEvent::Budget(BudgetEvent::Set(set)) => {
            Some(BudgetRecord { set, by: entry.principal, seq, changed: entry.time })
        }
        _ => None,
    })
}
