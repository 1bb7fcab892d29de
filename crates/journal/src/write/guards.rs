//! The conditions of an append, looked up inside the writer's transaction.

use palyra_ports::{AppendError, Guard};
use palyra_types::event::{TapeEvent, ToolEvent};
use palyra_types::{PrincipalId, Redacted, RunId, SessionId, TapeSeq, event::JournalEvent};
use rusqlite::{Connection, OptionalExtension, Params};

use super::authority;
use super::prepare::{PreparedAppend, invalid};
use crate::project::Projections;
use palyra_types::event::kind::EventKind;

/// Refuses an append whose guards do not hold or whose tape numbers are out of line.
pub(super) fn check(
    connection: &Connection,
    rows: &mut Projections,
    append: &PreparedAppend,
) -> rusqlite::Result<Result<(), AppendError>> {
    for (index, guard) in append.guards.iter().enumerate() {
        if !holds(connection, rows, guard)? {
            return Ok(Err(AppendError::GuardFailed { index }));
        }
    }
    check_tapes(connection, rows, append)
}

fn holds(connection: &Connection, rows: &mut Projections, guard: &Guard) -> rusqlite::Result<bool> {
    match guard {
        Guard::RunAt { run, tape_seq } => Ok(last_tape_seq(connection, rows, *run)? == *tape_seq),
        Guard::IdempotencyUnseen { principal, digest } => {
            let sql = "SELECT 1 FROM run WHERE principal = ?1 AND idempotency = ?2
                UNION ALL SELECT 1 FROM input_key WHERE principal = ?1 AND idempotency = ?2";
            is_empty(connection, sql, (principal.to_bytes(), digest.0))
        }
        Guard::NoOtherRunInProgress { session, run } => {
            let sql = "SELECT 1 FROM run INDEXED BY run_open
                WHERE principal = ?1 AND session = ?2 AND state < 2 AND state = 1 AND run <> ?3";
            let names = (session.principal.to_bytes(), session.id.to_bytes(), run.to_bytes());
            is_empty(connection, sql, names)
        }
        Guard::ApprovalPending { approval } => authority::is_pending(connection, rows, *approval),
        Guard::GrantUsable { grant, now } => authority::is_usable(connection, rows, *grant, *now),
        Guard::EffectUnknown { run, effect } => {
            Ok(rows.effects.get(connection, &(*run, *effect))?.is_some_and(|row| row.is_unknown()))
        }
        Guard::SessionAbsent { session, key } => {
            if rows.sessions.get(connection, session)?.is_some() {
                return Ok(false);
            }
            let Some(key) = key.as_ref().map(Redacted::expose) else { return Ok(true) };
            let sql = "SELECT 1 FROM session WHERE principal = ?1 AND key = ?2";
            is_empty(connection, sql, (session.principal.to_bytes(), key))
        }
    }
}

fn is_empty(connection: &Connection, sql: &str, names: impl Params) -> rusqlite::Result<bool> {
    Ok(connection.prepare_cached(sql)?.query_row(names, |_| Ok(())).optional()?.is_none())
}

fn last_tape_seq(connection: &Connection, rows: &mut Projections, run: RunId) -> rusqlite::Result<TapeSeq> {
    Ok(rows.runs.get(connection, &run)?.map_or(TapeSeq(0), |row| row.record.last_tape_seq))
}

/// Where one of the append's runs stands while its entries are counted off.
struct Place {
    run: RunId,
    next: TapeSeq,
    owner: (PrincipalId, SessionId),
}

fn check_tapes(
    connection: &Connection,
    rows: &mut Projections,
    append: &PreparedAppend,
) -> rusqlite::Result<Result<(), AppendError>> {
    let mut places: Vec<Place> = Vec::new();
    for entry in &append.entries {
        let (Some((run, tape_seq)), Some(session)) = (entry.run, entry.session) else { continue };
        let owner = (entry.principal, session);
        if !places.iter().any(|place| place.run == run) {
            let row = rows.runs.get(connection, &run)?;
            places.push(match row {
                Some(row) => Place {
                    run,
                    next: row.record.last_tape_seq.next(),
                    owner: (row.record.principal, row.record.session),
                },
                None => Place { run, next: TapeSeq(1), owner },
            });
        }
        let Some(place) = places.iter_mut().find(|place| place.run == run) else { continue };
        if place.next != tape_seq {
            return Ok(Err(invalid("a tape number is out of line")));
        }
        if place.owner != owner {
            return Ok(Err(invalid("a run belongs to another session")));
        }
        place.next = tape_seq.next();
    }
    Ok(Ok(()))
}

/// Returns by how many the running tools change with this append.
pub(super) fn tools_started(append: &PreparedAppend) -> (u64, u64) {
    let count = |wanted: fn(&TapeEvent) -> bool| {
        let is = |entry: &&crate::entry::PreparedEntry| matches!(&entry.event, JournalEvent::Tape(event) if wanted(event));
        append.entries.iter().filter(is).count() as u64
    };
    let started = count(|event| matches!(event, TapeEvent::Tool(ToolEvent::Started(_))));
    let ended = count(|event| {
        matches!(event, TapeEvent::Tool(ToolEvent::Finished(_) | ToolEvent::OutcomeUnknown { .. }))
    });
    (started, ended)
}

/// Returns whether an append brings a run to its end.
pub(super) fn ends_run(append: &PreparedAppend) -> bool {
    let ended = EventKind::RunFinished.number();
    append.entries.iter().any(|entry| entry.kind == ended)
}
