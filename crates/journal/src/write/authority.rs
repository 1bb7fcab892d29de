//! Whether an approval or a stored grant is what its row says, by the log itself, inside the writer's transaction.
//!
//! Invariant: a row that contradicts the entry that it names permits nothing.

use palyra_ledger::Envelope;
use palyra_types::approval::ApprovalState;
use palyra_types::event::{ApprovalEvent, JournalEvent, TapeEvent};
use palyra_types::{ApprovalId, Seq, StoredGrantId, Timestamp};
use rusqlite::{Connection, OptionalExtension};

use crate::rows::{SqliteRows, sql_error};
use crate::sql::seq_to_sql;
use palyra_journal_core::codec;
use palyra_journal_core::families::approvals::{self, ApprovalRow};
use palyra_journal_core::families::{FamilySet, stored_grants};
use palyra_journal_core::family::PassedChanges;
use palyra_types::event::kind::{EventKind, KindPlace};

/// Returns whether an approval waits for a decision.
pub(super) fn is_pending(
    connection: &Connection,
    families: &mut FamilySet,
    approval: ApprovalId,
) -> rusqlite::Result<bool> {
    let store = &mut SqliteRows::new(connection);
    let passed = &mut PassedChanges::default();
    let row = approvals::cached_row(&mut families.approvals.over(store, passed), approval);
    let Some(row) = row.map_err(sql_error)? else { return Ok(false) };
    if row.state != ApprovalState::Pending {
        return Ok(false);
    }
    Ok(is_awaiting_answer(connection, &row)? && !is_decided(connection, &row)?)
}

fn is_awaiting_answer(connection: &Connection, row: &ApprovalRow) -> rusqlite::Result<bool> {
    let said = facts_at(connection, row.seq)?;
    Ok(said.is_some_and(|(envelope, event)| match event {
        TapeEvent::Approval(ApprovalEvent::Requested(asked)) => {
            asked.approval == row.approval && envelope.run.is_some_and(|(run, _)| run == row.run)
        }
        _ => false,
    }))
}

/// Looks at the decisions on the run's tape behind the question: few, for the run waits.
fn is_decided(connection: &Connection, row: &ApprovalRow) -> rusqlite::Result<bool> {
    let sql = "SELECT envelope FROM entry WHERE run_id = ?1 AND kind = ?2
        AND tape_seq > (SELECT tape_seq FROM entry WHERE seq = ?3)";
    let mut statement = connection.prepare_cached(sql)?;
    let kind = EventKind::ApprovalResolved.number();
    let mut rows = statement.query((row.run.to_bytes(), kind, seq_to_sql(row.seq)))?;
    while let Some(found) = rows.next()? {
        let (_, event) = match decoded(&found.get::<_, Vec<u8>>(0)?) {
            Some(said) => said,
            // What cannot be read might be the decision.
            None => return Ok(true),
        };
        if matches!(event, TapeEvent::Approval(ApprovalEvent::Resolved(resolved)) if resolved.approval == row.approval)
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns whether a stored grant holds at a time and may be used once more. One whose content was erased permits
/// nothing: nobody could say what.
pub(super) fn is_usable(
    connection: &Connection,
    families: &mut FamilySet,
    grant: StoredGrantId,
    now: Timestamp,
) -> rusqlite::Result<bool> {
    let cached = &mut SqliteRows::new(connection);
    let passed = &mut PassedChanges::default();
    let row = stored_grants::cached_row(&mut families.stored_grants.over(cached, passed), grant);
    let Some((seq, row)) = row.map_err(sql_error)? else { return Ok(false) };
    if !row.is_standing() {
        return Ok(false);
    }
    let has_content = "SELECT 1 FROM payload WHERE seq = ?1";
    let content = connection.prepare_cached(has_content)?;
    let content = { content }.query_row([seq_to_sql(seq)], |_| Ok(())).optional()?;
    let said = facts_at(connection, seq)?;
    Ok(content.is_some()
        && said.is_some_and(|(_, event)| match event {
            TapeEvent::Approval(ApprovalEvent::GrantStored(stored)) => {
                stored.grant == grant
                    && stored.uses_max == row.uses_max
                    && stored.expires.is_none_or(|expires| now < expires)
            }
            _ => false,
        }))
}

/// Returns what an entry of a tape says without its content.
fn facts_at(connection: &Connection, seq: Seq) -> rusqlite::Result<Option<(Envelope, TapeEvent)>> {
    let mut statement = connection.prepare_cached("SELECT envelope FROM entry WHERE seq = ?1")?;
    let envelope: Option<Vec<u8>> = statement.query_row([seq_to_sql(seq)], |row| row.get(0)).optional()?;
    Ok(envelope.and_then(|envelope| decoded(&envelope)))
}

fn decoded(envelope: &[u8]) -> Option<(Envelope, TapeEvent)> {
    let envelope = Envelope::decode(envelope).ok()?;
    match codec::decode(envelope.kind, KindPlace::Tape, &envelope.facts, &[]).ok()? {
        JournalEvent::Tape(event) => Some((envelope, event)),
        _ => None,
    }
}
