//! Components: which were added, and whether they were removed. An id is given once; a removed one stays removed.
//!
//! The name of a component and its permissions are in the entry that made the row, and nowhere else.

use palyra_types::component::{ComponentEvent, ComponentRecord};
use palyra_types::event::JournalEvent;
use palyra_types::{ComponentId, Seq, Timestamp};

use crate::family::{
    Family, FamilyCache, FamilyIndex, FamilyTable, FoldedEntry, IndexKey, LogView, RowStore, RowsPerKey,
    StoreFault, StoredRow,
};

use super::removable::{IN_USE_FIRST, in_use_first, listed};

/// Components that are read at once, at most; removed ones are left out first.
const COMPONENT_RECORDS_MAX: usize = 10_000;

/// The family.
pub struct ComponentFamily;

/// A component; the row's id is the entry that added it.
#[derive(Debug, Clone)]
pub struct ComponentRow {
    /// Its id.
    pub component: ComponentId,
    /// When it was removed.
    pub removed: Option<Timestamp>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct ComponentFacts {
    #[prost(bytes = "vec", tag = "1")]
    component: Vec<u8>,
    #[prost(sint64, optional, tag = "2")]
    removed: Option<i64>,
}

const BY_COMPONENT: usize = 1;

fn key(component: ComponentId) -> IndexKey {
    IndexKey::new().bytes(&component.to_bytes())
}

impl Family for ComponentFamily {
    const TABLE: &'static FamilyTable = &FamilyTable {
        name: "component",
        version: 1,
        indexes: &[IN_USE_FIRST, FamilyIndex { name: "by_component", rows_per_key: RowsPerKey::One }],
        content: &[],
    };

    type Row = ComponentRow;

    fn facts(row: &ComponentRow) -> Vec<u8> {
        let (component, removed) = (row.component.to_bytes().to_vec(), row.removed.map(|time| time.0));
        prost::Message::encode_to_vec(&ComponentFacts { component, removed })
    }

    fn load(stored: &StoredRow) -> Option<ComponentRow> {
        let facts = <ComponentFacts as prost::Message>::decode(stored.facts.as_slice()).ok()?;
        let component = ComponentId::from_bytes(facts.component.try_into().ok()?);
        Some(ComponentRow { component, removed: facts.removed.map(Timestamp) })
    }

    fn index(row: &ComponentRow, index: usize) -> Option<IndexKey> {
        Some(if index == BY_COMPONENT { key(row.component) } else { in_use_first(row.removed) })
    }

    fn fold(rows: &mut FamilyCache<'_, Self>, entry: &FoldedEntry<'_>) -> Result<(), StoreFault> {
        let JournalEvent::Component(event) = entry.event else { return Ok(()) };
        let component = event.component();
        match event {
            ComponentEvent::Added(_) => match rows.find(BY_COMPONENT, &key(component))? {
                Some(_) => Ok(()),
                None => rows.insert(entry, ComponentRow { component, removed: None }),
            },
            ComponentEvent::Removed { .. } => rows.change_by(BY_COMPONENT, &key(component), |row| {
                row.removed = row.removed.or(Some(entry.time));
            }),
        }
    }
}

/// Returns all components in the order in which they were added. Above the limit those in use come first.
///
/// # Errors
/// [`StoreFault`] when the store fails, or a row contradicts its entry.
pub fn records(rows: &mut dyn RowStore, log: &mut dyn LogView) -> Result<Vec<ComponentRecord>, StoreFault> {
    let found = listed::<ComponentFamily>(rows, COMPONENT_RECORDS_MAX)?;
    found.into_iter().map(|(id, row)| record(log, id.into(), &row)).collect()
}

fn record(log: &mut dyn LogView, seq: Seq, row: &ComponentRow) -> Result<ComponentRecord, StoreFault> {
    let entry = log.entry(seq)?;
    match entry.event {
        JournalEvent::Component(ComponentEvent::Added(added)) if added.component == row.component => {
            let (by, created) = (entry.principal, entry.time);
            Ok(ComponentRecord { added, by, created, removed: row.removed, seq })
        }
        _ => Err(StoreFault::Contradiction { seq }),
    }
}
