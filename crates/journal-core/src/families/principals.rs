//! Principals: the names behind the ids; the latest name counts.

use palyra_types::access::PrincipalRecord;
use palyra_types::event::{AccessEvent, JournalEvent};
use palyra_types::{PrincipalId, Redacted, Seq};

use crate::family::{
    Cache, ContentCell, ContentColumn, ContentSource, Family, FamilyTable, FoldedEntry, Index, IndexKey,
    RowStore, RowsPerKey, StoreFault, StoredRow, all_rows,
};

/// The family.
pub struct Principals;

/// A principal and the entry that its name comes from.
#[derive(Debug, Clone)]
pub struct PrincipalRow {
    /// What is known of it.
    pub record: PrincipalRecord,
    /// The latest registration.
    pub named: Seq,
}

const BY_PRINCIPAL: usize = 0;

fn key(principal: PrincipalId) -> IndexKey {
    IndexKey::new().bytes(&principal.to_bytes())
}

impl Family for Principals {
    const TABLE: &'static FamilyTable = &FamilyTable {
        name: "principal",
        version: 1,
        indexes: &[Index { name: "by_principal", rows_per_key: RowsPerKey::One }],
        content: &[ContentColumn { name: "name", source: ContentSource::Own }],
    };

    type Row = PrincipalRow;

    fn facts(row: &PrincipalRow) -> Vec<u8> {
        row.record.id.to_bytes().to_vec()
    }

    fn content(row: &PrincipalRow) -> Vec<ContentCell> {
        vec![ContentCell::new(row.record.name.expose().as_bytes(), row.named)]
    }

    fn load(stored: &StoredRow) -> Option<PrincipalRow> {
        let id = PrincipalId::from_bytes(stored.facts.as_slice().try_into().ok()?);
        let [name] = stored.content.as_slice() else { return None };
        let record = PrincipalRecord { id, name: Redacted::from_stored(name.to_text()?) };
        Some(PrincipalRow { record, named: name.source })
    }

    fn index(row: &PrincipalRow, _index: usize) -> Option<IndexKey> {
        Some(key(row.record.id))
    }

    fn fold(rows: &mut Cache<'_, Self>, entry: &FoldedEntry<'_>) -> Result<(), StoreFault> {
        let JournalEvent::Access(AccessEvent::PrincipalRegistered { principal, name }) = entry.event else {
            return Ok(());
        };
        let record = PrincipalRecord { id: *principal, name: name.clone() };
        let registered = PrincipalRow { record, named: entry.seq };
        match rows.find(BY_PRINCIPAL, &key(*principal))? {
            Some((id, _)) => rows.change(id, |row| *row = registered),
            None => rows.insert(entry, registered),
        }
    }
}

/// Returns all principals in order of id.
///
/// # Errors
/// [`StoreFault`] when the store fails.
pub fn all(rows: &mut dyn RowStore) -> Result<Vec<PrincipalRecord>, StoreFault> {
    let found = all_rows::<Principals>(rows, BY_PRINCIPAL)?;
    Ok(found.into_iter().map(|(_, row)| row.record).collect())
}
