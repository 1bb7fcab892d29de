//! Rows of the projections.

use palyra_ports::read_records::{
    IdQuery, IdTable, OPEN_RUNS_MAX, RECORD_PAGE_ROWS_MAX, RunFilter, RunQuery, SessionFilter, SessionQuery,
    SessionTextQuery, SessionTexts,
};
use palyra_types::run::{IdempotencyDigest, RunRecord};
use palyra_types::session::{OrchestratorSessionRecord, SessionRef};
use palyra_types::{PrincipalId, Redacted, RunId, Seq};
use rusqlite::{Connection, OptionalExtension, Params, params};

use crate::fault::ReadFault;
use crate::project::{RUN_COLUMNS, RunRow, SESSION_COLUMNS, SessionRow};
use crate::sql::{count_to_sql, seq_from_sql, seq_to_sql};

/// Returns a run.
pub(crate) fn run(connection: &Connection, run: RunId) -> Result<Option<RunRecord>, ReadFault> {
    Ok(select_runs(connection, "WHERE run = ?1", [run.to_bytes()])?.pop())
}

/// Returns the run that was started, or given an input, with a key.
pub(crate) fn run_by_idempotency(
    connection: &Connection,
    principal: PrincipalId,
    digest: IdempotencyDigest,
) -> Result<Option<RunId>, ReadFault> {
    let sql = "SELECT run FROM run WHERE principal = ?1 AND idempotency = ?2
        UNION ALL SELECT run FROM input_key WHERE principal = ?1 AND idempotency = ?2";
    let mut statement = connection.prepare_cached(sql)?;
    let found = statement.query_row((principal.to_bytes(), digest.0), |row| row.get(0)).optional()?;
    Ok(found.map(RunId::from_bytes))
}

/// Returns a page of a principal's runs, newest first.
pub(crate) fn runs(connection: &Connection, query: &RunQuery) -> Result<Vec<RunRecord>, ReadFault> {
    let source = match query.only {
        RunFilter::All => "WHERE TRUE",
        RunFilter::Open => "INDEXED BY run_open WHERE state < 2",
        RunFilter::Finished => "WHERE state >= 2",
    };
    let before = query.before.map_or(i64::MAX, seq_to_sql);
    let limit = count_to_sql(query.limit.clamp(1, RECORD_PAGE_ROWS_MAX));
    let principal = query.principal.to_bytes();
    match query.session {
        Some(session) => {
            let condition = "AND principal = ?1 AND session = ?2 AND seq < ?3 ORDER BY seq DESC LIMIT ?4";
            let values = params![principal, session.to_bytes(), before, limit];
            select_runs(connection, &format!("{source} {condition}"), values)
        }
        None => {
            let condition = "AND principal = ?1 AND seq < ?2 ORDER BY seq DESC LIMIT ?3";
            select_runs(connection, &format!("{source} {condition}"), params![principal, before, limit])
        }
    }
}

/// Returns every run that is not terminal, oldest first.
pub(crate) fn open_runs(connection: &Connection) -> Result<Vec<RunRecord>, ReadFault> {
    select_runs(
        connection,
        "INDEXED BY run_open WHERE state < 2 ORDER BY seq LIMIT ?1",
        [count_to_sql(OPEN_RUNS_MAX)],
    )
}

fn select_runs(
    connection: &Connection,
    condition: &str,
    values: impl Params,
) -> Result<Vec<RunRecord>, ReadFault> {
    let mut statement = connection.prepare_cached(&format!("SELECT {RUN_COLUMNS} FROM run {condition}"))?;
    let rows = statement.query_map(values, RunRow::read)?;
    rows.map(|row| Ok(row?.record)).collect()
}

/// Returns a session.
pub(crate) fn session(
    connection: &Connection,
    session: SessionRef,
) -> Result<Option<OrchestratorSessionRecord>, ReadFault> {
    let values = (session.principal.to_bytes(), session.id.to_bytes());
    Ok(select_sessions(connection, "WHERE principal = ?1 AND session = ?2", values)?.pop())
}

/// Returns the session that a principal calls by this key.
pub(crate) fn session_by_key(
    connection: &Connection,
    principal: PrincipalId,
    key: &str,
) -> Result<Option<OrchestratorSessionRecord>, ReadFault> {
    let values = (principal.to_bytes(), key);
    Ok(select_sessions(connection, "WHERE principal = ?1 AND key = ?2", values)?.pop())
}

/// Returns a page of a principal's sessions, most recently used first.
pub(crate) fn sessions(
    connection: &Connection,
    query: &SessionQuery,
) -> Result<Vec<OrchestratorSessionRecord>, ReadFault> {
    let principal = query.principal.to_bytes();
    let limit = count_to_sql(query.limit.clamp(1, RECORD_PAGE_ROWS_MAX));
    let only = match query.only {
        SessionFilter::Current => "AND archived IS NULL",
        SessionFilter::Archived => "AND archived IS NOT NULL",
        SessionFilter::All => "",
    };
    let (updated, session) = match query.after {
        Some((updated, session)) => (updated.0, session.to_bytes()),
        None => (i64::MAX, [u8::MAX; 16]),
    };
    let search = if query.search.is_some() { SEARCHED } else { "AND ?5 IS NULL" };
    let needle = query.search.as_ref().map(|text| text.expose().to_lowercase());
    let condition = format!(
        "WHERE principal = ?1 AND (updated, session) < (?2, ?3) {only} {search}
        ORDER BY updated DESC, session DESC LIMIT ?4"
    );
    select_sessions(connection, &condition, params![principal, updated, session, limit, needle])
}

const SEARCHED: &str = "AND (holds_text(key, ?5) OR holds_text(label, ?5) OR EXISTS (
    SELECT 1 FROM run WHERE run.principal = session.principal AND run.session = session.session
        AND holds_text(run.input_preview, ?5)))";

/// Returns what sessions are about.
pub(crate) fn session_texts(
    connection: &Connection,
    query: &SessionTextQuery,
) -> Result<Vec<SessionTexts>, ReadFault> {
    let first = "SELECT input_preview FROM run WHERE principal = ?1 AND session = ?2 ORDER BY seq LIMIT 1";
    let matched = "SELECT input_preview FROM run WHERE principal = ?1 AND session = ?2
        AND holds_text(input_preview, ?3) ORDER BY seq DESC LIMIT 1";
    let (mut first, mut matched) = (connection.prepare_cached(first)?, connection.prepare_cached(matched)?);
    let needle = query.search.as_ref().map(|text| text.expose().to_lowercase());
    let texts = query.sessions.iter().take(RECORD_PAGE_ROWS_MAX).map(|session| {
        let (principal, id) = (session.principal.to_bytes(), session.id.to_bytes());
        let text = |row: &rusqlite::Row<'_>| row.get::<_, String>(0);
        let first_input = first.query_row((principal, id), text).optional()?.unwrap_or_default();
        let found = match &needle {
            Some(needle) => matched.query_row((principal, id, needle), text).optional()?.unwrap_or_default(),
            None => String::new(),
        };
        Ok(SessionTexts { first_input: Redacted::new(first_input), matched: Redacted::new(found) })
    });
    texts.collect()
}

/// Returns ids that begin or end with a text, the newest first.
pub(crate) fn ids(connection: &Connection, query: &IdQuery) -> Result<Vec<[u8; 16]>, ReadFault> {
    let (column, table) = match query.table {
        IdTable::Runs => ("run", "run"),
        IdTable::Sessions => ("session", "session"),
        IdTable::Approvals => ("approval", "approval"),
    };
    let principal = if query.principal.is_some() { "principal = ?1" } else { "?1 IS NULL" };
    let sql = format!(
        "SELECT {column} FROM {table} WHERE {principal} AND {column} < ?2 AND id_matches({column}, ?3)
        ORDER BY {column} DESC LIMIT ?4"
    );
    let values = params![
        query.principal.map(PrincipalId::to_bytes),
        query.below.unwrap_or([u8::MAX; 16]),
        query.fragment.as_str(),
        count_to_sql(query.limit.clamp(1, RECORD_PAGE_ROWS_MAX)),
    ];
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map(values, |row| row.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Returns the latest reset of a session before a place in the log.
pub(crate) fn reset_before(
    connection: &Connection,
    session: SessionRef,
    seq: Seq,
) -> Result<Option<Seq>, ReadFault> {
    let sql = "SELECT max(seq) FROM session_reset WHERE principal = ?1 AND session = ?2 AND seq < ?3";
    let values = (session.principal.to_bytes(), session.id.to_bytes(), seq_to_sql(seq));
    let found: Option<i64> = connection.prepare_cached(sql)?.query_row(values, |row| row.get(0))?;
    Ok(found.map(seq_from_sql))
}

fn select_sessions(
    connection: &Connection,
    condition: &str,
    values: impl Params,
) -> Result<Vec<OrchestratorSessionRecord>, ReadFault> {
    let mut statement =
        connection.prepare_cached(&format!("SELECT {SESSION_COLUMNS} FROM session {condition}"))?;
    let rows = statement.query_map(values, SessionRow::read)?;
    rows.map(|row| Ok(row?.record)).collect()
}
