//! The modes of self-healing that people chose: one row for each time that one was chosen.

use palyra_types::event::JournalEvent;
use palyra_types::incident::{HealingDomain, IncidentEvent, SelfHealingMode};

use crate::codec::incident_entries::{domain_from_number, domain_number, mode_from_number, mode_number};
use crate::family::{
    Family, FamilyCache, FamilyIndex, FamilyTable, FoldedEntry, IndexKey, KeyRange, RowStore, RowsPerKey,
    ScanOrder, StoreFault, StoredRow, scan_rows,
};

/// The family.
pub struct HealingModeFamily;

const IN_FORCE: usize = 0;

fn key(domain: HealingDomain) -> IndexKey {
    IndexKey::new().byte(domain_number(domain))
}

impl Family for HealingModeFamily {
    const TABLE: &'static FamilyTable = &FamilyTable {
        name: "healing_mode",
        version: 1,
        indexes: &[FamilyIndex { name: "in_force", rows_per_key: RowsPerKey::One }],
        content: &[],
    };

    /// The domain and its mode; `None` once another one was chosen.
    type Row = Option<(HealingDomain, SelfHealingMode)>;

    fn facts(row: &Self::Row) -> Vec<u8> {
        row.map(|(domain, mode)| vec![domain_number(domain), mode_number(mode)]).unwrap_or_default()
    }

    fn load(stored: &StoredRow) -> Option<Self::Row> {
        match stored.facts.as_slice() {
            [] => Some(None),
            [domain, mode] => Some(Some((domain_from_number(*domain)?, mode_from_number(*mode)?))),
            _ => None,
        }
    }

    fn index(row: &Self::Row, _index: usize) -> Option<IndexKey> {
        row.map(|(domain, _)| key(domain))
    }

    fn fold(rows: &mut FamilyCache<'_, Self>, entry: &FoldedEntry<'_>) -> Result<(), StoreFault> {
        let JournalEvent::Incident(IncidentEvent::ModeSet { domain, mode }) = entry.event else {
            return Ok(());
        };
        rows.change_by(IN_FORCE, &key(*domain), |row| *row = None)?;
        match mode {
            Some(mode) => rows.insert(entry, Some((*domain, *mode))),
            None => Ok(()),
        }
    }
}

/// Returns the modes that people chose and that are in force, by domain.
///
/// # Errors
/// [`StoreFault`] when the store fails.
pub fn in_force(rows: &mut dyn RowStore) -> Result<Vec<(HealingDomain, SelfHealingMode)>, StoreFault> {
    let range = KeyRange::of_prefix(IndexKey::new());
    let found = scan_rows::<HealingModeFamily>(rows, IN_FORCE, range, ScanOrder::Ascending, usize::MAX)?;
    Ok(found.into_iter().filter_map(|(_, row)| row).collect())
}
