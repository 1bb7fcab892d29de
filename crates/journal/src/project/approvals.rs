//! Approvals: which were asked, and what became of them. Owns the table `approval`.
//!
//! A row holds what is looked for and what is counted, and names the entries that say the rest: no content, and
//! nothing that gives authority, is copied here. Only a pending approval changes, and the first decision counts.

use palyra_types::approval::{ApprovalRequested, ApprovalState};
use palyra_types::event::{ApprovalEvent, TapeEvent};
use palyra_types::{ApprovalId, PrincipalId, RunId, Seq, Timestamp};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::folded::Folded;
use super::rows::{Family, Held};
use crate::sql::{seq_from_sql, seq_to_sql};

/// Columns that [`ApprovalRow::read`] takes, in its order.
pub(crate) const APPROVAL_COLUMNS: &str =
    "seq, approval, run, principal, state, voters, expires, decided_seq";

/// A row of `approval`.
#[derive(Debug, Clone)]
pub(crate) struct ApprovalRow {
    /// The entry that asks.
    pub(crate) seq: Seq,
    pub(crate) approval: ApprovalId,
    pub(crate) run: RunId,
    pub(crate) principal: PrincipalId,
    pub(crate) state: ApprovalState,
    pub(crate) voters: Vec<PrincipalId>,
    pub(crate) expires: Option<Timestamp>,
    /// The entry that decides.
    pub(crate) decided_seq: Option<Seq>,
}

/// The table `approval`.
pub(crate) struct Approvals;

impl Family for Approvals {
    type Key = ApprovalId;
    type Row = ApprovalRow;

    fn load(connection: &Connection, key: &ApprovalId) -> rusqlite::Result<Option<ApprovalRow>> {
        let sql = format!("SELECT {APPROVAL_COLUMNS} FROM approval WHERE approval = ?1");
        connection.prepare_cached(&sql)?.query_row([key.to_bytes()], ApprovalRow::read).optional()
    }

    fn store(connection: &Connection, row: &ApprovalRow) -> rusqlite::Result<()> {
        let sql = "INSERT INTO approval(seq, approval, run, principal, state, voters, expires, decided_seq)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
            ON CONFLICT(seq) DO UPDATE SET state = excluded.state, voters = excluded.voters,
                decided_seq = excluded.decided_seq";
        let voters: Vec<u8> = row.voters.iter().flat_map(|voter| voter.to_bytes()).collect();
        let values = params![
            seq_to_sql(row.seq),
            row.approval.to_bytes(),
            row.run.to_bytes(),
            row.principal.to_bytes(),
            stored_state(row.state),
            voters,
            row.expires.map(|time| time.0),
            row.decided_seq.map(seq_to_sql),
        ];
        connection.prepare_cached(sql)?.execute(values).map(drop)
    }
}

/// What an entry changed about how many approvals a run waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asked {
    /// One more.
    More(RunId),
    /// One less.
    Less(RunId),
}

/// Folds one tape entry.
pub(super) fn fold(
    approvals: &mut Held<Approvals>,
    connection: &Connection,
    entry: &Folded<'_>,
    event: &TapeEvent,
) -> rusqlite::Result<Option<Asked>> {
    match event {
        TapeEvent::Approval(ApprovalEvent::Requested(requested)) => {
            asked(approvals, connection, entry, requested)
        }
        TapeEvent::Approval(ApprovalEvent::Voted(voted)) => {
            approvals.change(connection, &voted.approval, |row| {
                if row.state == ApprovalState::Pending && !row.voters.contains(&voted.by) {
                    row.voters.push(voted.by);
                }
            })?;
            Ok(None)
        }
        TapeEvent::Approval(ApprovalEvent::Resolved(resolved)) => {
            let mut less = None;
            approvals.change(connection, &resolved.approval, |row| {
                if row.state == ApprovalState::Pending {
                    row.state = resolved.state;
                    row.decided_seq = Some(entry.seq);
                    less = Some(Asked::Less(row.run));
                }
            })?;
            Ok(less)
        }
        _ => Ok(None),
    }
}

/// An id is given once.
fn asked(
    approvals: &mut Held<Approvals>,
    connection: &Connection,
    entry: &Folded<'_>,
    requested: &ApprovalRequested,
) -> rusqlite::Result<Option<Asked>> {
    let Some((run, _)) = entry.run else { return Ok(None) };
    let approval = requested.approval;
    if approvals.get(connection, &approval)?.is_some() {
        return Ok(None);
    }
    let row = ApprovalRow {
        seq: entry.seq,
        approval,
        run,
        principal: entry.principal,
        state: ApprovalState::Pending,
        voters: Vec::new(),
        expires: requested.expires,
        decided_seq: None,
    };
    approvals.put(approval, row);
    Ok(Some(Asked::More(run)))
}

impl ApprovalRow {
    /// Reads a row of [`APPROVAL_COLUMNS`].
    pub(crate) fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let voters: Vec<u8> = row.get(5)?;
        Ok(Self {
            seq: seq_from_sql(row.get(0)?),
            approval: ApprovalId::from_bytes(row.get(1)?),
            run: RunId::from_bytes(row.get(2)?),
            principal: PrincipalId::from_bytes(row.get(3)?),
            state: state_from_stored(row.get(4)?),
            voters: voters.as_chunks().0.iter().map(|id| PrincipalId::from_bytes(*id)).collect(),
            expires: row.get::<_, Option<i64>>(6)?.map(Timestamp),
            decided_seq: row.get::<_, Option<i64>>(7)?.map(seq_from_sql),
        })
    }
}

/// Returns the number of a state in the column `state`; zero waits.
fn stored_state(state: ApprovalState) -> i64 {
    match state {
        ApprovalState::Pending => 0,
        ApprovalState::Approved => 1,
        ApprovalState::Denied => 2,
        ApprovalState::Expired => 3,
        ApprovalState::Withdrawn => 4,
    }
}

fn state_from_stored(number: i64) -> ApprovalState {
    match number {
        0 => ApprovalState::Pending,
        1 => ApprovalState::Approved,
        2 => ApprovalState::Denied,
        3 => ApprovalState::Expired,
        _ => ApprovalState::Withdrawn,
    }
}
