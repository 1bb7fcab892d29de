//! Approvals: which were asked, and what became of them. An id is given once, and the first decision counts.
//!
//! A row holds what is looked for and what is counted, and names the entries that say the rest: no content, and
//! nothing that gives authority, is copied here. Only a pending approval changes. Runs are passed how many wait.

mod queries;

use palyra_types::approval::{ApprovalRequested, ApprovalState};
use palyra_types::event::{ApprovalEvent, JournalEvent, TapeEvent};
use palyra_types::{ApprovalId, PrincipalId, RunId, Seq, Timestamp};

use crate::family::RunCounts;
use crate::family::{
    Family, FamilyCache, FamilyIndex, FamilyTable, FoldedEntry, IndexKey, RowsPerKey, StoreFault, StoredRow,
};
pub use queries::{ExpiringApproval, ids, next_to_expire, record, records, waiting};

/// The family.
pub struct ApprovalFamily;

/// An approval.
#[derive(Debug, Clone)]
pub struct ApprovalRow {
    /// The entry that asks.
    pub seq: Seq,
    /// The approval.
    pub approval: ApprovalId,
    /// The run that waits for it.
    pub run: RunId,
    /// Whose run that is.
    pub principal: PrincipalId,
    /// Its state.
    pub state: ApprovalState,
    /// Who voted, each once.
    pub voters: Vec<PrincipalId>,
    /// When it expires.
    pub expires: Option<Timestamp>,
    /// The entry that decides.
    pub decided: Option<Seq>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct ApprovalFacts {
    #[prost(bytes = "vec", tag = "1")]
    approval: Vec<u8>,
    #[prost(bytes = "vec", tag = "2")]
    run: Vec<u8>,
    #[prost(bytes = "vec", tag = "3")]
    principal: Vec<u8>,
    #[prost(uint32, tag = "4")]
    state: u32,
    #[prost(bytes = "vec", repeated, tag = "5")]
    voters: Vec<Vec<u8>>,
    #[prost(sint64, optional, tag = "6")]
    expires: Option<i64>,
    #[prost(uint64, optional, tag = "7")]
    decided: Option<u64>,
}

const BY_APPROVAL: usize = 0;
/// By whether it waits: in the order of the entries that ask.
const PENDING_OR_DECIDED: usize = 1;
const OF_RUN: usize = 2;
const OF_PRINCIPAL: usize = 3;
const PENDING_OF_PRINCIPAL: usize = 4;
const EXPIRING: usize = 5;

fn key(approval: ApprovalId) -> IndexKey {
    IndexKey::new().bytes(&approval.to_bytes())
}

fn of_run(run: RunId) -> IndexKey {
    IndexKey::new().bytes(&run.to_bytes())
}

fn of_principal(principal: PrincipalId) -> IndexKey {
    IndexKey::new().bytes(&principal.to_bytes())
}

fn waits_or_not(is_pending: bool) -> IndexKey {
    IndexKey::new().byte(u8::from(!is_pending))
}

impl Family for ApprovalFamily {
    const TABLE: &'static FamilyTable = &FamilyTable {
        name: "approval",
        version: 1,
        indexes: &[
            FamilyIndex { name: "by_approval", rows_per_key: RowsPerKey::One },
            FamilyIndex { name: "pending_or_decided", rows_per_key: RowsPerKey::Many },
            FamilyIndex { name: "by_run", rows_per_key: RowsPerKey::Many },
            FamilyIndex { name: "of_principal", rows_per_key: RowsPerKey::Many },
            FamilyIndex { name: "pending_of_principal", rows_per_key: RowsPerKey::Many },
            FamilyIndex { name: "expiring", rows_per_key: RowsPerKey::Many },
        ],
        content: &[],
    };

    const HAS_FIXED_KEYS: bool = true;

    type Row = ApprovalRow;

    fn facts(row: &ApprovalRow) -> Vec<u8> {
        prost::Message::encode_to_vec(&ApprovalFacts {
            approval: row.approval.to_bytes().to_vec(),
            run: row.run.to_bytes().to_vec(),
            principal: row.principal.to_bytes().to_vec(),
            state: stored_state(row.state),
            voters: row.voters.iter().map(|voter| voter.to_bytes().to_vec()).collect(),
            expires: row.expires.map(|time| time.0),
            decided: row.decided.map(|seq| seq.0),
        })
    }

    fn load(stored: &StoredRow) -> Option<ApprovalRow> {
        let facts = <ApprovalFacts as prost::Message>::decode(stored.facts.as_slice()).ok()?;
        let voter = |bytes: Vec<u8>| Some(PrincipalId::from_bytes(bytes.try_into().ok()?));
        Some(ApprovalRow {
            seq: stored.id.into(),
            approval: ApprovalId::from_bytes(facts.approval.try_into().ok()?),
            run: RunId::from_bytes(facts.run.try_into().ok()?),
            principal: PrincipalId::from_bytes(facts.principal.try_into().ok()?),
            state: state_from_stored(facts.state),
            voters: facts.voters.into_iter().map(voter).collect::<Option<_>>()?,
            expires: facts.expires.map(Timestamp),
            decided: facts.decided.map(Seq),
        })
    }

    fn index(row: &ApprovalRow, index: usize) -> Option<IndexKey> {
        let is_pending = row.state == ApprovalState::Pending;
        match index {
            BY_APPROVAL => Some(key(row.approval)),
            PENDING_OR_DECIDED => Some(waits_or_not(is_pending)),
            OF_RUN => Some(of_run(row.run)),
            OF_PRINCIPAL => Some(of_principal(row.principal)),
            PENDING_OF_PRINCIPAL => is_pending.then(|| of_principal(row.principal)),
            _ => row
                .expires
                .filter(|_| is_pending)
                .map(|expires| IndexKey::new().signed(expires.0).bytes(&row.approval.to_bytes())),
        }
    }

    fn fold(rows: &mut FamilyCache<'_, Self>, entry: &FoldedEntry<'_>) -> Result<(), StoreFault> {
        match entry.event {
            JournalEvent::Tape(TapeEvent::Approval(ApprovalEvent::Requested(requested))) => {
                on_requested(rows, entry, requested)
            }
            JournalEvent::Tape(TapeEvent::Approval(ApprovalEvent::Voted(voted))) => {
                rows.change_by(BY_APPROVAL, &key(voted.approval), |row| {
                    if row.state == ApprovalState::Pending && !row.voters.contains(&voted.by) {
                        row.voters.push(voted.by);
                    }
                })
            }
            JournalEvent::Tape(TapeEvent::Approval(ApprovalEvent::Resolved(resolved))) => {
                let mut decided = None;
                rows.change_by(BY_APPROVAL, &key(resolved.approval), |row| {
                    if row.state == ApprovalState::Pending {
                        row.state = resolved.state;
                        row.decided = Some(entry.seq);
                        decided = Some(row.run);
                    }
                })?;
                if let Some(run) = decided {
                    rows.passed.add(run, RunCounts { asked: -1, ..RunCounts::default() });
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

fn on_requested(
    rows: &mut FamilyCache<'_, ApprovalFamily>,
    entry: &FoldedEntry<'_>,
    requested: &ApprovalRequested,
) -> Result<(), StoreFault> {
    let Some((run, _)) = entry.run else { return Ok(()) };
    let approval = requested.approval;
    if rows.find(BY_APPROVAL, &key(approval))?.is_some() {
        return Ok(());
    }
    rows.passed.add(run, RunCounts { asked: 1, ..RunCounts::default() });
    let row = ApprovalRow {
        seq: entry.seq,
        approval,
        run,
        principal: entry.principal,
        state: ApprovalState::Pending,
        voters: Vec::new(),
        expires: requested.expires,
        decided: None,
    };
    rows.insert(entry, row)
}

/// Returns the row of an approval in the writer's transaction.
///
/// # Errors
/// [`StoreFault`] when the store fails.
pub fn cached_row(
    rows: &mut FamilyCache<'_, ApprovalFamily>,
    approval: ApprovalId,
) -> Result<Option<ApprovalRow>, StoreFault> {
    Ok(rows.find(BY_APPROVAL, &key(approval))?.map(|(_, row)| row))
}

/// Returns the number of a state: zero waits.
fn stored_state(state: ApprovalState) -> u32 {
    match state {
        ApprovalState::Pending => 0,
        ApprovalState::Approved => 1,
        ApprovalState::Denied => 2,
        ApprovalState::Expired => 3,
        ApprovalState::Withdrawn => 4,
    }
}

fn state_from_stored(number: u32) -> ApprovalState {
    match number {
        0 => ApprovalState::Pending,
        1 => ApprovalState::Approved,
        2 => ApprovalState::Denied,
        3 => ApprovalState::Expired,
        _ => ApprovalState::Withdrawn,
    }
}
