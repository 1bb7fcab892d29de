//! What was learned: one row for each candidate; its words are in the entry that proposed it, or in the one that edited it.
//!
//! Invariant: every key begins with a principal, and every query takes the principal, so no query finds a candidate of another
//! one.

use palyra_types::event::JournalEvent;
use palyra_types::learning::{
    CandidateChanged, CandidateProposed, CandidateRecord, CandidateState, LearningEvent,
};
use palyra_types::{CandidateId, MemoryId, PrincipalId, RunId, Seq, SessionId, Timestamp};

use crate::family::{
    Family, FamilyCache, FamilyIndex, FamilyTable, FoldedEntry, IndexKey, KeyRange, LogView, RowId, RowStore,
    RowsPerKey, ScanOrder, StoreFault, StoredRow, find_row, scan_rows,
};

/// The family.
pub struct LearningCandidateFamily;

/// What is known of a candidate beside its entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CandidateRow {
    /// Its id.
    pub candidate: CandidateId,
    /// Whose it is.
    pub principal: PrincipalId,
    /// The conversation that it was found in.
    pub session: Option<SessionId>,
    /// The runs that it was concluded from.
    pub runs: Vec<RunId>,
    /// Its state.
    pub state: CandidateState,
    /// The item of memory that it is.
    pub memory: Option<MemoryId>,
    /// The entry that has its words, if a person put others in their place.
    pub edited: Option<Seq>,
    /// The entries that changed it.
    pub changes: Vec<Seq>,
    /// When its state changed last.
    pub updated: Timestamp,
}

#[derive(Clone, PartialEq, prost::Message)]
struct CandidateFacts {
    #[prost(bytes = "vec", tag = "1")]
    candidate: Vec<u8>,
    #[prost(bytes = "vec", tag = "2")]
    principal: Vec<u8>,
    #[prost(bytes = "vec", optional, tag = "3")]
    session: Option<Vec<u8>>,
    #[prost(bytes = "vec", repeated, tag = "4")]
    runs: Vec<Vec<u8>>,
    #[prost(uint32, tag = "5")]
    state: u32,
    #[prost(bytes = "vec", optional, tag = "6")]
    memory: Option<Vec<u8>>,
    #[prost(uint64, optional, tag = "7")]
    edited: Option<u64>,
    #[prost(sint64, tag = "8")]
    updated: i64,
    #[prost(uint64, repeated, tag = "9")]
    changes: Vec<u64>,
}

const BY_CANDIDATE: usize = 0;

fn key(principal: PrincipalId, candidate: CandidateId) -> IndexKey {
    of(principal).bytes(&candidate.to_bytes())
}

fn of(principal: PrincipalId) -> IndexKey {
    IndexKey::new().bytes(&principal.to_bytes())
}

impl Family for LearningCandidateFamily {
    const TABLE: &'static FamilyTable = &FamilyTable {
        name: "learning_candidate",
        version: 1,
        indexes: &[
            FamilyIndex { name: "by_candidate", rows_per_key: RowsPerKey::One },
            FamilyIndex { name: "of_principal", rows_per_key: RowsPerKey::Many },
        ],
        content: &[],
    };

    const HAS_FIXED_KEYS: bool = true;

    type Row = CandidateRow;

    fn facts(row: &CandidateRow) -> Vec<u8> {
        let state = CandidateState::ALL.iter().position(|state| *state == row.state).unwrap_or_default();
        prost::Message::encode_to_vec(&CandidateFacts {
            candidate: row.candidate.to_bytes().to_vec(),
            principal: row.principal.to_bytes().to_vec(),
            session: row.session.map(|session| session.to_bytes().to_vec()),
            runs: row.runs.iter().map(|run| run.to_bytes().to_vec()).collect(),
            state: u32::try_from(state).unwrap_or_default(),
            memory: row.memory.map(|memory| memory.to_bytes().to_vec()),
            edited: row.edited.map(|seq| seq.0),
            updated: row.updated.0,
            changes: row.changes.iter().map(|seq| seq.0).collect(),
        })
    }

    fn load(stored: &StoredRow) -> Option<CandidateRow> {
        let facts = <CandidateFacts as prost::Message>::decode(stored.facts.as_slice()).ok()?;
        let id = |bytes: Vec<u8>| -> Option<[u8; 16]> { bytes.try_into().ok() };
        let session = facts.session.map(|session| Some(SessionId::from_bytes(id(session)?)));
        let memory = facts.memory.map(|memory| Some(MemoryId::from_bytes(id(memory)?)));
        let runs = facts.runs.into_iter().map(|run| Some(RunId::from_bytes(id(run)?)));
        Some(CandidateRow {
            candidate: CandidateId::from_bytes(id(facts.candidate)?),
            principal: PrincipalId::from_bytes(id(facts.principal)?),
            session: if let Some(session) = session { Some(session?) } else { None },
            runs: runs.collect::<Option<_>>()?,
            state: *CandidateState::ALL.get(usize::try_from(facts.state).ok()?)?,
            memory: if let Some(memory) = memory { Some(memory?) } else { None },
            edited: facts.edited.map(Seq),
            changes: facts.changes.into_iter().map(Seq).collect(),
            updated: Timestamp(facts.updated),
        })
    }

    fn index(row: &CandidateRow, index: usize) -> Option<IndexKey> {
        Some(if index == BY_CANDIDATE { key(row.principal, row.candidate) } else { of(row.principal) })
    }

    fn fold(rows: &mut FamilyCache<'_, Self>, entry: &FoldedEntry<'_>) -> Result<(), StoreFault> {
        match entry.event {
            JournalEvent::Learning(LearningEvent::Proposed(proposed)) => propose(rows, entry, proposed),
            JournalEvent::Learning(LearningEvent::Changed(changed)) => change(rows, entry, changed),
            _ => Ok(()),
        }
    }
}

/// Folds a proposal. The first one with an id counts, so that a repeated one changes nothing.
fn propose(
    rows: &mut FamilyCache<'_, LearningCandidateFamily>,
    entry: &FoldedEntry<'_>,
    proposed: &CandidateProposed,
) -> Result<(), StoreFault> {
    let principal = entry.principal;
    if rows.find(BY_CANDIDATE, &key(principal, proposed.candidate))?.is_some() {
        return Ok(());
    }
    let mut runs: Vec<RunId> = proposed.evidence.iter().map(|cited| cited.run).collect();
    runs.sort_unstable();
    runs.dedup();
    let row = CandidateRow {
        candidate: proposed.candidate,
        principal,
        session: entry.session,
        runs,
        state: proposed.state,
        memory: proposed.memory,
        edited: None,
        changes: Vec::new(),
        updated: entry.time,
    };
    rows.insert(entry, row)?;
    let Some(older) = proposed.supersedes.filter(|older| *older != proposed.candidate) else { return Ok(()) };
    rows.change_by(BY_CANDIDATE, &key(principal, older), |row| {
        if row.state.is_open() || row.state.is_in_use() {
            row.state = CandidateState::Superseded;
            row.updated = entry.time;
        }
    })
}

fn change(
    rows: &mut FamilyCache<'_, LearningCandidateFamily>,
    entry: &FoldedEntry<'_>,
    changed: &CandidateChanged,
) -> Result<(), StoreFault> {
    rows.change_by(BY_CANDIDATE, &key(entry.principal, changed.candidate), |row| {
        row.state = changed.state;
        row.memory = changed.memory;
        row.updated = entry.time;
        row.changes.push(entry.seq);
        if changed.state == CandidateState::Edited {
            row.edited = Some(entry.seq);
        }
    })
}

/// Returns the candidates of a principal, newest first; one that was erased has no text.
///
/// # Errors
/// [`StoreFault`] when the store fails, or a row contradicts its entry.
pub fn of_principal(
    rows: &mut dyn RowStore,
    log: &mut dyn LogView,
    principal: PrincipalId,
) -> Result<Vec<CandidateRecord>, StoreFault> {
    let found = rows_of(rows, principal)?;
    found.into_iter().rev().map(|(id, row)| logged(log, id, &row)).collect()
}

/// Returns the items of memory that candidates of a principal are which are in use, with the entries that proposed them, oldest
/// first.
///
/// # Errors
/// [`StoreFault`] when the store fails, or a row contradicts its entry.
pub fn in_use(
    rows: &mut dyn RowStore,
    log: &mut dyn LogView,
    principal: PrincipalId,
) -> Result<Vec<CandidateRecord>, StoreFault> {
    let found = rows_of(rows, principal)?.into_iter().filter(|(_, row)| row.state.is_in_use());
    found.map(|(id, row)| logged(log, id, &row)).collect()
}

/// Returns a candidate of a principal.
///
/// # Errors
/// [`StoreFault`] when the store fails, or a row contradicts its entry.
pub fn record(
    rows: &mut dyn RowStore,
    log: &mut dyn LogView,
    principal: PrincipalId,
    candidate: CandidateId,
) -> Result<Option<CandidateRecord>, StoreFault> {
    let found = find_row::<LearningCandidateFamily>(rows, BY_CANDIDATE, &key(principal, candidate))?;
    found.map(|(id, row)| logged(log, id, &row)).transpose()
}

/// Returns the entries that have words which were concluded from a run of a principal.
///
/// # Errors
/// [`StoreFault`] when the store fails.
pub fn citing(rows: &mut dyn RowStore, principal: PrincipalId, run: RunId) -> Result<Vec<Seq>, StoreFault> {
    let found = rows_of(rows, principal)?.into_iter().filter(|(_, row)| row.runs.contains(&run));
    Ok(found.flat_map(|(id, row)| std::iter::once(Seq::from(id)).chain(row.changes)).collect())
}

fn rows_of(
    rows: &mut dyn RowStore,
    principal: PrincipalId,
) -> Result<Vec<(RowId, CandidateRow)>, StoreFault> {
    let range = KeyRange::of_prefix(of(principal));
    scan_rows::<LearningCandidateFamily>(rows, BY_CANDIDATE + 1, range, ScanOrder::Ascending, usize::MAX)
}

fn logged(log: &mut dyn LogView, id: RowId, row: &CandidateRow) -> Result<CandidateRecord, StoreFault> {
    let seq = Seq::from(id);
    let entry = log.entry(seq)?;
    let JournalEvent::Learning(LearningEvent::Proposed(proposed)) = entry.event else {
        return Err(StoreFault::Contradiction { seq });
    };
    let mut proposed = *proposed;
    if let Some(edited) = row.edited {
        match log.entry(edited)?.event {
            JournalEvent::Learning(LearningEvent::Changed(changed)) => proposed.text = changed.text,
            _ => return Err(StoreFault::Contradiction { seq: edited }),
        }
    }
    Ok(CandidateRecord {
        proposed,
        state: row.state,
        memory: row.memory,
        principal: row.principal,
        session: row.session,
        seq,
        created: entry.time,
        updated: row.updated,
    })
}
