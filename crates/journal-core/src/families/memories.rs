//! Items of memory: one row for each that was saved; its words are in the entry that saved it.
//!
//! Invariant: every key begins with a principal or is the run that an item was learned from, and every query takes the
//! principal, so no query finds an item of another one.

use std::collections::BTreeSet;

use palyra_types::event::JournalEvent;
use palyra_types::memory::{MemoryEvent, MemoryRecord, MemorySaved};
use palyra_types::{MemoryId, PrincipalId, RunId, Seq, Timestamp};

use crate::family::{
    Family, FamilyCache, FamilyIndex, FamilyTable, FoldedEntry, IndexKey, KeyRange, LogView, RowId, RowScan,
    RowStore, RowsPerKey, ScanOrder, StoreFault, StoredRow, all_rows, find_row, scan_rows, scan_wanted,
};

/// The family.
pub struct MemoryFamily;

/// What is known of an item beside its entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryRow {
    /// Its id.
    pub memory: MemoryId,
    /// Whose it is.
    pub principal: PrincipalId,
    /// The run that it was learned from.
    pub run: Option<RunId>,
    /// The item that took its place.
    pub superseded_by: Option<MemoryId>,
    /// Since when it is not used any more.
    pub forgotten: Option<Timestamp>,
    /// From when on it is not used any more.
    pub expires: Option<Timestamp>,
}

/// An item that is in use and has an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExpiringMemory {
    /// Whose it is.
    pub principal: PrincipalId,
    /// The item.
    pub memory: MemoryId,
    /// Its end.
    pub expires: Timestamp,
}

#[derive(Clone, PartialEq, prost::Message)]
struct MemoryFacts {
    #[prost(bytes = "vec", tag = "1")]
    memory: Vec<u8>,
    #[prost(bytes = "vec", tag = "2")]
    principal: Vec<u8>,
    #[prost(bytes = "vec", optional, tag = "3")]
    run: Option<Vec<u8>>,
    #[prost(bytes = "vec", optional, tag = "4")]
    superseded_by: Option<Vec<u8>>,
    #[prost(sint64, optional, tag = "5")]
    forgotten: Option<i64>,
    #[prost(sint64, optional, tag = "6")]
    expires: Option<i64>,
}

/// Rows that are read at once for a page.
const SCANNED_AT_ONCE: usize = 64;

/// Which items a page has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryPageQuery {
    /// Whose.
    pub principal: PrincipalId,
    /// Only those that were saved before this entry.
    pub before: Option<Seq>,
    /// At most so many.
    pub limit: usize,
}

const BY_MEMORY: usize = 0;
const OF_PRINCIPAL: usize = 1;
const OF_RUN: usize = 2;
const EXPIRING: usize = 3;

fn key(principal: PrincipalId, memory: MemoryId) -> IndexKey {
    of(principal).bytes(&memory.to_bytes())
}

fn of(principal: PrincipalId) -> IndexKey {
    IndexKey::new().bytes(&principal.to_bytes())
}

impl Family for MemoryFamily {
    const TABLE: &'static FamilyTable = &FamilyTable {
        name: "memory",
        version: 2,
        indexes: &[
            FamilyIndex { name: "by_memory", rows_per_key: RowsPerKey::One },
            FamilyIndex { name: "of_principal", rows_per_key: RowsPerKey::Many },
            FamilyIndex { name: "of_run", rows_per_key: RowsPerKey::Many },
            FamilyIndex { name: "expiring", rows_per_key: RowsPerKey::Many },
        ],
        content: &[],
    };

    const HAS_FIXED_KEYS: bool = true;

    type Row = MemoryRow;

    fn facts(row: &MemoryRow) -> Vec<u8> {
        prost::Message::encode_to_vec(&MemoryFacts {
            memory: row.memory.to_bytes().to_vec(),
            principal: row.principal.to_bytes().to_vec(),
            run: row.run.map(|run| run.to_bytes().to_vec()),
            superseded_by: row.superseded_by.map(|newer| newer.to_bytes().to_vec()),
            forgotten: row.forgotten.map(|time| time.0),
            expires: row.expires.map(|time| time.0),
        })
    }

    fn load(stored: &StoredRow) -> Option<MemoryRow> {
        let facts = <MemoryFacts as prost::Message>::decode(stored.facts.as_slice()).ok()?;
        let id = |bytes: Vec<u8>| -> Option<[u8; 16]> { bytes.try_into().ok() };
        let run = facts.run.map(|run| Some(RunId::from_bytes(id(run)?)));
        let newer = facts.superseded_by.map(|newer| Some(MemoryId::from_bytes(id(newer)?)));
        Some(MemoryRow {
            memory: MemoryId::from_bytes(id(facts.memory)?),
            principal: PrincipalId::from_bytes(id(facts.principal)?),
            run: if let Some(run) = run { Some(run?) } else { None },
            superseded_by: if let Some(newer) = newer { Some(newer?) } else { None },
            forgotten: facts.forgotten.map(Timestamp),
            expires: facts.expires.map(Timestamp),
        })
    }

    fn index(row: &MemoryRow, index: usize) -> Option<IndexKey> {
        match index {
            BY_MEMORY => Some(key(row.principal, row.memory)),
            OF_PRINCIPAL => row.forgotten.is_none().then(|| of(row.principal)),
            OF_RUN => row.run.map(|run| IndexKey::new().bytes(&run.to_bytes())),
            _ => row.expires.filter(|_| row.forgotten.is_none()).map(|expires| {
                let key = IndexKey::new().signed(expires.0).bytes(&row.principal.to_bytes());
                key.bytes(&row.memory.to_bytes())
            }),
        }
    }

    fn fold(rows: &mut FamilyCache<'_, Self>, entry: &FoldedEntry<'_>) -> Result<(), StoreFault> {
        match entry.event {
            JournalEvent::Memory(MemoryEvent::Saved(saved)) => save(rows, entry, saved),
            JournalEvent::Memory(MemoryEvent::Forgotten { memory, cause: _ }) => {
                rows.change_by(BY_MEMORY, &key(entry.principal, *memory), |row| {
                    row.forgotten.get_or_insert(entry.time);
                })
            }
            _ => Ok(()),
        }
    }
}

/// Folds a saved item. The first one with an id counts, so that a repeated save changes nothing.
fn save(
    rows: &mut FamilyCache<'_, MemoryFamily>,
    entry: &FoldedEntry<'_>,
    saved: &MemorySaved,
) -> Result<(), StoreFault> {
    let principal = entry.principal;
    if rows.find(BY_MEMORY, &key(principal, saved.memory))?.is_some() {
        return Ok(());
    }
    let row = MemoryRow {
        memory: saved.memory,
        principal,
        run: saved.source.map(|source| source.run),
        superseded_by: None,
        forgotten: None,
        expires: saved.expires,
    };
    rows.insert(entry, row)?;
    let Some(older) = saved.supersedes.filter(|older| *older != saved.memory) else { return Ok(()) };
    rows.change_by(BY_MEMORY, &key(principal, older), |row| {
        row.superseded_by.get_or_insert(saved.memory);
    })
}

/// Returns the items of a principal that were not forgotten, oldest first; one that was erased has no text.
///
/// # Errors
/// [`StoreFault`] when the store fails, or a row contradicts its entry.
pub fn of_principal(
    rows: &mut dyn RowStore,
    log: &mut dyn LogView,
    principal: PrincipalId,
) -> Result<Vec<MemoryRecord>, StoreFault> {
    let range = KeyRange::of_prefix(of(principal));
    let found = scan_rows::<MemoryFamily>(rows, OF_PRINCIPAL, range, ScanOrder::Ascending, usize::MAX)?;
    found.into_iter().map(|(id, row)| logged(log, id, &row)).collect()
}

/// Returns the newest items of a principal that are wanted and were saved before a place, at most so many, newest first.
///
/// # Errors
/// [`StoreFault`] when the store fails, or a row contradicts its entry.
pub fn page(
    rows: &mut dyn RowStore,
    log: &mut dyn LogView,
    query: &MemoryPageQuery,
    is_wanted: impl Fn(&MemoryRecord) -> bool,
) -> Result<Vec<MemoryRecord>, StoreFault> {
    let mut found = Vec::new();
    let mut after = query.before.map(RowId::from);
    loop {
        let prefix = of(query.principal);
        let scan = RowScan {
            index: OF_PRINCIPAL,
            range: KeyRange::of_prefix(prefix.clone()),
            after: after.map(|id| (prefix, id)),
            order: ScanOrder::Descending,
            limit: SCANNED_AT_ONCE,
        };
        let scanned = scan_wanted::<MemoryFamily>(rows, scan, |_| true)?;
        for (id, row) in &scanned {
            let record = logged(log, *id, row)?;
            if is_wanted(&record) {
                found.push(record);
            }
            if found.len() >= query.limit {
                return Ok(found);
            }
        }
        match scanned.last() {
            Some((last, _)) if scanned.len() == SCANNED_AT_ONCE => after = Some(*last),
            Some(_) | None => return Ok(found),
        }
    }
}

/// Returns the items in use that end next, the earliest first.
///
/// # Errors
/// [`StoreFault`] when the store fails.
pub fn next_to_expire(rows: &mut dyn RowStore, limit: usize) -> Result<Vec<ExpiringMemory>, StoreFault> {
    let all = KeyRange::of_prefix(IndexKey::new());
    let found = scan_rows::<MemoryFamily>(rows, EXPIRING, all, ScanOrder::Ascending, limit)?;
    let expiring = found.into_iter().filter_map(|(_, row)| {
        let MemoryRow { principal, memory, expires, .. } = row;
        expires.map(|expires| ExpiringMemory { principal, memory, expires })
    });
    Ok(expiring.collect())
}

/// Returns the principals that have items which were not forgotten.
///
/// # Errors
/// [`StoreFault`] when the store fails.
pub fn holders(rows: &mut dyn RowStore) -> Result<BTreeSet<PrincipalId>, StoreFault> {
    let found = all_rows::<MemoryFamily>(rows, OF_PRINCIPAL)?;
    Ok(found.into_iter().map(|(_, row)| row.principal).collect())
}

/// Returns an item of a principal, also one that was forgotten.
///
/// # Errors
/// [`StoreFault`] when the store fails, or a row contradicts its entry.
pub fn record(
    rows: &mut dyn RowStore,
    log: &mut dyn LogView,
    principal: PrincipalId,
    memory: MemoryId,
) -> Result<Option<MemoryRecord>, StoreFault> {
    let found = find_row::<MemoryFamily>(rows, BY_MEMORY, &key(principal, memory))?;
    found.map(|(id, row)| logged(log, id, &row)).transpose()
}

fn logged(log: &mut dyn LogView, id: RowId, row: &MemoryRow) -> Result<MemoryRecord, StoreFault> {
    let seq = Seq::from(id);
    let entry = log.entry(seq)?;
    match entry.event {
        JournalEvent::Memory(MemoryEvent::Saved(saved)) if entry.principal == row.principal => {
            Ok(MemoryRecord {
                saved,
                principal: row.principal,
                seq,
                created: entry.time,
                superseded_by: row.superseded_by,
                forgotten: row.forgotten,
            })
        }
        _ => Err(StoreFault::Contradiction { seq }),
    }
}
