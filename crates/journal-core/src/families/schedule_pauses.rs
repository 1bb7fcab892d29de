//! Pauses of many schedules: one row for each principal whose schedules were paused together, and one for all.
//!
//! A pause and its end also settle the planned instants of the schedules that were there, up to their time.

use palyra_types::event::JournalEvent;
use palyra_types::schedule::{PauseScope, ScheduleEvent};
use palyra_types::{PrincipalId, Seq, Timestamp};

use crate::family::{
    Family, FamilyCache, FamilyIndex, FamilyTable, FoldedEntry, IndexKey, RowStore, RowsPerKey, StoreFault,
    StoredRow, all_rows,
};

/// The family.
pub struct SchedulePauseFamily;

/// A pause of many schedules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SchedulePauseRow {
    /// Whose schedules.
    pub scope: PauseScope,
    /// Whether they are paused now.
    pub is_paused: bool,
    /// Their planned instants are settled up to this one.
    pub settled_up_to: Timestamp,
    /// The entry that changed it last: schedules that were made later are not settled by it.
    pub changed: Seq,
}

#[derive(Clone, PartialEq, prost::Message)]
struct PauseFacts {
    #[prost(bytes = "vec", tag = "1")]
    principal: Vec<u8>,
    #[prost(bool, tag = "2")]
    is_paused: bool,
    #[prost(sint64, tag = "3")]
    settled_up_to: i64,
    #[prost(uint64, tag = "4")]
    changed: u64,
}

const BY_SCOPE: usize = 0;
const EVERYONE: u8 = 0;
const ONE: u8 = 1;

fn key(scope: PauseScope) -> IndexKey {
    match scope {
        PauseScope::Everyone => IndexKey::new().byte(EVERYONE),
        PauseScope::Principal(principal) => IndexKey::new().byte(ONE).bytes(&principal.to_bytes()),
    }
}

impl Family for SchedulePauseFamily {
    const TABLE: &'static FamilyTable = &FamilyTable {
        name: "schedule_pause",
        version: 1,
        indexes: &[FamilyIndex { name: "by_scope", rows_per_key: RowsPerKey::One }],
        content: &[],
    };

    const HAS_FIXED_KEYS: bool = true;

    type Row = SchedulePauseRow;

    fn facts(row: &SchedulePauseRow) -> Vec<u8> {
        let principal = match row.scope {
            PauseScope::Everyone => Vec::new(),
            PauseScope::Principal(principal) => principal.to_bytes().to_vec(),
        };
        prost::Message::encode_to_vec(&PauseFacts {
            principal,
            is_paused: row.is_paused,
            settled_up_to: row.settled_up_to.0,
            changed: row.changed.0,
        })
    }

    fn load(stored: &StoredRow) -> Option<SchedulePauseRow> {
        let facts = <PauseFacts as prost::Message>::decode(stored.facts.as_slice()).ok()?;
        let scope = match facts.principal.as_slice() {
            [] => PauseScope::Everyone,
            principal => PauseScope::Principal(PrincipalId::from_bytes(principal.try_into().ok()?)),
        };
        Some(SchedulePauseRow {
            scope,
            is_paused: facts.is_paused,
            settled_up_to: Timestamp(facts.settled_up_to),
            changed: Seq(facts.changed),
        })
    }

    fn index(row: &SchedulePauseRow, _index: usize) -> Option<IndexKey> {
        Some(key(row.scope))
    }

    fn fold(rows: &mut FamilyCache<'_, Self>, entry: &FoldedEntry<'_>) -> Result<(), StoreFault> {
        let (scope, at, is_paused) = match entry.event {
            JournalEvent::Schedule(ScheduleEvent::ManyPaused { scope, at }) => (*scope, *at, true),
            JournalEvent::Schedule(ScheduleEvent::ManyResumed { scope, at }) => (*scope, *at, false),
            _ => return Ok(()),
        };
        let key = key(scope);
        if rows.find(BY_SCOPE, &key)?.is_none() {
            let row = SchedulePauseRow { scope, is_paused, settled_up_to: at, changed: entry.seq };
            return rows.insert(entry, row);
        }
        rows.change_by(BY_SCOPE, &key, |row| {
            row.is_paused = is_paused;
            row.settled_up_to = row.settled_up_to.max(at);
            row.changed = entry.seq;
        })
    }
}

/// Returns the pauses of many schedules, also those that are over.
///
/// # Errors
/// [`StoreFault`] when the store fails.
pub fn all(rows: &mut dyn RowStore) -> Result<Vec<SchedulePauseRow>, StoreFault> {
    Ok(all_rows::<SchedulePauseFamily>(rows, BY_SCOPE)?.into_iter().map(|(_, row)| row).collect())
}
