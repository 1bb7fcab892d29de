//! Which entries belong to a subject and still have content.

use palyra_ports::{ErasurePlan, ErasureSubject};
use palyra_types::proof::SeqRange;
use palyra_types::session::SessionRef;
use palyra_types::{PrincipalId, RunId, Seq};
use rusqlite::{Connection, Params};

use crate::rows::{SqliteRows, sql_error};
use crate::sql::{seq_from_sql, seq_to_sql};
use palyra_journal_core::families::{compactions, effects, entries_about_run, learning_candidates, runs};
use palyra_journal_core::seq_ranges::{SeqRanges, joined};
use palyra_types::event::kind::NO_PAYLOAD_BELOW;

/// Returns what belongs to a subject.
pub(crate) fn find(connection: &Connection, subject: ErasureSubject) -> rusqlite::Result<ErasurePlan> {
    let snapshot = connection.unchecked_transaction()?;
    let mut gathered = SeqRanges::default();
    match subject {
        ErasureSubject::Run(run) => of_run(&snapshot, run, &mut gathered)?,
        ErasureSubject::Session(session) => of_session(&snapshot, session, &mut gathered)?,
        ErasureSubject::Principal(principal) => of_principal(&snapshot, principal, &mut gathered)?,
        ErasureSubject::Range(range) => of_range(&snapshot, range, &mut gathered)?,
    }
    plan_of(&snapshot, &gathered.done().0)
}

/// Returns what of these entries still has content, and the open runs among them.
pub(crate) fn plan_of(connection: &Connection, ranges: &[SeqRange]) -> rusqlite::Result<ErasurePlan> {
    let mut gathered = SeqRanges::default();
    let mut seqs = connection.prepare("SELECT seq FROM payload WHERE seq BETWEEN ?1 AND ?2 ORDER BY seq")?;
    for range in ranges {
        let mut rows = seqs.query(bounds(*range))?;
        while let Some(row) = rows.next()? {
            gathered.take(seq_from_sql(row.get(0)?));
        }
    }
    let (ranges, entries) = gathered.done();
    let open_runs = open_runs(connection, &ranges)?;
    Ok(ErasurePlan { ranges: bridged(connection, ranges)?, entries, open_runs })
}

/// Returns a range as two bound values; seqs beyond what SQLite counts do not exist.
pub(crate) fn bounds(range: SeqRange) -> (i64, i64) {
    let bound = |seq: Seq| i64::try_from(seq.0).unwrap_or(i64::MAX);
    (bound(range.first), bound(range.last))
}

/// Joins ranges over entries between them that have no content anyway, so that fewer are recorded.
fn bridged(connection: &Connection, ranges: Vec<SeqRange>) -> rusqlite::Result<Vec<SeqRange>> {
    let sql = "SELECT NOT EXISTS (SELECT 1 FROM entry e WHERE e.seq > ?1 AND e.seq < ?2
        AND (e.kind < ?3 OR EXISTS (SELECT 1 FROM payload p WHERE p.seq = e.seq)))";
    let mut nothing_between = connection.prepare(sql)?;
    let mut bridged: Vec<SeqRange> = Vec::with_capacity(ranges.len());
    for range in ranges {
        if let Some(last) = bridged.last_mut() {
            let between = (seq_to_sql(last.last), seq_to_sql(range.first), NO_PAYLOAD_BELOW);
            if nothing_between.query_row(between, |row| row.get(0))? {
                last.last = range.last;
                continue;
            }
        }
        bridged.push(range);
    }
    Ok(joined(bridged))
}

fn open_runs(connection: &Connection, ranges: &[SeqRange]) -> rusqlite::Result<Vec<RunId>> {
    let open = runs::open(&mut SqliteRows::new(connection)).map_err(sql_error)?;
    let mut concerned = Vec::new();
    for run in open.into_iter().map(|record| record.run) {
        let mut own = SeqRanges::default();
        take(
            connection,
            "SELECT seq FROM entry WHERE run_id = ?1 ORDER BY tape_seq",
            [run.to_bytes()],
            &mut own,
        )?;
        let touches = |own: &SeqRange| {
            let at = ranges.partition_point(|range| range.last < own.first);
            ranges.get(at).is_some_and(|range| range.first <= own.last)
        };
        if own.done().0.iter().any(touches) {
            concerned.push(run);
        }
    }
    Ok(concerned)
}

fn take(
    connection: &Connection,
    sql: &str,
    values: impl Params,
    into: &mut SeqRanges,
) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(values)?;
    while let Some(row) = rows.next()? {
        into.take(seq_from_sql(row.get(0)?));
    }
    Ok(())
}

/// Takes a range, the compactions of the runs whose content is in it, and what was learned from them.
fn of_range(connection: &Connection, range: SeqRange, into: &mut SeqRanges) -> rusqlite::Result<()> {
    take(
        connection,
        "SELECT seq FROM payload WHERE seq BETWEEN ?1 AND ?2 ORDER BY seq",
        bounds(range),
        into,
    )?;
    let sql = "SELECT DISTINCT run_id FROM entry WHERE run_id IS NOT NULL AND seq BETWEEN ?1 AND ?2";
    let mut statement = connection.prepare(sql)?;
    let runs = statement.query_map(bounds(range), |row| row.get::<_, [u8; 16]>(0))?;
    let runs = runs.collect::<rusqlite::Result<Vec<_>>>()?;
    let rows = &mut SqliteRows::new(connection);
    for run in runs {
        let Some(record) = runs::record(rows, RunId::from_bytes(run)).map_err(sql_error)? else { continue };
        let session = SessionRef { principal: record.principal, id: record.session };
        let covering = compactions::covering(rows, session, record.first_seq).map_err(sql_error)?;
        let learned = learning_candidates::citing(rows, record.principal, record.run).map_err(sql_error)?;
        covering.into_iter().chain(learned).for_each(|seq| into.take(seq));
    }
    Ok(())
}

fn of_run(connection: &Connection, run: RunId, into: &mut SeqRanges) -> rusqlite::Result<()> {
    let sql = "SELECT seq FROM entry WHERE run_id = ?1 ORDER BY tape_seq";
    take(connection, sql, [run.to_bytes()], into)?;
    let rows = &mut SqliteRows::new(connection);
    let settled = effects::settled_of_run(rows, run).map_err(sql_error)?;
    let about = entries_about_run(rows, run).map_err(sql_error)?;
    settled.into_iter().chain(about).for_each(|seq| into.take(seq));
    Ok(())
}

// Where principal and session stand in an envelope, counted from 1: docs/journal-format.md, section 2. Entries
// outside tapes are few, and found by the index over (run_id, tape_seq).
const OF_SESSION: &str = "SELECT seq FROM entry WHERE run_id IS NULL AND substr(envelope, 41, 16) = ?1
    AND substr(envelope, 57, 16) = ?2 ORDER BY seq";
const OF_PRINCIPAL: &str =
    "SELECT seq FROM entry WHERE run_id IS NULL AND substr(envelope, 41, 16) = ?1 ORDER BY seq";

fn of_session(connection: &Connection, session: SessionRef, into: &mut SeqRanges) -> rusqlite::Result<()> {
    let names = (session.principal.to_bytes(), session.id.to_bytes());
    take(connection, OF_SESSION, names, into)?;
    let runs = runs::of_session(&mut SqliteRows::new(connection), session).map_err(sql_error)?;
    runs.into_iter().try_for_each(|(record, _)| of_run(connection, record.run, into))
}

fn of_principal(
    connection: &Connection,
    principal: PrincipalId,
    into: &mut SeqRanges,
) -> rusqlite::Result<()> {
    take(connection, OF_PRINCIPAL, [principal.to_bytes()], into)?;
    let runs = runs::of_principal(&mut SqliteRows::new(connection), principal).map_err(sql_error)?;
    runs.into_iter().try_for_each(|run| of_run(connection, run, into))
}
