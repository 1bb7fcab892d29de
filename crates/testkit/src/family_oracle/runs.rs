//! Runs by a naive fold over all entries.

use std::collections::BTreeMap;

use palyra_types::event::{EffectEvent, JournalEvent, ModelEvent, RunEvent, TapeEvent, ToolEvent};
use palyra_types::model::TokenUsage;
use palyra_types::run::{InputDelivery, RunLifecycleState, RunPhase, RunRecord, WaitReason};
use palyra_types::session::SessionRef;
use palyra_types::tape::JournalEventRecord;
use palyra_types::{AgentId, Redacted, RunId, TapeSeq};

use super::waits::RunWaits;

/// Kinds from this number on may be skipped by those who do not know them.
const SKIPPABLE_FROM: u16 = 0x8000;
const INPUT_PREVIEW_CHARS: usize = 120;

/// Returns every run there ever was.
pub(super) fn runs(entries: &[JournalEventRecord]) -> BTreeMap<RunId, RunRecord> {
    let mut records = Records::default();
    entries.iter().for_each(|entry| records.fold(entry));
    records.runs
}

#[derive(Default)]
struct Records {
    runs: BTreeMap<RunId, RunRecord>,
    waits: RunWaits,
}

impl Records {
    fn fold(&mut self, entry: &JournalEventRecord) {
        match &entry.event {
            JournalEvent::Tape(event) => self.fold_tape(entry, event),
            JournalEvent::Effect(EffectEvent::Settled(settled)) => {
                self.waits.settle(settled.run, settled.effect);
                if let Some(record) = self.runs.get_mut(&settled.run) {
                    record.phase = self.waits.phase(record);
                }
            }
            JournalEvent::Session(_)
            | JournalEvent::Policy(_)
            | JournalEvent::Access(_)
            | JournalEvent::Agent(_)
            | JournalEvent::Component(_)
            | JournalEvent::Skill(_)
            | JournalEvent::Job(_)
            | JournalEvent::Vault(_)
            | JournalEvent::Memory(_)
            | JournalEvent::Learning(_)
            | JournalEvent::Budget(_)
            | JournalEvent::Task(_)
            | JournalEvent::Schedule(_)
            | JournalEvent::Incident(_)
            | JournalEvent::Delivery(_)
            | JournalEvent::Log(_)
            | JournalEvent::Effect(EffectEvent::UndoRequested(_) | EffectEvent::UndoFinished { .. })
            | JournalEvent::Unknown { .. } => {}
        }
    }

    fn fold_tape(&mut self, entry: &JournalEventRecord, event: &TapeEvent) {
        let (Some((run, tape_seq)), Some(session)) = (entry.run, entry.session) else { return };
        let session = SessionRef { principal: entry.principal, id: session };
        if tape_seq == TapeSeq(1) {
            self.begin_run(entry, run, session);
        }
        let decided = self.waits.fold(run, event);
        if let Some(record) = self.runs.get_mut(&run) {
            record.last_tape_seq = tape_seq;
            record.updated = entry.time;
            apply(record, event, &self.waits);
        }
        for run in [Some(run), decided].into_iter().flatten() {
            if let Some(record) = self.runs.get_mut(&run) {
                record.phase = self.waits.phase(record);
                record.unprepared = self.waits.unprepared(run);
            }
        }
    }

    fn begin_run(&mut self, entry: &JournalEventRecord, run: RunId, session: SessionRef) {
        let mut record = RunRecord {
            run,
            session: session.id,
            principal: session.principal,
            agent: AgentId::NIL,
            delivery: InputDelivery::Queue,
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
            input_preview: Redacted::default(),
        };
        if let JournalEvent::Tape(TapeEvent::Run(RunEvent::Started(started))) = &entry.event {
            record.agent = started.agent;
            record.delivery = started.delivery;
            let text = started.input.text.expose();
            record.input_preview = Redacted::cleaned(text.chars().take(INPUT_PREVIEW_CHARS).collect());
        }
        self.runs.insert(run, record);
    }
}

fn apply(record: &mut RunRecord, event: &TapeEvent, waits: &RunWaits) {
    if record.phase == RunPhase::Finished {
        return;
    }
    match event {
        TapeEvent::Model(ModelEvent::Requested(requested)) => {
            record.state = RunLifecycleState::InProgress;
            record.phase = RunPhase::Running;
            record.turns = record.turns.max(requested.turn);
        }
        TapeEvent::Model(ModelEvent::Message(message)) if record.usage == TokenUsage::default() => {
            record.usage = message.usage;
        }
        TapeEvent::Model(ModelEvent::Message(message)) => record.usage = record.usage.plus(message.usage),
        TapeEvent::Tool(ToolEvent::Proposed(_)) => record.tool_calls += 1,
        TapeEvent::Run(RunEvent::InputReceived { .. }) => {
            record.phase = match record.state {
                RunLifecycleState::Pending => RunPhase::Queued,
                _ => RunPhase::Running,
            };
        }
        TapeEvent::Run(RunEvent::Held { .. }) => {
            record.state = RunLifecycleState::InProgress;
            record.phase = RunPhase::Waiting(WaitReason::OutcomeUnknown);
        }
        TapeEvent::Tool(ToolEvent::EffectResolved { .. }) if !waits.has_doubt(record.run) => {
            if record.phase == RunPhase::Waiting(WaitReason::OutcomeUnknown) {
                record.phase = match record.state {
                    RunLifecycleState::Pending => RunPhase::Queued,
                    _ => RunPhase::Running,
                };
            }
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
        TapeEvent::Unknown { kind } if *kind < SKIPPABLE_FROM => {
            record.phase = RunPhase::Waiting(WaitReason::UnknownKind);
        }
        TapeEvent::Run(RunEvent::Finished(finished)) => {
            record.state = finished.state;
            record.phase = RunPhase::Finished;
            record.reason = Some(finished.reason);
            record.error = finished.error;
            (record.turns, record.tool_calls) = (finished.turns, finished.tool_calls);
            record.usage = finished.usage;
        }
        TapeEvent::Run(
            RunEvent::Started(_)
            | RunEvent::CancelRequested { .. }
            | RunEvent::ClientToolsOffered(_)
            | RunEvent::ClientToolsCalled(_)
            | RunEvent::ClientToolsAnswered(_)
            | RunEvent::SoftLimitNoted { .. },
        )
        | TapeEvent::Unknown { .. }
        | TapeEvent::Model(_)
        | TapeEvent::Tool(_)
        | TapeEvent::Approval(_) => {}
    }
}
