//! Effects: what each call of a tool intended, and what became of it. By run and number.
//!
//! A row is made by the proposal, so that it knows the tool's name and who permitted it; it is listed from its
//! start on. Its changes to its run are passed to the family of runs.

mod job_row;
mod queries;
mod stored_numbers;

use palyra_types::effect::{EffectRecord, EffectState};
use palyra_types::event::{
    ApprovalEvent, DecidedBy, EffectEvent, JournalEvent, TapeEvent, ToolDecided, ToolEvent,
};
use palyra_types::job::JobEvent;
use palyra_types::tool::{EffectContract, ToolConduct, ToolVerdict};
use palyra_types::{
    ApprovalId, EffectId, ErrorCode, PrincipalId, Redacted, RunId, Seq, SessionId, TapeSeq, Timestamp,
};

use crate::family::RunCounts;
use crate::family::{
    ContentCell, ContentColumn, ContentSource, Family, FamilyCache, FamilyIndex, FamilyTable, FoldedEntry,
    IndexKey, RowsPerKey, StoreFault, StoredRow,
};
use job_row::JobRow;
pub use queries::{is_unknown, last_job, records, settled_of_run};
use stored_numbers::{
    conduct_from_stored, contract_from_stored, state_from_stored, stored_conduct, stored_contract,
    stored_state,
};

/// The family.
pub struct EffectFamily;

/// Characters of a tool's name that a list shows: no real one is longer, but a model may say anything.
const TOOL_CHARS_MAX: usize = 64;

/// An entry of a tape: its time and its places.
type TapeMoment = (Timestamp, TapeSeq, Seq);

/// An effect.
#[derive(Debug, Clone)]
pub struct EffectRow {
    /// The entry that made the row: the proposal, with the tool's name.
    seq: Seq,
    run: RunId,
    effect: EffectId,
    session: SessionId,
    principal: PrincipalId,
    contract: EffectContract,
    conduct: ToolConduct,
    /// Whether it may be prepared, and is neither asked about nor started.
    unprepared: bool,
    /// `None` until it is started.
    state: Option<EffectState>,
    approval: Option<ApprovalId>,
    failure: Option<ErrorCode>,
    tool: Redacted<String>,
    started: Option<TapeMoment>,
    ended: Option<TapeMoment>,
    /// What a person said of an outcome that the tape does not know, after the end of the run: an entry beside its tape.
    settled: Option<(Timestamp, Seq)>,
    /// The job that it started; the entries about it are beside the tape, too.
    job: Option<JobRow>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct PlaceFacts {
    #[prost(sint64, tag = "1")]
    time: i64,
    #[prost(uint32, tag = "2")]
    tape_seq: u32,
    #[prost(uint64, tag = "3")]
    seq: u64,
}

#[derive(Clone, PartialEq, prost::Message)]
struct EffectFacts {
    #[prost(bytes = "vec", tag = "1")]
    run: Vec<u8>,
    #[prost(uint32, tag = "2")]
    effect: u32,
    #[prost(bytes = "vec", tag = "3")]
    session: Vec<u8>,
    #[prost(bytes = "vec", tag = "4")]
    principal: Vec<u8>,
    #[prost(uint32, tag = "5")]
    contract: u32,
    #[prost(uint32, tag = "6")]
    conduct: u32,
    #[prost(bool, tag = "7")]
    unprepared: bool,
    #[prost(uint32, tag = "8")]
    state: u32,
    #[prost(bytes = "vec", optional, tag = "9")]
    approval: Option<Vec<u8>>,
    #[prost(uint32, tag = "10")]
    failure: u32,
    #[prost(message, optional, tag = "11")]
    started: Option<PlaceFacts>,
    #[prost(message, optional, tag = "12")]
    ended: Option<PlaceFacts>,
    #[prost(message, optional, tag = "13")]
    settled: Option<PlaceFacts>,
    #[prost(uint32, optional, tag = "14")]
    job: Option<u32>,
    #[prost(uint32, tag = "15")]
    job_state: u32,
    #[prost(sint64, optional, tag = "16")]
    job_settled: Option<i64>,
}

const BY_CALL: usize = 0;
const STARTED: usize = 1;
const OF_PRINCIPAL: usize = 2;
const CHANGING: usize = 3;
const UNKNOWN: usize = 4;
const OPEN_JOB: usize = 5;
const BY_JOB: usize = 6;

/// The call of a run that an effect is of.
#[derive(Debug, Clone, Copy)]
struct EffectKey {
    run: RunId,
    effect: EffectId,
}

fn key(call: EffectKey) -> IndexKey {
    of_run(call.run).number(call.effect.0.into())
}

fn of_run(run: RunId) -> IndexKey {
    IndexKey::new().bytes(&run.to_bytes())
}

fn of_principal(principal: PrincipalId) -> IndexKey {
    IndexKey::new().bytes(&principal.to_bytes())
}

fn place_facts((time, tape_seq, seq): TapeMoment) -> PlaceFacts {
    PlaceFacts { time: time.0, tape_seq: tape_seq.0, seq: seq.0 }
}

fn place_of(facts: &PlaceFacts) -> TapeMoment {
    (Timestamp(facts.time), TapeSeq(facts.tape_seq), Seq(facts.seq))
}

impl Family for EffectFamily {
    const TABLE: &'static FamilyTable = &FamilyTable {
        name: "effect",
        version: 1,
        indexes: &[
            FamilyIndex { name: "by_call", rows_per_key: RowsPerKey::One },
            FamilyIndex { name: "started", rows_per_key: RowsPerKey::Many },
            FamilyIndex { name: "of_principal", rows_per_key: RowsPerKey::Many },
            FamilyIndex { name: "changing", rows_per_key: RowsPerKey::Many },
            FamilyIndex { name: "unknown", rows_per_key: RowsPerKey::Many },
            FamilyIndex { name: "open_job", rows_per_key: RowsPerKey::Many },
            FamilyIndex { name: "by_job", rows_per_key: RowsPerKey::Many },
        ],
        content: &[ContentColumn { name: "tool", source: ContentSource::Birth }],
    };

    const HAS_FIXED_KEYS: bool = true;

    type Row = EffectRow;

    fn facts(row: &EffectRow) -> Vec<u8> {
        prost::Message::encode_to_vec(&EffectFacts {
            run: row.run.to_bytes().to_vec(),
            effect: row.effect.0,
            session: row.session.to_bytes().to_vec(),
            principal: row.principal.to_bytes().to_vec(),
            contract: stored_contract(row.contract),
            conduct: stored_conduct(row.conduct),
            unprepared: row.unprepared,
            state: stored_state(row.state),
            approval: row.approval.map(|approval| approval.to_bytes().to_vec()),
            failure: row.failure.map_or(0, ErrorCode::number).into(),
            started: row.started.map(place_facts),
            ended: row.ended.map(place_facts),
            settled: row.settled.map(|(time, seq)| place_facts((time, TapeSeq(0), seq))),
            job: row.job.map(JobRow::number),
            job_state: JobRow::stored_state(row.job),
            job_settled: row.job.and_then(JobRow::settled),
        })
    }

    fn content(row: &EffectRow) -> Vec<ContentCell> {
        vec![ContentCell::new(row.tool.expose().as_bytes(), row.seq)]
    }

    fn load(stored: &StoredRow) -> Option<EffectRow> {
        let facts = <EffectFacts as prost::Message>::decode(stored.facts.as_slice()).ok()?;
        let [tool] = stored.content.as_slice() else { return None };
        let approval = |bytes: Vec<u8>| Some(ApprovalId::from_bytes(bytes.try_into().ok()?));
        Some(EffectRow {
            seq: stored.id.into(),
            run: RunId::from_bytes(facts.run.try_into().ok()?),
            effect: EffectId(facts.effect),
            session: SessionId::from_bytes(facts.session.try_into().ok()?),
            principal: PrincipalId::from_bytes(facts.principal.try_into().ok()?),
            contract: contract_from_stored(facts.contract),
            conduct: conduct_from_stored(facts.conduct),
            unprepared: facts.unprepared,
            state: state_from_stored(facts.state),
            approval: match facts.approval {
                Some(bytes) => Some(approval(bytes)?),
                None => None,
            },
            failure: ErrorCode::ALL.iter().copied().find(|code| u32::from(code.number()) == facts.failure),
            tool: Redacted::from_stored(tool.to_text()?),
            started: facts.started.as_ref().map(place_of),
            ended: facts.ended.as_ref().map(place_of),
            settled: facts.settled.as_ref().map(|at| (Timestamp(at.time), Seq(at.seq))),
            job: JobRow::from_stored(facts.job, facts.job_state, facts.job_settled),
        })
    }

    fn index(row: &EffectRow, index: usize) -> Option<IndexKey> {
        let started = row.started.map(|(_, _, seq)| seq.0);
        match index {
            BY_CALL => Some(key(EffectKey { run: row.run, effect: row.effect })),
            STARTED => started.map(|seq| IndexKey::new().number(seq)),
            OF_PRINCIPAL => started.map(|seq| of_principal(row.principal).number(seq)),
            CHANGING => started
                .filter(|_| row.contract != EffectContract::Pure)
                .map(|seq| of_principal(row.principal).number(seq)),
            UNKNOWN => started.filter(|_| row.is_unknown()).map(|seq| IndexKey::new().number(seq)),
            OPEN_JOB => started.filter(|_| row.has_open_job()).map(|seq| IndexKey::new().number(seq)),
            _ => row.job.map(|job| IndexKey::new().number(job.number().into())),
        }
    }

    fn fold(rows: &mut FamilyCache<'_, Self>, entry: &FoldedEntry<'_>) -> Result<(), StoreFault> {
        match entry.event {
            JournalEvent::Tape(event) => fold_tape(rows, entry, event),
            // A doubt about a job is not the tape's: the run does not wait for it.
            JournalEvent::Job(event) => {
                let (JobEvent::Started { run, effect, .. } | JobEvent::Ended { run, effect, .. }) = *event;
                rows.change_by(BY_CALL, &key(EffectKey { run, effect }), |row| {
                    row.job = job_row::after(row.job, row.state, event);
                })
            }
            JournalEvent::Effect(EffectEvent::Settled(settled)) => {
                change(rows, EffectKey { run: settled.run, effect: settled.effect }, |row| {
                    row.job = row
                        .job
                        .zip(row.state)
                        .map(|(job, call)| job.settled_as(call, settled.resolution, entry.time));
                    if row.state == Some(EffectState::Unknown) {
                        row.state = Some(EffectState::Resolved(settled.resolution));
                        row.settled = Some((entry.time, entry.seq));
                    }
                })
            }
            _ => Ok(()),
        }
    }
}

fn fold_tape(
    rows: &mut FamilyCache<'_, EffectFamily>,
    entry: &FoldedEntry<'_>,
    event: &TapeEvent,
) -> Result<(), StoreFault> {
    let (Some((run, tape_seq)), Some(session)) = (entry.run, entry.session) else { return Ok(()) };
    let Some((effect, said)) = change_of(event, (entry.time, tape_seq, entry.seq)) else { return Ok(()) };
    let call = EffectKey { run, effect };
    let makes_row = matches!(event, TapeEvent::Tool(ToolEvent::Proposed(_) | ToolEvent::Started(_)));
    if makes_row && rows.find(BY_CALL, &key(call))?.is_none() {
        rows.insert(entry, first_row(entry, call, session, event))?;
    }
    change(rows, call, |row| said.apply(row))
}

/// Changes the row of a call and passes what that changes about its run.
fn change(
    rows: &mut FamilyCache<'_, EffectFamily>,
    call: EffectKey,
    change: impl FnOnce(&mut EffectRow),
) -> Result<(), StoreFault> {
    let mut difference = RunCounts::default();
    rows.change_by(BY_CALL, &key(call), |row| {
        let before = row.counts();
        change(row);
        difference = row.counts().since(before);
    })?;
    rows.passed.add(call.run, difference);
    Ok(())
}

/// What an entry does to its effect's row.
enum EffectChange<'a> {
    Nothing,
    Decided(&'a ToolDecided),
    AwaitingApproval,
    Answered,
    Started(TapeMoment, EffectContract),
    Ended(TapeMoment, EffectState, Option<Option<ErrorCode>>),
}

fn change_of(event: &TapeEvent, at: TapeMoment) -> Option<(EffectId, EffectChange<'_>)> {
    match event {
        TapeEvent::Tool(ToolEvent::Proposed(proposed)) => Some((proposed.effect, EffectChange::Nothing)),
        TapeEvent::Tool(ToolEvent::Decided(decided)) => {
            Some((decided.effect, EffectChange::Decided(decided)))
        }
        TapeEvent::Approval(ApprovalEvent::Requested(requested)) => {
            Some((requested.effect, EffectChange::AwaitingApproval))
        }
        TapeEvent::Approval(ApprovalEvent::Resolved(resolved)) => {
            Some((resolved.effect, EffectChange::Answered))
        }
        TapeEvent::Tool(ToolEvent::Started(started)) => {
            Some((started.effect, EffectChange::Started(at, started.contract)))
        }
        TapeEvent::Tool(ToolEvent::Finished(finished)) => {
            let state = finished.failure.map_or(EffectState::Finished, |_| EffectState::Failed);
            Some((finished.effect, EffectChange::Ended(at, state, Some(finished.failure))))
        }
        TapeEvent::Tool(ToolEvent::OutcomeUnknown { effect, .. }) => {
            Some((*effect, EffectChange::Ended(at, EffectState::Unknown, None)))
        }
        TapeEvent::Tool(ToolEvent::EffectResolved { effect, resolution, .. }) => {
            Some((*effect, EffectChange::Ended(at, EffectState::Resolved(*resolution), None)))
        }
        _ => None,
    }
}

impl EffectChange<'_> {
    fn apply(self, row: &mut EffectRow) {
        match self {
            Self::Nothing => {}
            Self::Decided(decided) if row.state.is_none() => {
                row.conduct = decided.conduct;
                row.unprepared = decided.verdict != ToolVerdict::Deny && row.is_prepared();
                if let DecidedBy::Approval(approval) = decided.decided_by {
                    row.approval = Some(approval);
                }
            }
            Self::AwaitingApproval => row.unprepared = false,
            // The entries behind it say how it ended.
            Self::Answered if row.state.is_none() => row.unprepared = row.is_prepared(),
            Self::Started(at, contract) if row.state.is_none() => {
                row.unprepared = false;
                row.state = Some(EffectState::Started);
                row.contract = contract;
                row.started = Some(at);
            }
            Self::Ended(at, state, failure) if row.state.is_some() && row.settled.is_none() => {
                row.state = Some(state);
                row.ended = Some(at);
                row.failure = failure.unwrap_or(row.failure);
            }
            Self::Decided(_) | Self::Answered | Self::Started(..) | Self::Ended(..) => {}
        }
    }
}

fn first_row(entry: &FoldedEntry<'_>, call: EffectKey, session: SessionId, event: &TapeEvent) -> EffectRow {
    let tool = match event {
        TapeEvent::Tool(ToolEvent::Proposed(proposed)) => {
            Redacted::from_stored(proposed.tool.expose().chars().take(TOOL_CHARS_MAX).collect())
        }
        _ => Redacted::default(),
    };
    EffectRow {
        seq: entry.seq,
        run: call.run,
        effect: call.effect,
        session,
        principal: entry.principal,
        contract: EffectContract::Opaque,
        conduct: ToolConduct::Direct,
        unprepared: false,
        state: None,
        approval: None,
        failure: None,
        tool,
        started: None,
        ended: None,
        settled: None,
        job: None,
    }
}

impl EffectRow {
    fn is_prepared(&self) -> bool {
        self.conduct == ToolConduct::Prepared
    }

    /// Returns whether the outcome is unknown and no person has settled it.
    fn is_unknown(&self) -> bool {
        self.shown_state() == Some(EffectState::Unknown)
    }

    fn has_open_job(&self) -> bool {
        self.job.is_some_and(JobRow::is_running)
    }

    /// Returns its state; a doubt about its job goes before what the tape says of the call that started it.
    fn shown_state(&self) -> Option<EffectState> {
        self.state.map(|call| self.job.map_or(call, |job| job.effect_state(call)))
    }

    fn counts(&self) -> RunCounts {
        let started = i64::from(self.state == Some(EffectState::Started));
        let unknown = i64::from(self.state == Some(EffectState::Unknown));
        let (running, questions) = match self.conduct {
            ToolConduct::Direct | ToolConduct::Prepared => (started, 0),
            ToolConduct::Question => (0, started),
        };
        let unprepared = i64::from(self.unprepared);
        RunCounts { running, questions, unknown, unprepared, ..RunCounts::default() }
    }

    /// Makes the record that lists show; `None` until it is started.
    fn into_record(self) -> Option<EffectRecord> {
        let ((started, tape_seq, seq), (state, call)) =
            self.started.zip(self.shown_state().zip(self.state))?;
        let said = self.job.and_then(JobRow::settled).map(Timestamp);
        Some(EffectRecord {
            run: self.run,
            session: self.session,
            principal: self.principal,
            effect: self.effect,
            contract: self.contract,
            state,
            approval: self.approval,
            failure: self.failure,
            tool: self.tool,
            started,
            ended: said.or(self.settled.map(|(time, _)| time)).or(self.ended.map(|(time, ..)| time)),
            started_at: (tape_seq, seq),
            ended_at: self.ended.map(|(_, tape_seq, seq)| (tape_seq, seq)),
            job: self.job.map(|job| job.record(call)),
        })
    }
}
