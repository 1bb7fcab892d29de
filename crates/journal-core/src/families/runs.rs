//! Runs: the state of each, as lists show it. The run machine, not this row, decides what a run does next.
//!
//! What a run has under way is passed by the effects and approvals of the same entry.

mod queries;
mod stored_numbers;
mod usage;
mod usage_queries;

use palyra_types::event::kind::is_critical;
use palyra_types::event::{
    JournalEvent, ModelEvent, RunEvent, RunFinished, RunStarted, TapeEvent, ToolEvent,
};
use palyra_types::model::TokenUsage;
use palyra_types::run::{
    IdempotencyDigest, InputDelivery, RunLifecycleState, RunPhase, RunRecord, WaitReason,
};
use palyra_types::session::SessionRef;
use palyra_types::{
    AgentId, ErrorCode, PrincipalId, Redacted, RunId, Seq, SessionId, TapeSeq, Timestamp, UtcDay,
};

pub use super::usage_share::UsageShare;
use super::usage_share::UsageShareFacts;
use crate::family::RunCounts;
use crate::family::{
    ContentCell, ContentColumn, ContentSource, Family, FamilyCache, FamilyIndex, FamilyTable, FoldedEntry,
    IndexKey, RowsPerKey, StoreFault, StoredRow,
};
pub use queries::{
    ExpiringClientWait, OpenRunPage, OpenRunPlace, SessionTextQuery, cached_row, first_run_of_key, has_input,
    has_other_in_progress, ids, next_client_waits, of_principal, of_session, open, open_page, record,
    records, session_texts,
};
use stored_numbers::{
    delivery_from_stored, phase_from_stored, reason_from_stored, source_from_stored, state_from_stored,
    stored_delivery, stored_reason, stored_source, stored_state, stored_wait,
};
pub(super) use stored_numbers::{stored_surface, surface_from_stored};
pub use usage::RunUsage;
pub use usage_queries::{PastUsage, usage_of_run, usage_report};

/// The family.
pub struct RunFamily;

/// Characters of the input that a list shows.
const INPUT_PREVIEW_CHARS_MAX: usize = 120;

/// A run.
#[derive(Debug, Clone)]
pub struct RunRow {
    /// What lists show.
    pub record: RunRecord,
    /// Its latest entry.
    pub last_seq: Seq,
    /// The digest of the key that it was started with.
    pub idempotency: Option<IdempotencyDigest>,
    /// What it has under way.
    pub counts: RunCounts,
    /// When it stops waiting for its client, if it called functions of the client.
    pub client_expires: Option<Timestamp>,
    /// Its usage of models.
    pub usage: RunUsage,
}

#[derive(Clone, PartialEq, prost::Message)]
struct RunFacts {
    #[prost(bytes = "vec", tag = "1")]
    run: Vec<u8>,
    #[prost(bytes = "vec", tag = "2")]
    principal: Vec<u8>,
    #[prost(bytes = "vec", tag = "3")]
    session: Vec<u8>,
    #[prost(bytes = "vec", tag = "4")]
    agent: Vec<u8>,
    #[prost(uint32, tag = "5")]
    state: u32,
    #[prost(uint32, tag = "6")]
    wait: u32,
    #[prost(uint32, tag = "7")]
    reason: u32,
    #[prost(uint32, tag = "8")]
    error: u32,
    #[prost(uint32, tag = "9")]
    last_tape_seq: u32,
    #[prost(uint64, tag = "10")]
    last_seq: u64,
    #[prost(sint64, tag = "11")]
    created: i64,
    #[prost(sint64, tag = "12")]
    updated: i64,
    #[prost(uint32, tag = "13")]
    turns: u32,
    #[prost(uint32, tag = "14")]
    tool_calls: u32,
    #[prost(uint64, tag = "15")]
    input_tokens: u64,
    #[prost(uint64, tag = "16")]
    cached_input_tokens: u64,
    #[prost(uint64, tag = "17")]
    output_tokens: u64,
    #[prost(uint64, tag = "18")]
    reasoning_tokens: u64,
    #[prost(uint32, tag = "19")]
    usage_source: u32,
    #[prost(bytes = "vec", optional, tag = "20")]
    idempotency: Option<Vec<u8>>,
    #[prost(uint32, tag = "21")]
    delivery: u32,
    #[prost(sint64, tag = "22")]
    running: i64,
    #[prost(sint64, tag = "23")]
    questions: i64,
    #[prost(sint64, tag = "24")]
    unknown: i64,
    #[prost(sint64, tag = "25")]
    asked: i64,
    #[prost(sint64, tag = "26")]
    held: i64,
    #[prost(sint64, tag = "27")]
    unprepared: i64,
    #[prost(sint64, tag = "28")]
    with_client: i64,
    #[prost(sint64, optional, tag = "29")]
    client_expires: Option<i64>,
    #[prost(uint32, tag = "30")]
    surface: u32,
    #[prost(uint32, tag = "31")]
    place: u32,
    #[prost(uint64, tag = "32")]
    context_tokens: u64,
    #[prost(message, repeated, tag = "33")]
    shares: Vec<UsageShareFacts>,
}

const BY_RUN: usize = 0;
const BY_IDEMPOTENCY: usize = 1;
const OF_PRINCIPAL: usize = 2;
const OF_SESSION: usize = 3;
const OPEN: usize = 4;
const WITH_CLIENT: usize = 5;
const BY_USAGE_DAY: usize = 6;

fn key(run: RunId) -> IndexKey {
    IndexKey::new().bytes(&run.to_bytes())
}

fn principal_key(principal: PrincipalId) -> IndexKey {
    IndexKey::new().bytes(&principal.to_bytes())
}

fn session_key(session: SessionRef) -> IndexKey {
    principal_key(session.principal).bytes(&session.id.to_bytes())
}

fn with_client_key(expires: Timestamp, run: RunId) -> IndexKey {
    IndexKey::new().signed(expires.0).bytes(&run.to_bytes())
}

fn usage_day_key(day: UtcDay) -> IndexKey {
    IndexKey::new().signed(day.0.into())
}

fn idempotency_key(principal: PrincipalId, digest: IdempotencyDigest) -> IndexKey {
    principal_key(principal).bytes(&digest.0)
}

impl Family for RunFamily {
    const TABLE: &'static FamilyTable = &FamilyTable {
        name: "run",
        version: 4,
        indexes: &[
            FamilyIndex { name: "by_run", rows_per_key: RowsPerKey::One },
            FamilyIndex { name: "by_idempotency", rows_per_key: RowsPerKey::One },
            FamilyIndex { name: "of_principal", rows_per_key: RowsPerKey::Many },
            FamilyIndex { name: "of_session", rows_per_key: RowsPerKey::Many },
            FamilyIndex { name: "open", rows_per_key: RowsPerKey::Many },
            FamilyIndex { name: "with_client", rows_per_key: RowsPerKey::Many },
            FamilyIndex { name: "by_usage_day", rows_per_key: RowsPerKey::Many },
        ],
        content: &[
            ContentColumn { name: "input_preview", source: ContentSource::Birth },
            ContentColumn { name: "models", source: ContentSource::Birth },
        ],
    };

    const HAS_FIXED_KEYS: bool = true;

    type Row = RunRow;

    fn facts(row: &RunRow) -> Vec<u8> {
        let RunRow { record, last_seq, idempotency, counts, client_expires, usage } = row;
        prost::Message::encode_to_vec(&RunFacts {
            run: record.run.to_bytes().to_vec(),
            principal: record.principal.to_bytes().to_vec(),
            session: record.session.to_bytes().to_vec(),
            agent: record.agent.to_bytes().to_vec(),
            state: stored_state(record.state),
            wait: stored_wait(record.phase),
            reason: stored_reason(record.reason),
            error: record.error.map_or(0, ErrorCode::number).into(),
            last_tape_seq: record.last_tape_seq.0,
            last_seq: last_seq.0,
            created: record.created.0,
            updated: record.updated.0,
            turns: record.turns,
            tool_calls: record.tool_calls,
            input_tokens: record.usage.input_tokens,
            cached_input_tokens: record.usage.cached_input_tokens,
            output_tokens: record.usage.output_tokens,
            reasoning_tokens: record.usage.reasoning_tokens,
            usage_source: stored_source(record.usage.source),
            idempotency: idempotency.map(|digest| digest.0.to_vec()),
            delivery: stored_delivery(record.delivery),
            running: counts.running,
            questions: counts.questions,
            unknown: counts.unknown,
            asked: counts.asked,
            held: counts.held,
            unprepared: counts.unprepared,
            with_client: counts.with_client,
            client_expires: client_expires.map(|time| time.0),
            surface: stored_surface(usage.surface),
            place: usage.place,
            context_tokens: usage.context_tokens,
            shares: usage.shares.iter().map(|share| UsageShareFacts::from(*share)).collect(),
        })
    }

    fn content(row: &RunRow) -> Vec<ContentCell> {
        let cell = |bytes: &[u8]| ContentCell::new(bytes, row.record.first_seq);
        vec![cell(row.record.input_preview.expose().as_bytes()), cell(row.usage.stored_models.expose())]
    }

    fn load(stored: &StoredRow) -> Option<RunRow> {
        let mut facts = <RunFacts as prost::Message>::decode(stored.facts.as_slice()).ok()?;
        let [preview, models] = stored.content.as_slice() else { return None };
        let digest = |bytes: Vec<u8>| Some(IdempotencyDigest(bytes.try_into().ok()?));
        let idempotency = match facts.idempotency.clone() {
            Some(bytes) => Some(digest(bytes)?),
            None => None,
        };
        let counts = RunCounts {
            running: facts.running,
            questions: facts.questions,
            unknown: facts.unknown,
            asked: facts.asked,
            held: facts.held,
            unprepared: facts.unprepared,
            with_client: facts.with_client,
        };
        let client_expires = facts.client_expires.map(Timestamp);
        let last_seq = Seq(facts.last_seq);
        let usage = RunUsage {
            surface: surface_from_stored(facts.surface),
            stored_models: Redacted::from_stored(models.to_bytes().to_vec()),
            place: facts.place,
            context_tokens: facts.context_tokens,
            shares: std::mem::take(&mut facts.shares).into_iter().map(UsageShare::from).collect(),
        };
        let record = record_of(facts, stored.id.into(), Redacted::from_stored(preview.to_text()?))?;
        let unprepared = counts.shown_unprepared();
        let record = RunRecord { unprepared, ..record };
        Some(RunRow { record, last_seq, idempotency, counts, client_expires, usage })
    }

    fn index(row: &RunRow, index: usize) -> Option<IndexKey> {
        let record = &row.record;
        let session = SessionRef { principal: record.principal, id: record.session };
        match index {
            BY_RUN => Some(key(record.run)),
            BY_IDEMPOTENCY => row.idempotency.map(|digest| idempotency_key(record.principal, digest)),
            OF_PRINCIPAL => Some(principal_key(record.principal)),
            OF_SESSION => Some(session_key(session)),
            OPEN => (!record.state.is_terminal()).then(|| session_key(session)),
            WITH_CLIENT => row
                .client_expires
                .filter(|_| !record.state.is_terminal())
                .map(|expires| with_client_key(expires, record.run)),
            _ => row.usage.last_day().map(usage_day_key),
        }
    }

    fn fold(rows: &mut FamilyCache<'_, Self>, entry: &FoldedEntry<'_>) -> Result<(), StoreFault> {
        if let JournalEvent::Tape(event) = entry.event {
            fold_tape(rows, entry, event)?;
        }
        let own = entry.run.map(|(run, _)| run);
        let others: Vec<(RunId, RunCounts)> = rows.passed.of_others(own).collect();
        for (run, change) in others {
            rows.change_by(BY_RUN, &key(run), |row| {
                row.counts = row.counts.plus(change);
                row.settle_phase();
            })?;
        }
        Ok(())
    }
}

fn record_of(facts: RunFacts, first_seq: Seq, input_preview: Redacted<String>) -> Option<RunRecord> {
    let state = state_from_stored(facts.state);
    Some(RunRecord {
        run: RunId::from_bytes(facts.run.try_into().ok()?),
        session: SessionId::from_bytes(facts.session.try_into().ok()?),
        principal: PrincipalId::from_bytes(facts.principal.try_into().ok()?),
        agent: AgentId::from_bytes(facts.agent.try_into().ok()?),
        delivery: delivery_from_stored(facts.delivery),
        state,
        phase: phase_from_stored(state, facts.wait),
        reason: reason_from_stored(facts.reason),
        error: ErrorCode::ALL.iter().copied().find(|code| u32::from(code.number()) == facts.error),
        last_tape_seq: TapeSeq(facts.last_tape_seq),
        first_seq,
        created: Timestamp(facts.created),
        updated: Timestamp(facts.updated),
        turns: facts.turns,
        tool_calls: facts.tool_calls,
        unprepared: 0,
        usage: TokenUsage {
            input_tokens: facts.input_tokens,
            cached_input_tokens: facts.cached_input_tokens,
            output_tokens: facts.output_tokens,
            reasoning_tokens: facts.reasoning_tokens,
            source: source_from_stored(facts.usage_source),
        },
        input_preview,
    })
}

fn fold_tape(
    rows: &mut FamilyCache<'_, RunFamily>,
    entry: &FoldedEntry<'_>,
    event: &TapeEvent,
) -> Result<(), StoreFault> {
    let (Some((run, tape_seq)), Some(session)) = (entry.run, entry.session) else { return Ok(()) };
    if tape_seq == TapeSeq(1) {
        let started = match event {
            TapeEvent::Run(RunEvent::Started(started)) => Some(started),
            _ => None,
        };
        rows.insert(entry, first_row(entry, run, session, started))?;
    }
    let change = rows.passed.of_run(run);
    rows.change_by(BY_RUN, &key(run), |row| {
        row.record.last_tape_seq = tape_seq;
        row.record.updated = entry.time;
        row.last_seq = entry.seq;
        row.counts = row.counts.plus(change);
        row.counts.held = holds_after(row.counts.held, event);
        row.client_expires = client_expires(row.client_expires, event);
        row.counts.with_client = row.client_expires.is_some().into();
        if let TapeEvent::Model(event) = event {
            row.usage.fold(event, entry.time.into());
        }
        apply(&mut row.record, row.counts, event);
        row.settle_phase();
    })
}

fn first_row(
    entry: &FoldedEntry<'_>,
    run: RunId,
    session: SessionId,
    started: Option<&RunStarted>,
) -> RunRow {
    let preview = |started: &RunStarted| -> String {
        started.input.text.expose().chars().take(INPUT_PREVIEW_CHARS_MAX).collect()
    };
    RunRow {
        record: RunRecord {
            run,
            session,
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
            input_preview: Redacted::from_stored(started.map_or_else(String::new, preview)),
        },
        last_seq: entry.seq,
        idempotency: started.and_then(|started| started.idempotency),
        counts: RunCounts::default(),
        client_expires: None,
        usage: started.map(RunUsage::of_start).unwrap_or_default(),
    }
}

/// Terminal states are final; a run that has not begun has nothing to wait for.
fn apply(record: &mut RunRecord, counts: RunCounts, event: &TapeEvent) {
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
        TapeEvent::Run(RunEvent::ReferencesExpanded(_)) => {
            record.state = RunLifecycleState::InProgress;
            record.phase = RunPhase::Running;
        }
        TapeEvent::Run(RunEvent::BudgetReached { .. }) => {
            record.state = RunLifecycleState::InProgress;
            record.phase = RunPhase::Waiting(WaitReason::Budget);
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
            if waits && counts.unknown <= 0 && counts.held == 0 {
                record.phase = running(record.state);
            }
        }
        TapeEvent::Run(RunEvent::Finished(finished)) => finish(record, finished),
        TapeEvent::Unknown { kind } => {
            if is_critical(*kind) {
                record.phase = RunPhase::Waiting(WaitReason::UnknownKind);
            }
        }
        TapeEvent::Run(
            RunEvent::Started(_)
            | RunEvent::CancelRequested { .. }
            | RunEvent::ClientToolsOffered(_)
            | RunEvent::ClientToolsCalled(_)
            | RunEvent::ClientToolsAnswered(_)
            | RunEvent::SoftLimitNoted { .. },
        )
        | TapeEvent::Model(_)
        | TapeEvent::Tool(_)
        | TapeEvent::Approval(_) => {}
    }
}

/// Returns 1 for a run that waits for an input after a loop or an unknown kind, given whether it did before.
fn holds_after(before: i64, event: &TapeEvent) -> i64 {
    match event {
        TapeEvent::Run(RunEvent::Held { .. }) => 1,
        TapeEvent::Run(RunEvent::InputReceived { .. }) => 0,
        _ => before,
    }
}

/// Returns until when the run waits for its client, given how it was before.
fn client_expires(before: Option<Timestamp>, event: &TapeEvent) -> Option<Timestamp> {
    match event {
        TapeEvent::Run(RunEvent::ClientToolsCalled(called)) => Some(called.expires),
        TapeEvent::Run(RunEvent::ClientToolsAnswered(_)) => None,
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
    /// Sets what the run waits for, from what it has under way.
    fn settle_phase(&mut self) {
        self.record.phase = self.counts.phase(self.record.state, self.record.phase);
        self.record.unprepared = self.counts.shown_unprepared();
    }
}
