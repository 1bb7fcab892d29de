//! The conditions of an append, looked up inside the writer's transaction.

use palyra_journal_core::families::runs::{self, RunRow};
use palyra_journal_core::families::{FamilySet, effects, input_keys, sessions};
use palyra_journal_core::family::PassedChanges;
use palyra_ports::{AppendError, Guard};
use palyra_types::event::{TapeEvent, ToolEvent};
use palyra_types::{PrincipalId, Redacted, RunId, SessionId, TapeSeq, event::JournalEvent};
use rusqlite::Connection;

use super::authority;
use super::prepare::{PreparedAppend, invalid};
use crate::rows::{SqliteRows, sql_error};
use palyra_types::event::kind::EventKind;

/// Refuses an append whose guards do not hold or whose tape numbers are out of line.
pub(super) fn check(
    connection: &Connection,
    families: &mut FamilySet,
    append: &PreparedAppend,
) -> rusqlite::Result<Result<(), AppendError>> {
    for (index, guard) in append.guards.iter().enumerate() {
        if !holds(connection, families, guard)? {
            return Ok(Err(AppendError::GuardFailed { index }));
        }
    }
    check_tapes(connection, families, append)
}

fn holds(connection: &Connection, families: &mut FamilySet, guard: &Guard) -> rusqlite::Result<bool> {
    let passed = &mut PassedChanges::default();
    match guard {
        Guard::RunAt { run, tape_seq } => Ok(last_tape_seq(connection, families, *run)? == *tape_seq),
        Guard::IdempotencyUnseen { principal, digest } => {
            let store = &mut SqliteRows::new(connection);
            let started = runs::first_run_of_key(store, *principal, *digest).map_err(sql_error)?;
            let joined = input_keys::run_of(store, *principal, *digest).map_err(sql_error)?;
            Ok(started.is_none() && joined.is_none())
        }
        Guard::NoOtherRunInProgress { session, run } => {
            let store = &mut SqliteRows::new(connection);
            Ok(!runs::has_other_in_progress(store, *session, *run).map_err(sql_error)?)
        }
        Guard::ApprovalPending { approval } => authority::is_pending(connection, families, *approval),
        Guard::GrantUsable { grant, now } => authority::is_usable(connection, families, *grant, *now),
        Guard::EffectUnknown { run, effect } => {
            let store = &mut SqliteRows::new(connection);
            effects::is_unknown(&mut families.effects.over(store, passed), *run, *effect).map_err(sql_error)
        }
        Guard::SessionAbsent { session, key } => {
            let (store, key) = (&mut SqliteRows::new(connection), key.as_ref().map(Redacted::expose));
            let key = key.map(String::as_str);
            sessions::is_absent(&mut families.sessions.over(store, passed), *session, key).map_err(sql_error)
        }
    }
}

fn run_row(
    connection: &Connection,
    families: &mut FamilySet,
    run: RunId,
) -> rusqlite::Result<Option<RunRow>> {
    let store = &mut SqliteRows::new(connection);
    runs::cached_row(&mut families.runs.over(store, &mut PassedChanges::default()), run).map_err(sql_error)
}

fn last_tape_seq(connection: &Connection, families: &mut FamilySet, run: RunId) -> rusqlite::Result<TapeSeq> {
    Ok(run_row(connection, families, run)?.map_or(TapeSeq(0), |row| row.record.last_tape_seq))
}

/// Where one of the append's runs stands while its entries are counted off.
struct TapePlace {
    run: RunId,
    next: TapeSeq,
    owner: (PrincipalId, SessionId),
}

fn check_tapes(
    connection: &Connection,
    families: &mut FamilySet,
    append: &PreparedAppend,
) -> rusqlite::Result<Result<(), AppendError>> {
    let mut places: Vec<TapePlace> = Vec::new();
    for entry in &append.entries {
        let (Some((run, tape_seq)), Some(session)) = (entry.run, entry.session) else { continue };
        let owner = (entry.principal, session);
        if !places.iter().any(|place| place.run == run) {
            let row = run_row(connection, families, run)?;
            places.push(match row {
                Some(row) => TapePlace {
                    run,
                    next: row.record.last_tape_seq.next(),
                    owner: (row.record.principal, row.record.session),
                },
                None => TapePlace { run, next: TapeSeq(1), owner },
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
