//! Lists of approvals, newest first, and what waits.
//!
//! Owns the comparison of rows with the entries that they name: a record is what the log says, and a row that contradicts
//! it is damage.

use std::collections::BTreeMap;

use palyra_ports::read_approvals::{ApprovalFilter, ApprovalQuery};
use palyra_ports::read_records::RECORD_PAGE_ROWS_MAX;
use palyra_types::approval::{ApprovalRecord, ApprovalRequested, ApprovalResolved, ApprovalState};
use palyra_types::event::{ApprovalEvent, JournalEvent, TapeEvent};
use palyra_types::{ApprovalId, PrincipalId, Redacted, RunId, Timestamp};

use super::{
    ApprovalFamily, ApprovalRow, BY_APPROVAL, EXPIRING, OF_PRINCIPAL, OF_RUN, PENDING_OF_PRINCIPAL,
    PENDING_OR_DECIDED, key, of_principal, of_run, waits_or_not,
};
use crate::families::id_query::IdQuery;
use crate::family::{
    IndexKey, KeyRange, LogView, RowId, RowScan, RowStore, ScanOrder, StoreFault, all_rows, find_row,
    scan_rows, scan_wanted,
};

/// A waiting approval and its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExpiringApproval {
    /// The approval.
    pub approval: ApprovalId,
    /// Its run.
    pub run: RunId,
    /// When it expires.
    pub expires: Timestamp,
}

/// Returns an approval.
///
/// # Errors
/// [`StoreFault`] when the store fails, or a row contradicts an entry that it names.
pub fn record(
    rows: &mut dyn RowStore,
    log: &mut dyn LogView,
    approval: ApprovalId,
) -> Result<Option<ApprovalRecord>, StoreFault> {
    let found = find_row::<ApprovalFamily>(rows, BY_APPROVAL, &key(approval))?;
    found.map(|(_, row)| to_record(log, row)).transpose()
}

/// Returns a page of approvals, newest first.
///
/// # Errors
/// See [`record`].
pub fn records(
    rows: &mut dyn RowStore,
    log: &mut dyn LogView,
    query: &ApprovalQuery,
) -> Result<Vec<ApprovalRecord>, StoreFault> {
    let limit = query.limit.clamp(1, RECORD_PAGE_ROWS_MAX);
    let mut found = Vec::new();
    for (index, key) in sources(query) {
        let after = query.before.map(|before| (key.clone(), RowId::from(before)));
        let range = KeyRange::of_prefix(key);
        let scan = RowScan { index, range, after, order: ScanOrder::Descending, limit };
        found.extend(scan_wanted::<ApprovalFamily>(rows, scan, |row| is_wanted(query, row))?);
    }
    found.sort_by_key(|(id, _)| std::cmp::Reverse(*id));
    found.truncate(limit);
    found.into_iter().map(|(_, row)| to_record(log, row)).collect()
}

/// Returns the indexes that serve a query, with the key in each; what waits is found by indexes that hold nothing else.
fn sources(query: &ApprovalQuery) -> Vec<(usize, IndexKey)> {
    let by_state = |is_pending| (PENDING_OR_DECIDED, waits_or_not(is_pending));
    match (query.only, query.run, query.principal) {
        (_, Some(run), _) => vec![(OF_RUN, of_run(run))],
        (ApprovalFilter::Pending, None, Some(principal)) => {
            vec![(PENDING_OF_PRINCIPAL, of_principal(principal))]
        }
        (_, None, Some(principal)) => vec![(OF_PRINCIPAL, of_principal(principal))],
        (ApprovalFilter::Pending, None, None) => vec![by_state(true)],
        (ApprovalFilter::Decided, None, None) => vec![by_state(false)],
        (ApprovalFilter::All, None, None) => vec![by_state(true), by_state(false)],
    }
}

fn is_wanted(query: &ApprovalQuery, row: &ApprovalRow) -> bool {
    let is_pending = row.state == ApprovalState::Pending;
    query.principal.is_none_or(|principal| row.principal == principal)
        && match query.only {
            ApprovalFilter::All => true,
            ApprovalFilter::Pending => is_pending,
            ApprovalFilter::Decided => !is_pending,
        }
}

/// Makes the record of an approval from its row and the entries that it names.
fn to_record(log: &mut dyn LogView, row: ApprovalRow) -> Result<ApprovalRecord, StoreFault> {
    let fault = || StoreFault::Contradiction { seq: row.seq };
    let entry = log.entry(row.seq)?;
    let (
        JournalEvent::Tape(TapeEvent::Approval(ApprovalEvent::Requested(asked))),
        Some((run, tape_seq)),
        Some(session),
    ) = (entry.event, entry.run, entry.session)
    else {
        return Err(fault());
    };
    let (asked, principal) = (*asked, entry.principal);
    let said = (asked.approval, run, principal, asked.expires);
    if said != (row.approval, row.run, row.principal, row.expires) {
        return Err(fault());
    }
    let (decided, resolved) = decision(log, &row)?.unzip();
    let ApprovalRequested { approval, effect, risk, terms, expires, prompt, .. } = asked;
    Ok(ApprovalRecord {
        approval,
        run,
        session,
        principal,
        effect,
        tape_seq,
        seq: row.seq,
        state: row.state,
        risk,
        terms,
        voters: row.voters,
        created: entry.time,
        expires,
        decided,
        decided_by: resolved.as_ref().and_then(|resolved| resolved.by),
        prompt,
        note: resolved.map_or_else(Redacted::default, |resolved| resolved.note),
    })
}

/// Returns when and how an approval was decided, as the entry that its row names says it.
fn decision(
    log: &mut dyn LogView,
    row: &ApprovalRow,
) -> Result<Option<(Timestamp, ApprovalResolved)>, StoreFault> {
    let fault = StoreFault::Contradiction { seq: row.seq };
    match (row.state, row.decided) {
        (ApprovalState::Pending, None) => Ok(None),
        (ApprovalState::Pending, Some(_)) | (_, None) => Err(fault),
        (state, Some(seq)) => {
            let entry = log.entry(seq)?;
            match entry.event {
                JournalEvent::Tape(TapeEvent::Approval(ApprovalEvent::Resolved(resolved)))
                    if resolved.approval == row.approval && resolved.state == state =>
                {
                    Ok(Some((entry.time, resolved)))
                }
                _ => Err(fault),
            }
        }
    }
}

/// Returns how many approvals wait for each principal.
///
/// # Errors
/// [`StoreFault`] when the store fails.
pub fn waiting(rows: &mut dyn RowStore) -> Result<Vec<(PrincipalId, usize)>, StoreFault> {
    let mut waiting: BTreeMap<PrincipalId, usize> = BTreeMap::new();
    for (_, row) in all_rows::<ApprovalFamily>(rows, PENDING_OF_PRINCIPAL)? {
        *waiting.entry(row.principal).or_default() += 1;
    }
    Ok(waiting.into_iter().collect())
}

/// Returns what is due next among the approvals that wait.
///
/// # Errors
/// [`StoreFault`] when the store fails.
pub fn next_to_expire(rows: &mut dyn RowStore, limit: usize) -> Result<Vec<ExpiringApproval>, StoreFault> {
    let (all, limit) = (KeyRange::of_prefix(IndexKey::new()), limit.clamp(1, RECORD_PAGE_ROWS_MAX));
    let found = scan_rows::<ApprovalFamily>(rows, EXPIRING, all, ScanOrder::Ascending, limit)?;
    let due = found.into_iter().filter_map(|(_, row)| {
        let (approval, run) = (row.approval, row.run);
        row.expires.map(|expires| ExpiringApproval { approval, run, expires })
    });
    Ok(due.collect())
}

/// Returns ids of approvals that begin or end with a text, the highest first.
///
/// # Errors
/// [`StoreFault`] when the store fails.
pub fn ids(rows: &mut dyn RowStore, query: &IdQuery) -> Result<Vec<[u8; 16]>, StoreFault> {
    let mut range = KeyRange::of_prefix(IndexKey::new());
    if let Some(below) = &query.below {
        range.until = IndexKey::new().bytes(below);
    }
    let limit = query.limit.clamp(1, RECORD_PAGE_ROWS_MAX);
    let scan = RowScan { index: BY_APPROVAL, range, after: None, order: ScanOrder::Descending, limit };
    let found = scan_wanted::<ApprovalFamily>(rows, scan, |row| {
        query.principal.is_none_or(|principal| row.principal == principal)
            && query.fragment.matches(row.approval.to_bytes())
    })?;
    Ok(found.into_iter().map(|(_, row)| row.approval.to_bytes()).collect())
}
