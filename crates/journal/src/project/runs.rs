//! Runs: where each one stands, as lists show it.
//!
//! Owns the table `run`, keyed by the seq of the run's first entry. The run machine, not this row, decides
//! what a run does next.

use palyra_types::event::{ModelEvent, RunEvent, RunFinished, RunStarted, TapeEvent, ToolEvent};
use palyra_types::model::{TokenUsage, UsageSource};
use palyra_types::run::{
    IdempotencyDigest, InputDelivery, RunLifecycleState, RunPhase, RunRecord, TerminationReason, WaitReason,
};
use palyra_types::{AgentId, ErrorCode, PrincipalId, Redacted, RunId, Seq, SessionId, TapeSeq, Timestamp};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::folded::Folded;
use super::phases::UnderWay;
use super::rows::{Family, Held};
use crate::sql::{count_to_sql, seq_from_sql, seq_to_sql, u64_from_sql, u64_to_sql};
use palyra_types::event::kind::is_critical;

/// Characters of the input that a list shows.
const INPUT_PREVIEW_CHARS_MAX: usize = 120;

/// Columns that [`RunRow::read`] takes, in its order.
pub(crate) const RUN_COLUMNS: &str = "seq, run, principal, session, agent, state, wait, reason, error,
    last_tape_seq, last_seq, created, updated, turns, tool_calls, input_tokens, cached_input_tokens,
    output_tokens, reasoning_tokens, usage_source, idempotency, input_preview, delivery, running, questions,
    unknown, asked, held, unprepared";

/// A row of `run`.
#[derive(Debug, Clone)]
pub(crate) struct RunRow {
    pub(crate) record: RunRecord,
    pub(crate) last_seq: Seq,
    idempotency: Option<IdempotencyDigest>,
    under_way: UnderWay,
    /// The state that the table shows; `None` before the row is there.
    stored_state: Option<RunLifecycleState>,
}

/// The table `run`.
pub(crate) struct Runs;

impl Family for Runs {
    type Key = RunId;
    type Row = RunRow;

    fn load(connection: &Connection, key: &RunId) -> rusqlite::Result<Option<RunRow>> {
        let sql = format!("SELECT {RUN_COLUMNS} FROM run WHERE run = ?1");
        connection.prepare_cached(&sql)?.query_row([key.to_bytes()], RunRow::read).optional()
    }

    fn store(connection: &Connection, row: &RunRow) -> rusqlite::Result<()> {
        match row.stored_state {
            None => insert(connection, row),
            Some(state) if state == row.record.state => update(connection, row, MOVE_ON),
            Some(_) => update(connection, row, UPDATE),
        }
    }

    fn stored(row: &mut RunRow) {
        row.stored_state = Some(row.record.state);
    }
}

const INSERT: &str = "INSERT INTO run(seq, run, principal, session, agent, state, wait, reason, error,
    last_tape_seq, last_seq, created, updated, turns, tool_calls, input_tokens, cached_input_tokens,
    output_tokens, reasoning_tokens, usage_source, idempotency, input_preview, delivery, running, questions,
    unknown, asked, held, unprepared)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22,
    ?23, ?24, ?25, ?26, ?27, ?28, ?29)";

const UPDATE: &str = "UPDATE run SET state = ?12, reason = ?13, error = ?14, wait = ?2, last_tape_seq = ?3,
    last_seq = ?4, updated = ?5, turns = ?6, tool_calls = ?7, input_tokens = ?8, cached_input_tokens = ?9,
    output_tokens = ?10, reasoning_tokens = ?11, usage_source = ?15, running = ?16, questions = ?17,
    unknown = ?18, asked = ?19, held = ?20, unprepared = ?21
WHERE seq = ?1";

/// As [`UPDATE`] for a run whose state stays: no index is touched.
const MOVE_ON: &str = "UPDATE run SET reason = ?13, error = ?14, wait = ?2, last_tape_seq = ?3,
    last_seq = ?4, updated = ?5, turns = ?6, tool_calls = ?7, input_tokens = ?8, cached_input_tokens = ?9,
    output_tokens = ?10, reasoning_tokens = ?11, usage_source = ?15, running = ?16, questions = ?17,
    unknown = ?18, asked = ?19, held = ?20, unprepared = ?21
WHERE seq = ?1 AND state = ?12";

fn insert(connection: &Connection, row: &RunRow) -> rusqlite::Result<()> {
    let record = &row.record;
    let usage = &record.usage;
    let mut statement = connection.prepare_cached(INSERT)?;
    statement
        .execute(params![
            seq_to_sql(record.first_seq),
            record.run.to_bytes(),
            record.principal.to_bytes(),
            record.session.to_bytes(),
            record.agent.to_bytes(),
            stored_state(record.state),
            stored_wait(record.phase),
            stored_reason(record.reason),
            record.error.map_or(0, ErrorCode::number),
            record.last_tape_seq.0,
            seq_to_sql(row.last_seq),
            record.created.0,
            record.updated.0,
            record.turns,
            record.tool_calls,
            u64_to_sql(usage.input_tokens),
            u64_to_sql(usage.cached_input_tokens),
            u64_to_sql(usage.output_tokens),
            u64_to_sql(usage.reasoning_tokens),
            stored_source(usage.source),
            row.idempotency.map(|digest| digest.0),
            record.input_preview.expose(),
            stored_delivery(record.delivery),
            row.under_way.running,
            row.under_way.questions,
            row.under_way.unknown,
            row.under_way.asked,
            row.under_way.held,
            row.under_way.unprepared,
        ])
        .map(drop)
}

/// What of a run never changes stays out of it.
fn update(connection: &Connection, row: &RunRow, sql: &str) -> rusqlite::Result<()> {
    let record = &row.record;
    let usage = &record.usage;
    let mut statement = connection.prepare_cached(sql)?;
    statement
        .execute(params![
            seq_to_sql(record.first_seq),
            stored_wait(record.phase),
            record.last_tape_seq.0,
            seq_to_sql(row.last_seq),
            record.updated.0,
            record.turns,
            record.tool_calls,
            u64_to_sql(usage.input_tokens),
            u64_to_sql(usage.cached_input_tokens),
            u64_to_sql(usage.output_tokens),
            u64_to_sql(usage.reasoning_tokens),
            stored_state(record.state),
            stored_reason(record.reason),
            record.error.map_or(0, ErrorCode::number),
            stored_source(usage.source),
            row.under_way.running,
            row.under_way.questions,
            row.under_way.unknown,
            row.under_way.asked,
            row.under_way.held,
            row.under_way.unprepared,
        ])
        .map(drop)
}

/// Folds one tape entry, which changes what is under way.
pub(super) fn fold(
    runs: &mut Held<Runs>,
    connection: &Connection,
    entry: &Folded<'_>,
    (event, change): (&TapeEvent, UnderWay),
) -> rusqlite::Result<()> {
    let (Some((run, tape_seq)), Some(session)) = (entry.run, entry.session) else { return Ok(()) };
    if tape_seq == TapeSeq(1) {
        let started = match event {
            TapeEvent::Run(RunEvent::Started(started)) => Some(started),
            _ => None,
        };
        runs.put(run, first_row(entry, (run, session), started));
    }
    runs.change(connection, &run, |row| {
        row.record.last_tape_seq = tape_seq;
        row.record.updated = entry.time;
        row.last_seq = entry.seq;
        row.under_way = row.under_way.plus(change);
        row.under_way.held = held(row.under_way.held, event);
        apply(&mut row.record, row.under_way, event);
        row.stand();
    })
}

/// Folds a change of what a run has under way.
pub(super) fn changed(
    runs: &mut Held<Runs>,
    connection: &Connection,
    run: RunId,
    change: UnderWay,
) -> rusqlite::Result<()> {
    runs.change(connection, &run, |row| {
        row.under_way = row.under_way.plus(change);
        row.stand();
    })
}

fn first_row(entry: &Folded<'_>, place: (RunId, SessionId), started: Option<&RunStarted>) -> RunRow {
    let preview = |started: &RunStarted| -> String {
        started.input.text.expose().chars().take(INPUT_PREVIEW_CHARS_MAX).collect()
    };
    RunRow {
        record: RunRecord {
            run: place.0,
            session: place.1,
            principal: entry.principal,
            agent: started.map_or(AgentId::NIL, |started| started.agent),
            delivery: started.map_or(InputDelivery::Queue, |started| started.delivery),
            state: RunLifecycleState::Pending,
            phase: RunPhase::Queued,
            reason: None,
            error: None,
            last_tape_seq: TapeSeq(1),
            first_seq: entry.seq,
            created: entry.time,
            updated: entry.time,
            turns: 0,
            tool_calls: 0,
            unprepared: 0,
            usage: TokenUsage::default(),
            input_preview: Redacted::new(started.map_or_else(String::new, preview)),
        },
        last_seq: entry.seq,
        idempotency: started.and_then(|started| started.idempotency),
        under_way: UnderWay::default(),
        stored_state: None,
    }
}

/// Terminal states are final; a run that has not begun has nothing to wait for.
fn apply(record: &mut RunRecord, under_way: UnderWay, event: &TapeEvent) {
    if record.state.is_terminal() {
        return;
    }
    match event {
        TapeEvent::Model(ModelEvent::Requested(requested)) => {
            record.state = RunLifecycleState::InProgress;
            record.phase = RunPhase::Running;
            record.turns = record.turns.max(requested.turn);
        }
        TapeEvent::Model(ModelEvent::Message(message)) => {
            let before = record.usage;
            let first = before == TokenUsage::default();
            record.usage = if first { message.usage } else { before.plus(message.usage) };
        }
        TapeEvent::Tool(ToolEvent::Proposed(_)) => record.tool_calls += 1,
        TapeEvent::Run(RunEvent::Held { .. }) => {
            record.state = RunLifecycleState::InProgress;
            record.phase = RunPhase::Waiting(WaitReason::OutcomeUnknown);
        }
        TapeEvent::Run(RunEvent::LoopDetected { .. }) => {
            record.phase = RunPhase::Waiting(WaitReason::LoopCheck);
        }
        TapeEvent::Tool(ToolEvent::OutcomeUnknown { .. }) => {
            record.phase = RunPhase::Waiting(WaitReason::OutcomeUnknown);
        }
        TapeEvent::Run(RunEvent::InputReceived { .. }) => record.phase = running(record.state),
        TapeEvent::Tool(ToolEvent::EffectResolved { .. }) => {
            let waits = record.phase == RunPhase::Waiting(WaitReason::OutcomeUnknown);
            if waits && under_way.unknown <= 0 && under_way.held == 0 {
                record.phase = running(record.state);
            }
        }
        TapeEvent::Run(RunEvent::Finished(finished)) => finish(record, finished),
        TapeEvent::Unknown { kind } => {
            if is_critical(*kind) {
                record.phase = RunPhase::Waiting(WaitReason::UnknownKind);
            }
        }
        TapeEvent::Run(RunEvent::Started(_) | RunEvent::CancelRequested { .. })
        | TapeEvent::Model(_)
        | TapeEvent::Tool(_)
        | TapeEvent::Approval(_) => {}
    }
}

/// Returns 1 for a run that is held, given whether it was.
fn held(before: i64, event: &TapeEvent) -> i64 {
    match event {
        TapeEvent::Run(RunEvent::Held { .. }) => 1,
        TapeEvent::Run(RunEvent::InputReceived { .. }) => 0,
        _ => before,
    }
}

fn running(state: RunLifecycleState) -> RunPhase {
    if state == RunLifecycleState::Pending { RunPhase::Queued } else { RunPhase::Running }
}

fn finish(record: &mut RunRecord, finished: &RunFinished) {
    record.state = finished.state;
    record.phase = RunPhase::Finished;
    record.reason = Some(finished.reason);
    record.error = finished.error;
    record.turns = finished.turns;
    record.tool_calls = finished.tool_calls;
    record.usage = finished.usage;
}

impl RunRow {
    /// Says what the run waits for, from what it has under way.
    fn stand(&mut self) {
        self.record.phase = self.under_way.phase(self.record.state, self.record.phase);
        self.record.unprepared = self.under_way.shown_unprepared();
    }

    /// Reads a row of [`RUN_COLUMNS`].
    pub(crate) fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let state = state_from_stored(row.get(5)?);
        let idempotency: Option<[u8; 32]> = row.get(20)?;
        let error: u16 = row.get(8)?;
        let under_way = UnderWay {
            running: row.get(23)?,
            questions: row.get(24)?,
            unknown: row.get(25)?,
            asked: row.get(26)?,
            held: row.get(27)?,
            unprepared: row.get(28)?,
        };
        Ok(Self {
            record: RunRecord {
                run: RunId::from_bytes(row.get(1)?),
                session: SessionId::from_bytes(row.get(3)?),
                principal: PrincipalId::from_bytes(row.get(2)?),
                agent: AgentId::from_bytes(row.get(4)?),
                delivery: delivery_from_stored(row.get(22)?),
                state,
                phase: phase_from_stored(state, row.get(6)?),
                reason: reason_from_stored(row.get(7)?),
                error: ErrorCode::ALL.iter().copied().find(|code| code.number() == error),
                last_tape_seq: TapeSeq(row.get(9)?),
                first_seq: seq_from_sql(row.get(0)?),
                created: Timestamp(row.get(11)?),
                updated: Timestamp(row.get(12)?),
                turns: row.get(13)?,
                tool_calls: row.get(14)?,
                unprepared: under_way.shown_unprepared(),
                usage: TokenUsage {
                    input_tokens: u64_from_sql(row.get(15)?),
                    cached_input_tokens: u64_from_sql(row.get(16)?),
                    output_tokens: u64_from_sql(row.get(17)?),
                    reasoning_tokens: u64_from_sql(row.get(18)?),
                    source: if row.get::<_, i64>(19)? == 1 {
                        UsageSource::Reported
                    } else {
                        UsageSource::Estimated
                    },
                },
                input_preview: row.get::<_, String>(21)?.into(),
            },
            last_seq: seq_from_sql(row.get(10)?),
            idempotency: idempotency.map(IdempotencyDigest),
            under_way,
            stored_state: Some(state),
        })
    }
}

/// Returns the number of a state in the column `state`; below 2 the run is open.
fn stored_state(state: RunLifecycleState) -> i64 {
    match state {
        RunLifecycleState::Pending => 0,
        RunLifecycleState::InProgress => 1,
        RunLifecycleState::Done => 2,
        RunLifecycleState::Cancelled => 3,
        RunLifecycleState::Failed => 4,
    }
}

fn state_from_stored(number: i64) -> RunLifecycleState {
    match number {
        0 => RunLifecycleState::Pending,
        1 => RunLifecycleState::InProgress,
        2 => RunLifecycleState::Done,
        3 => RunLifecycleState::Cancelled,
        _ => RunLifecycleState::Failed,
    }
}

fn stored_wait(phase: RunPhase) -> i64 {
    match phase {
        RunPhase::Queued | RunPhase::Running | RunPhase::Finished => 0,
        RunPhase::Waiting(WaitReason::LoopCheck) => 1,
        RunPhase::Waiting(WaitReason::OutcomeUnknown) => 2,
        RunPhase::Waiting(WaitReason::UnknownKind) => 3,
        RunPhase::Waiting(WaitReason::Approval) => 4,
        RunPhase::Waiting(WaitReason::Question) => 5,
    }
}

fn phase_from_stored(state: RunLifecycleState, wait: i64) -> RunPhase {
    match (state.is_terminal(), wait, state) {
        (true, ..) => RunPhase::Finished,
        (false, 1, _) => RunPhase::Waiting(WaitReason::LoopCheck),
        (false, 2, _) => RunPhase::Waiting(WaitReason::OutcomeUnknown),
        (false, 3, _) => RunPhase::Waiting(WaitReason::UnknownKind),
        (false, 4, _) => RunPhase::Waiting(WaitReason::Approval),
        (false, 5, _) => RunPhase::Waiting(WaitReason::Question),
        (false, _, RunLifecycleState::Pending) => RunPhase::Queued,
        (false, ..) => RunPhase::Running,
    }
}

const REASONS: [TerminationReason; 11] = [
    TerminationReason::FinalAnswer,
    TerminationReason::Cancelled,
    TerminationReason::TimeLimit,
    TerminationReason::TurnLimit,
    TerminationReason::ToolLimit,
    TerminationReason::ProviderError,
    TerminationReason::ContextExhausted,
    TerminationReason::ContentPolicy,
    TerminationReason::LoopStopped,
    TerminationReason::InternalError,
    TerminationReason::Interrupted,
];

fn stored_delivery(delivery: InputDelivery) -> i64 {
    match delivery {
        InputDelivery::Queue => 0,
        InputDelivery::Steer => 1,
        InputDelivery::Interrupt => 2,
    }
}

fn delivery_from_stored(number: i64) -> InputDelivery {
    match number {
        1 => InputDelivery::Steer,
        2 => InputDelivery::Interrupt,
        _ => InputDelivery::Queue,
    }
}

fn stored_reason(reason: Option<TerminationReason>) -> i64 {
    let at = reason.and_then(|reason| REASONS.iter().position(|known| *known == reason));
    at.map_or(0, |at| count_to_sql(at + 1))
}

fn reason_from_stored(number: i64) -> Option<TerminationReason> {
    let at = usize::try_from(number).ok()?.checked_sub(1)?;
    REASONS.get(at).copied()
}

fn stored_source(source: UsageSource) -> i64 {
    match source {
        UsageSource::Reported => 1,
        UsageSource::Estimated => 2,
    }
}
