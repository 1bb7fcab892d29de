//! Approvals, stored grants, effects and takings back.
//!
//! Owns the comparison of rows that give authority with the entries that they name: what is handed out is what
//! the log says, and a row that contradicts it is damage.

use palyra_ports::read_approvals::{
    ApprovalFilter, ApprovalQuery, EffectFilter, EffectQuery, ExpiringApproval, GrantFilter,
    STORED_GRANTS_MAX,
};
use palyra_ports::read_records::RECORD_PAGE_ROWS_MAX;
use palyra_types::approval::{
    ApprovalRecord, ApprovalRequested, ApprovalResolved, ApprovalState, StoredGrantRecord,
};
use palyra_types::effect::{EffectRecord, UndoRequested};
use palyra_types::event::{ApprovalEvent, EffectEvent, JournalEvent, TapeEvent};
use palyra_types::job::JobNumber;
use palyra_types::{ApprovalId, PrincipalId, Redacted, RunId, StoredGrantId, Timestamp};
use rusqlite::{Connection, Params, params};

use crate::entry::StoredEntry;
use crate::fault::{EntryFault, ReadFault};
use crate::project::{
    APPROVAL_COLUMNS, ApprovalRow, EFFECT_COLUMNS, EffectRow, STORED_GRANT_COLUMNS, StoredGrantRow,
    open_undos,
};
use crate::sql::{count_to_sql, seq_to_sql};

/// Returns an approval.
pub(crate) fn approval(
    connection: &Connection,
    approval: ApprovalId,
) -> Result<Option<ApprovalRecord>, ReadFault> {
    Ok(select_approvals(connection, "WHERE approval = ?1", [approval.to_bytes()])?.pop())
}

/// Returns a page of approvals, newest first.
pub(crate) fn approvals(
    connection: &Connection,
    query: &ApprovalQuery,
) -> Result<Vec<ApprovalRecord>, ReadFault> {
    let values = params![
        query.principal.map(|principal| principal.to_bytes()),
        query.run.map(RunId::to_bytes),
        query.before.map_or(i64::MAX, seq_to_sql),
        count_to_sql(query.limit.clamp(1, RECORD_PAGE_ROWS_MAX)),
    ];
    select_approvals(connection, &page_of_approvals(query), values)
}

/// What waits is found by indexes that hold nothing else, however much was decided.
fn page_of_approvals(query: &ApprovalQuery) -> String {
    let source = match (query.only, query.run, query.principal) {
        (ApprovalFilter::Pending, None, None) => "INDEXED BY approval_pending WHERE state = 0",
        (ApprovalFilter::Pending, None, Some(_)) => {
            "INDEXED BY approval_pending_of_principal WHERE state = 0"
        }
        (ApprovalFilter::Pending, Some(_), _) => "INDEXED BY approval_of_run WHERE state = 0",
        (ApprovalFilter::Decided, ..) => "WHERE state > 0",
        (ApprovalFilter::All, ..) => "WHERE TRUE",
    };
    format!("{source} AND {} AND seq < ?3 ORDER BY seq DESC LIMIT ?4", whose(query.principal, query.run))
}

/// Returns the conditions on the first two bound values.
fn whose(principal: Option<PrincipalId>, run: Option<RunId>) -> String {
    let principal = if principal.is_some() { "principal = ?1" } else { "?1 IS NULL" };
    let run = if run.is_some() { "run = ?2" } else { "?2 IS NULL" };
    format!("{principal} AND {run}")
}

fn select_approvals(
    connection: &Connection,
    condition: &str,
    values: impl Params,
) -> Result<Vec<ApprovalRecord>, ReadFault> {
    let sql = format!("SELECT {APPROVAL_COLUMNS} FROM approval {condition}");
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map(values, ApprovalRow::read)?;
    rows.map(|row| approval_record(connection, row?)).collect()
}

/// Makes the record of an approval from its row and the entries that it names.
fn approval_record(connection: &Connection, row: ApprovalRow) -> Result<ApprovalRecord, ReadFault> {
    let fault = EntryFault::Row.at(row.seq);
    let entry = StoredEntry::at(connection, row.seq)?;
    let (
        JournalEvent::Tape(TapeEvent::Approval(ApprovalEvent::Requested(asked))),
        Some((run, tape_seq)),
        Some(session),
    ) = (entry.event()?, entry.envelope.run, entry.envelope.session)
    else {
        return Err(fault);
    };
    let asked = *asked;
    let principal = entry.envelope.principal;
    let said = (asked.approval, run, principal, asked.expires);
    if said != (row.approval, row.run, row.principal, row.expires) {
        return Err(fault);
    }
    let decision = decision(connection, &row)?;
    let ApprovalRequested { approval, effect, risk, terms, expires, prompt, .. } = asked;
    let (decided, resolved) = decision.unzip();
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
        created: entry.envelope.time,
        expires,
        decided,
        decided_by: resolved.as_ref().and_then(|resolved| resolved.by),
        prompt,
        note: resolved.map_or_else(Redacted::default, |resolved| resolved.note),
    })
}

/// Returns when and how an approval was decided, as the entry that its row names says it.
fn decision(
    connection: &Connection,
    row: &ApprovalRow,
) -> Result<Option<(Timestamp, ApprovalResolved)>, ReadFault> {
    let fault = EntryFault::Row.at(row.seq);
    match (row.state, row.decided_seq) {
        (ApprovalState::Pending, None) => Ok(None),
        (ApprovalState::Pending, Some(_)) | (_, None) => Err(fault),
        (state, Some(seq)) => {
            let entry = StoredEntry::at(connection, seq)?;
            match entry.event()? {
                JournalEvent::Tape(TapeEvent::Approval(ApprovalEvent::Resolved(resolved)))
                    if resolved.approval == row.approval && resolved.state == state =>
                {
                    Ok(Some((entry.envelope.time, resolved)))
                }
                _ => Err(fault),
            }
        }
    }
}

/// Returns how many approvals wait for each principal.
pub(crate) fn waiting_approvals(connection: &Connection) -> Result<Vec<(PrincipalId, usize)>, ReadFault> {
    let sql = "SELECT principal, count(*) FROM approval INDEXED BY approval_pending_of_principal
        WHERE state = 0 GROUP BY principal";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map([], |row| {
        let count = usize::try_from(row.get::<_, i64>(1)?).unwrap_or_default();
        Ok((PrincipalId::from_bytes(row.get(0)?), count))
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Returns what is due next among the approvals that wait.
pub(crate) fn next_to_expire(
    connection: &Connection,
    limit: usize,
) -> Result<Vec<ExpiringApproval>, ReadFault> {
    let sql = "SELECT approval, run, expires FROM approval INDEXED BY approval_expiring
        WHERE state = 0 AND expires IS NOT NULL ORDER BY expires, approval LIMIT ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map([count_to_sql(limit.clamp(1, RECORD_PAGE_ROWS_MAX))], |row| {
        Ok(ExpiringApproval {
            approval: ApprovalId::from_bytes(row.get(0)?),
            run: RunId::from_bytes(row.get(1)?),
            expires: Timestamp(row.get(2)?),
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Returns a stored grant.
pub(crate) fn stored_grant(
    connection: &Connection,
    grant: StoredGrantId,
) -> Result<Option<StoredGrantRecord>, ReadFault> {
    Ok(select_grants(connection, "WHERE stored_grant = ?1", [grant.to_bytes()])?.pop())
}

/// Returns stored grants in order of id.
pub(crate) fn stored_grants(
    connection: &Connection,
    only: GrantFilter,
) -> Result<Vec<StoredGrantRecord>, ReadFault> {
    let source = match only {
        GrantFilter::Standing => {
            "INDEXED BY stored_grant_standing
            WHERE revoked IS NULL AND (uses_max IS NULL OR uses < uses_max)"
        }
        GrantFilter::All => "WHERE TRUE",
    };
    let condition = format!("{source} ORDER BY stored_grant LIMIT ?1");
    select_grants(connection, &condition, [count_to_sql(STORED_GRANTS_MAX)])
}

fn select_grants(
    connection: &Connection,
    condition: &str,
    values: impl Params,
) -> Result<Vec<StoredGrantRecord>, ReadFault> {
    let sql = format!("SELECT {STORED_GRANT_COLUMNS} FROM stored_grant {condition}");
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map(values, StoredGrantRow::read)?;
    rows.map(|row| grant_record(connection, &row?)).collect()
}

/// Makes the record of a stored grant from its row and the entry that it names.
fn grant_record(connection: &Connection, row: &StoredGrantRow) -> Result<StoredGrantRecord, ReadFault> {
    let entry = StoredEntry::at(connection, row.seq)?;
    match entry.event()? {
        JournalEvent::Tape(TapeEvent::Approval(ApprovalEvent::GrantStored(stored)))
            if stored.grant == row.grant && stored.uses_max == row.uses_max =>
        {
            let (uses, created, revoked, seq) = (row.uses, entry.envelope.time, row.revoked, row.seq);
            Ok(StoredGrantRecord { stored, uses, created, revoked, seq })
        }
        _ => Err(EntryFault::Row.at(row.seq)),
    }
}

/// Returns a page of effects, newest first.
pub(crate) fn effects(connection: &Connection, query: &EffectQuery) -> Result<Vec<EffectRecord>, ReadFault> {
    let sql = format!("SELECT {EFFECT_COLUMNS} FROM effect {}", page_of_effects(query));
    let mut statement = connection.prepare_cached(&sql)?;
    let values = params![
        query.principal.map(|principal| principal.to_bytes()),
        query.run.map(RunId::to_bytes),
        query.before.map_or(i64::MAX, seq_to_sql),
        count_to_sql(query.limit.clamp(1, RECORD_PAGE_ROWS_MAX)),
    ];
    let rows = statement.query_map(values, EffectRow::read)?;
    let rows = rows.collect::<rusqlite::Result<Vec<_>>>()?;
    Ok(rows.into_iter().filter_map(EffectRow::into_record).collect())
}

fn page_of_effects(query: &EffectQuery) -> String {
    let of_job;
    let source = match (query.only, query.run, query.principal) {
        (EffectFilter::Unknown, ..) => {
            "INDEXED BY effect_unknown WHERE (state = 4 OR (job_state = 3 AND state = 2))"
        }
        (EffectFilter::OpenJobs, ..) => "INDEXED BY effect_open_job WHERE job_state = 1",
        (EffectFilter::Job(JobNumber(job)), ..) => {
            of_job = format!("INDEXED BY effect_job WHERE job = {job}");
            &of_job
        }
        (EffectFilter::Changing, None, Some(_)) => "INDEXED BY effect_changing WHERE contract <> 0",
        (EffectFilter::Changing, None, None) => "INDEXED BY effect_started WHERE contract <> 0",
        (EffectFilter::Changing, Some(_), _) => "WHERE contract <> 0",
        (EffectFilter::All, None, Some(_)) => "INDEXED BY effect_of_principal WHERE TRUE",
        (EffectFilter::All, None, None) => "INDEXED BY effect_started WHERE TRUE",
        (EffectFilter::All, Some(_), _) => "WHERE TRUE",
    };
    let whose = whose(query.principal, query.run);
    let page = "started_seq IS NOT NULL AND started_seq < ?3 ORDER BY started_seq DESC LIMIT ?4";
    format!("{source} AND {whose} AND {page}")
}

/// Returns the number of the latest job; zero when there was none.
pub(crate) fn last_job(connection: &Connection) -> Result<JobNumber, ReadFault> {
    let sql = "SELECT coalesce(max(job), 0) FROM effect INDEXED BY effect_job WHERE job IS NOT NULL";
    Ok(JobNumber(connection.prepare_cached(sql)?.query_row([], |row| row.get(0))?))
}

/// Returns the takings back that were begun and have no end, oldest first.
pub(crate) fn undos(connection: &Connection) -> Result<Vec<UndoRequested>, ReadFault> {
    let open = open_undos(connection)?;
    let requested = open.into_iter().map(|seq| match StoredEntry::at(connection, seq)?.event()? {
        JournalEvent::Effect(EffectEvent::UndoRequested(requested)) => Ok(requested),
        _ => Err(EntryFault::Row.at(seq)),
    });
    requested.collect()
}

#[cfg(test)]
mod tests;
