//! Sessions: conversations with their agent, names and latest run.
//!
//! Owns the table `session`, keyed by the seq of the entry that opened it; unique per (principal, id) and,
//! where it has one, per (principal, key).

use palyra_types::event::{ModelEvent, RunEvent, TapeEvent, ToolEvent};
use palyra_types::session::{BranchPoint, OrchestratorSessionRecord, SessionRef};
use palyra_types::{AgentId, PrincipalId, Redacted, RunId, Seq, SessionId, TapeSeq, Timestamp};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::folded::Folded;
use super::rows::{Family, Held};
use crate::sql::{seq_from_sql, seq_to_sql, u64_from_sql, u64_to_sql};

/// Columns that [`SessionRow::read`] takes, in its order.
pub(crate) const SESSION_COLUMNS: &str =
    "seq, principal, session, agent, key, label, created, updated, runs, last_run, reset_at, archived,
    branch_session, branch_run, branch_run_seq, branch_tape_seq, branch_since, label_seq";

/// A row of `session`.
#[derive(Debug, Clone)]
pub(crate) struct SessionRow {
    pub(crate) record: OrchestratorSessionRecord,
    opened_seq: Seq,
    label_seq: Seq,
}

/// The table `session`.
pub(crate) struct Sessions;

impl Family for Sessions {
    type Key = SessionRef;
    type Row = SessionRow;

    fn load(connection: &Connection, key: &SessionRef) -> rusqlite::Result<Option<SessionRow>> {
        let sql = format!("SELECT {SESSION_COLUMNS} FROM session WHERE principal = ?1 AND session = ?2");
        let names = (key.principal.to_bytes(), key.id.to_bytes());
        connection.prepare_cached(&sql)?.query_row(names, SessionRow::read).optional()
    }

    fn store(connection: &Connection, row: &SessionRow) -> rusqlite::Result<()> {
        let record = &row.record;
        let branch = record.branched_from.as_ref();
        let mut statement = connection.prepare_cached(STORE)?;
        statement
            .execute(params![
                seq_to_sql(row.opened_seq),
                record.session.principal.to_bytes(),
                record.session.id.to_bytes(),
                record.agent.to_bytes(),
                record.key.as_ref().map(Redacted::expose),
                record.label.as_ref().map(Redacted::expose),
                record.created.0,
                record.updated.0,
                u64_to_sql(record.runs),
                record.last_run.map(RunId::to_bytes),
                record.reset_at.map(seq_to_sql),
                record.archived.map(|time| time.0),
                branch.map(|at| at.session.to_bytes()),
                branch.map(|at| at.run.to_bytes()),
                branch.map(|at| seq_to_sql(at.run_first_seq)),
                branch.map(|at| at.tape_seq.0),
                branch.and_then(|at| at.since).map(seq_to_sql),
                seq_to_sql(row.label_seq),
            ])
            .map(drop)
    }
}

const STORE: &str = "INSERT INTO session(seq, principal, session, agent, key, label, created, updated, runs,
    last_run, reset_at, archived, branch_session, branch_run, branch_run_seq, branch_tape_seq, branch_since,
    label_seq)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)
ON CONFLICT(seq) DO UPDATE SET label = excluded.label, label_seq = excluded.label_seq,
    updated = excluded.updated, runs = excluded.runs, last_run = excluded.last_run,
    reset_at = excluded.reset_at, archived = excluded.archived";

/// Folds the beginning of a session.
pub(super) fn opened(
    sessions: &mut Held<Sessions>,
    connection: &Connection,
    entry: &Folded<'_>,
    names: (SessionId, AgentId),
    texts: (Option<&Redacted<String>>, Option<&Redacted<String>>),
    branched_from: Option<BranchPoint>,
) -> rusqlite::Result<()> {
    let session = SessionRef { principal: entry.principal, id: names.0 };
    if sessions.get(connection, &session)?.is_some() {
        return Ok(());
    }
    let record = OrchestratorSessionRecord {
        session,
        agent: names.1,
        key: texts.0.cloned(),
        label: texts.1.cloned(),
        created: entry.time,
        updated: entry.time,
        runs: 0,
        last_run: None,
        reset_at: None,
        branched_from,
        archived: None,
    };
    sessions.put(session, SessionRow { record, opened_seq: entry.seq, label_seq: entry.seq });
    Ok(())
}

/// Folds another title.
pub(super) fn renamed(
    sessions: &mut Held<Sessions>,
    connection: &Connection,
    entry: &Folded<'_>,
    session: SessionId,
    label: Option<&Redacted<String>>,
) -> rusqlite::Result<()> {
    let session = SessionRef { principal: entry.principal, id: session };
    sessions.change(connection, &session, |row| {
        row.record.label = label.cloned();
        row.label_seq = entry.seq;
        row.record.updated = entry.time;
    })
}

/// Folds that it is put away (`Some`) or taken up again.
pub(super) fn archived(
    sessions: &mut Held<Sessions>,
    connection: &Connection,
    entry: &Folded<'_>,
    session: SessionId,
    since: Option<Timestamp>,
) -> rusqlite::Result<()> {
    let session = SessionRef { principal: entry.principal, id: session };
    sessions.change(connection, &session, |row| {
        row.record.archived = since;
        row.record.updated = entry.time;
    })
}

/// Folds a reset.
pub(super) fn reset(
    sessions: &mut Held<Sessions>,
    connection: &Connection,
    entry: &Folded<'_>,
    session: SessionId,
) -> rusqlite::Result<()> {
    let session = SessionRef { principal: entry.principal, id: session };
    sessions.change(connection, &session, |row| {
        row.record.reset_at = Some(entry.seq);
        row.record.updated = entry.time;
    })
}

/// Folds a tape entry of one of its runs. The words of a model that is still speaking leave it as it is, as
/// does what a tool prints while it runs.
pub(super) fn touched(
    sessions: &mut Held<Sessions>,
    connection: &Connection,
    entry: &Folded<'_>,
    event: &TapeEvent,
) -> rusqlite::Result<()> {
    let (Some((run, _)), Some(session)) = (entry.run, entry.session) else { return Ok(()) };
    let speaks = matches!(
        event,
        TapeEvent::Model(ModelEvent::Text { .. } | ModelEvent::Reasoning { .. })
            | TapeEvent::Tool(ToolEvent::Output(_))
    );
    if speaks {
        return Ok(());
    }
    let session = SessionRef { principal: entry.principal, id: session };
    sessions.change(connection, &session, |row| {
        row.record.updated = entry.time;
        if matches!(event, TapeEvent::Run(RunEvent::Started(_))) {
            row.record.runs += 1;
            row.record.last_run = Some(run);
        }
    })
}

impl SessionRow {
    /// Reads a row of [`SESSION_COLUMNS`].
    pub(crate) fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            record: OrchestratorSessionRecord {
                session: SessionRef {
                    principal: PrincipalId::from_bytes(row.get(1)?),
                    id: SessionId::from_bytes(row.get(2)?),
                },
                agent: AgentId::from_bytes(row.get(3)?),
                key: row.get::<_, Option<String>>(4)?.map(Redacted::new),
                label: row.get::<_, Option<String>>(5)?.map(Redacted::new),
                created: Timestamp(row.get(6)?),
                updated: Timestamp(row.get(7)?),
                runs: u64_from_sql(row.get(8)?),
                last_run: row.get::<_, Option<[u8; 16]>>(9)?.map(RunId::from_bytes),
                reset_at: row.get::<_, Option<i64>>(10)?.map(seq_from_sql),
                branched_from: branch_from_row(row)?,
                archived: row.get::<_, Option<i64>>(11)?.map(Timestamp),
            },
            opened_seq: seq_from_sql(row.get(0)?),
            label_seq: seq_from_sql(row.get(17)?),
        })
    }
}

fn branch_from_row(row: &Row<'_>) -> rusqlite::Result<Option<BranchPoint>> {
    let Some(session) = row.get::<_, Option<[u8; 16]>>(12)? else { return Ok(None) };
    Ok(Some(BranchPoint {
        session: SessionId::from_bytes(session),
        run: RunId::from_bytes(row.get(13)?),
        run_first_seq: seq_from_sql(row.get(14)?),
        tape_seq: TapeSeq(row.get(15)?),
        since: row.get::<_, Option<i64>>(16)?.map(seq_from_sql),
    }))
}
