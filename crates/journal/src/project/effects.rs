//! Effects: what each call of a tool intended, and what became of it. Owns the table `effect`.
//!
//! A row is made by the proposal, so that it knows the tool's name and who permitted it; it is listed from its
//! start on. Keyed by run and number.

use palyra_types::effect::{EffectRecord, EffectSettled, EffectState};
use palyra_types::event::{ApprovalEvent, DecidedBy, TapeEvent, ToolDecided, ToolEvent};
use palyra_types::job::JobEvent;
use palyra_types::tool::{EffectContract, ToolConduct, ToolVerdict};
use palyra_types::{
    ApprovalId, EffectId, ErrorCode, PrincipalId, Redacted, RunId, Seq, SessionId, TapeSeq, Timestamp,
};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::effect_numbers::{
    conduct_from_stored, contract_from_stored, state_from_stored, stored_conduct, stored_contract,
    stored_state,
};
use super::folded::Folded;
use super::jobs::{self, JobRow};
use super::phases::UnderWay;
use super::rows::{Family, Held};
use crate::sql::{seq_from_sql, seq_to_sql};

/// Columns that [`EffectRow::read`] takes, in its order.
pub(crate) const EFFECT_COLUMNS: &str = "seq, run, effect, session, principal, contract, conduct, state,
    approval, failure, tool, started, started_tape_seq, started_seq, ended, ended_tape_seq, ended_seq,
    unprepared, settled, settled_seq, job, job_state, job_settled";

/// Characters of a tool's name that a list shows: no real one is longer, but a model may say anything.
const TOOL_CHARS_MAX: usize = 64;

/// An entry of a tape: its time and its places.
type At = (Timestamp, TapeSeq, Seq);

/// A row of `effect`.
#[derive(Debug, Clone)]
pub(crate) struct EffectRow {
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
    started: Option<At>,
    ended: Option<At>,
    /// What a person said of an outcome that the tape does not know, after the end of the run: an entry beside its tape.
    settled: Option<(Timestamp, Seq)>,
    /// The job that it started; the entries about it are beside the tape, too.
    job: Option<JobRow>,
}

/// The table `effect`.
pub(crate) struct Effects;

impl Family for Effects {
    type Key = (RunId, EffectId);
    type Row = EffectRow;

    fn load(connection: &Connection, key: &Self::Key) -> rusqlite::Result<Option<EffectRow>> {
        let sql = format!("SELECT {EFFECT_COLUMNS} FROM effect WHERE run = ?1 AND effect = ?2");
        let names = (key.0.to_bytes(), key.1.0);
        connection.prepare_cached(&sql)?.query_row(names, EffectRow::read).optional()
    }

    fn store(connection: &Connection, row: &EffectRow) -> rusqlite::Result<()> {
        let time = |at: Option<At>| at.map(|at| at.0.0);
        let tape_seq = |at: Option<At>| at.map(|at| at.1.0);
        let seq = |at: Option<At>| at.map(|at| seq_to_sql(at.2));
        let values = params![
            seq_to_sql(row.seq),
            row.run.to_bytes(),
            row.effect.0,
            row.session.to_bytes(),
            row.principal.to_bytes(),
            stored_contract(row.contract),
            stored_conduct(row.conduct),
            stored_state(row.state),
            row.approval.map(ApprovalId::to_bytes),
            row.failure.map_or(0, ErrorCode::number),
            row.tool.expose(),
            time(row.started),
            tape_seq(row.started),
            seq(row.started),
            time(row.ended),
            tape_seq(row.ended),
            seq(row.ended),
            row.unprepared,
            row.settled.map(|(time, _)| time.0),
            row.settled.map(|(_, seq)| seq_to_sql(seq)),
            row.job.map(JobRow::number),
            JobRow::stored_state(row.job),
            row.job.and_then(JobRow::settled),
        ];
        connection.prepare_cached(STORE)?.execute(values).map(drop)
    }
}

const STORE: &str = "INSERT INTO effect(seq, run, effect, session, principal, contract, conduct, state,
    approval, failure, tool, started, started_tape_seq, started_seq, ended, ended_tape_seq, ended_seq,
    unprepared, settled, settled_seq, job, job_state, job_settled)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23)
ON CONFLICT(seq) DO UPDATE SET contract = excluded.contract, conduct = excluded.conduct,
    state = excluded.state, approval = excluded.approval, failure = excluded.failure,
    started = excluded.started, started_tape_seq = excluded.started_tape_seq,
    started_seq = excluded.started_seq, ended = excluded.ended, ended_tape_seq = excluded.ended_tape_seq,
    ended_seq = excluded.ended_seq, unprepared = excluded.unprepared, settled = excluded.settled,
    settled_seq = excluded.settled_seq, job = excluded.job, job_state = excluded.job_state,
    job_settled = excluded.job_settled";

/// Folds one tape entry; returns by how much what its run has under way changes.
pub(super) fn fold(
    effects: &mut Held<Effects>,
    connection: &Connection,
    entry: &Folded<'_>,
    event: &TapeEvent,
) -> rusqlite::Result<UnderWay> {
    let (Some((run, tape_seq)), Some(session)) = (entry.run, entry.session) else {
        return Ok(UnderWay::default());
    };
    let at = (entry.time, tape_seq, entry.seq);
    let Some((effect, change)) = change_of(event, at) else { return Ok(UnderWay::default()) };
    let key = (run, effect);
    let is_first = match event {
        TapeEvent::Tool(ToolEvent::Proposed(_) | ToolEvent::Started(_)) => {
            effects.get(connection, &key)?.is_none()
        }
        _ => false,
    };
    if is_first {
        effects.put(key, first_row(entry, key, session, event));
    }
    let mut difference = UnderWay::default();
    effects.change(connection, &key, |row| {
        let before = row.under_way();
        change.apply(row);
        difference = row.under_way().since(before);
    })?;
    Ok(difference)
}

/// Folds what becomes of a job. Its doubt is not the tape's: the run does not wait for it.
pub(super) fn job(
    effects: &mut Held<Effects>,
    connection: &Connection,
    event: &JobEvent,
) -> rusqlite::Result<()> {
    let (JobEvent::Started { run, effect, .. } | JobEvent::Ended { run, effect, .. }) = *event;
    effects.change(connection, &(run, effect), |row| row.job = jobs::after(row.job, row.state, event))
}

/// Folds what a person says of an unknown outcome beside the tape; returns the change of what the run has under way.
pub(super) fn settled(
    effects: &mut Held<Effects>,
    connection: &Connection,
    entry: &Folded<'_>,
    settled: &EffectSettled,
) -> rusqlite::Result<UnderWay> {
    let mut difference = UnderWay::default();
    effects.change(connection, &(settled.run, settled.effect), |row| {
        row.job =
            row.job.zip(row.state).map(|(job, call)| job.settled_as(call, settled.resolution, entry.time));
        if row.state == Some(EffectState::Unknown) {
            let before = row.under_way();
            row.state = Some(EffectState::Resolved(settled.resolution));
            row.settled = Some((entry.time, entry.seq));
            difference = row.under_way().since(before);
        }
    })?;
    Ok(difference)
}

/// What an entry does to its effect's row.
enum Change<'a> {
    Nothing,
    Decided(&'a ToolDecided),
    Asked,
    Answered,
    Started(At, EffectContract),
    Ended(At, EffectState, Option<Option<ErrorCode>>),
}

fn change_of(event: &TapeEvent, at: At) -> Option<(EffectId, Change<'_>)> {
    match event {
        TapeEvent::Tool(ToolEvent::Proposed(proposed)) => Some((proposed.effect, Change::Nothing)),
        TapeEvent::Tool(ToolEvent::Decided(decided)) => Some((decided.effect, Change::Decided(decided))),
        TapeEvent::Approval(ApprovalEvent::Requested(requested)) => Some((requested.effect, Change::Asked)),
        TapeEvent::Approval(ApprovalEvent::Resolved(resolved)) => Some((resolved.effect, Change::Answered)),
        TapeEvent::Tool(ToolEvent::Started(started)) => {
            Some((started.effect, Change::Started(at, started.contract)))
        }
        TapeEvent::Tool(ToolEvent::Finished(finished)) => {
            let state = finished.failure.map_or(EffectState::Finished, |_| EffectState::Failed);
            Some((finished.effect, Change::Ended(at, state, Some(finished.failure))))
        }
        TapeEvent::Tool(ToolEvent::OutcomeUnknown { effect, .. }) => {
            Some((*effect, Change::Ended(at, EffectState::Unknown, None)))
        }
        TapeEvent::Tool(ToolEvent::EffectResolved { effect, resolution, .. }) => {
            Some((*effect, Change::Ended(at, EffectState::Resolved(*resolution), None)))
        }
        _ => None,
    }
}

impl Change<'_> {
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
            Self::Asked => row.unprepared = false,
            // The entries behind it say what it came to.
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

fn first_row(
    entry: &Folded<'_>,
    (run, effect): (RunId, EffectId),
    session: SessionId,
    event: &TapeEvent,
) -> EffectRow {
    let tool = match event {
        TapeEvent::Tool(ToolEvent::Proposed(proposed)) => {
            Redacted::new(proposed.tool.expose().chars().take(TOOL_CHARS_MAX).collect())
        }
        _ => Redacted::default(),
    };
    EffectRow {
        seq: entry.seq,
        run,
        effect,
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

    /// Returns whether nobody knows the outcome, and nobody said it.
    pub(crate) fn is_unknown(&self) -> bool {
        self.shown_state() == Some(EffectState::Unknown)
    }

    /// Returns where it stands; a doubt about its job goes before what the tape says of the call that started it.
    fn shown_state(&self) -> Option<EffectState> {
        self.state.map(|call| self.job.map_or(call, |job| job.effect_state(call)))
    }

    fn under_way(&self) -> UnderWay {
        let started = i64::from(self.state == Some(EffectState::Started));
        let unknown = i64::from(self.state == Some(EffectState::Unknown));
        let (running, questions) = match self.conduct {
            ToolConduct::Direct | ToolConduct::Prepared => (started, 0),
            ToolConduct::Question => (0, started),
        };
        let unprepared = i64::from(self.unprepared);
        UnderWay { running, questions, unknown, unprepared, ..UnderWay::default() }
    }

    /// Makes the record that lists show; `None` until it is started.
    pub(crate) fn into_record(self) -> Option<EffectRecord> {
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

    /// Reads a row of [`EFFECT_COLUMNS`].
    pub(crate) fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let at = |first: usize| -> rusqlite::Result<Option<At>> {
            let Some(time) = row.get(first)? else { return Ok(None) };
            Ok(Some((Timestamp(time), TapeSeq(row.get(first + 1)?), seq_from_sql(row.get(first + 2)?))))
        };
        let failure: u16 = row.get(9)?;
        Ok(Self {
            seq: seq_from_sql(row.get(0)?),
            run: RunId::from_bytes(row.get(1)?),
            effect: EffectId(row.get(2)?),
            session: SessionId::from_bytes(row.get(3)?),
            principal: PrincipalId::from_bytes(row.get(4)?),
            contract: contract_from_stored(row.get(5)?),
            conduct: conduct_from_stored(row.get(6)?),
            state: state_from_stored(row.get(7)?),
            approval: row.get::<_, Option<[u8; 16]>>(8)?.map(ApprovalId::from_bytes),
            failure: ErrorCode::ALL.iter().copied().find(|code| code.number() == failure),
            tool: row.get::<_, String>(10)?.into(),
            started: at(11)?,
            ended: at(14)?,
            unprepared: row.get(17)?,
            settled: row
                .get::<_, Option<i64>>(18)?
                .map(Timestamp)
                .zip(row.get::<_, Option<i64>>(19)?.map(seq_from_sql)),
            job: JobRow::from_stored(row.get(20)?, row.get(21)?, row.get(22)?),
        })
    }
}
