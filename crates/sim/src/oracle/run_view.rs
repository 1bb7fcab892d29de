//! One run, as its committed entries tell.
//!
//! Owns the tape, the machine and the transcript that follow from it, and where the run stands.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use palyra_context::transcript::Transcript;
use palyra_run_core::RunStateMachine;
use palyra_types::approval::{ApprovalState, ApprovalTerms, SeparationRule};
use palyra_types::effect::EffectResolution;
use palyra_types::event::{
    ApprovalEvent, ContextSource, ModelEvent, NextAttempt, RunEvent, TapeEvent, ToolEvent,
};
use palyra_types::model::ChatMessage;
use palyra_types::run::{InputDelivery, RunLifecycleState, RunPhase, TerminationReason, WaitReason};
use palyra_types::tape::OrchestratorTapeRecord;
use palyra_types::tool::EffectContract;
use palyra_types::{ApprovalId, Attempt, EffectId, PrincipalId, RunId, Seq, SessionId, TapeSeq};

use super::client_calls::ClientCallCheck;
use crate::fault::Phase;

/// One run.
pub(crate) struct RunView {
    run: RunId,
    session: SessionId,
    principal: PrincipalId,
    /// How many erasures there had been when it was accepted.
    erasures: u64,
    first_seq: Seq,
    delivery: InputDelivery,
    machine: RunStateMachine,
    tape: Vec<OrchestratorTapeRecord>,
    answer: Answer,
    /// Calls that were started: their contract, and whether they came to an outcome.
    started: BTreeMap<EffectId, (EffectContract, CallSettled)>,
    client: ClientCallCheck,
    approvals: BTreeMap<ApprovalId, TapeQuestion>,
    /// Calls whose outcome nobody knew: what a person said of them since.
    doubted: BTreeMap<EffectId, Option<EffectResolution>>,
    stopping: bool,
    ends_under_way: usize,
    active_left: Option<Duration>,
}

/// Counts of a run that only ever grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct RunSpending {
    tape_seq: TapeSeq,
    effect: EffectId,
}

/// A question to people, as the tape tells it.
pub(super) struct TapeQuestion {
    pub(super) state: ApprovalState,
    pub(super) terms: ApprovalTerms,
    /// Who said yes so far.
    pub(super) yes: BTreeSet<PrincipalId>,
}

/// What a model is asked for a run.
pub(super) enum ModelInput {
    /// Nothing.
    Nobody,
    /// All of it.
    Whole(Vec<ChatMessage>),
    /// Less than all of it.
    Part,
}

/// What is recorded of the answer that is awaited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    Silent,
    SilentAfterOutcome,
    Speaking,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CallSettled {
    No,
    Yes,
}

impl RunView {
    pub(super) fn new(first: &OrchestratorTapeRecord, delivery: InputDelivery, erasures: u64) -> Self {
        Self {
            run: first.run,
            session: first.session,
            principal: first.principal,
            erasures,
            first_seq: first.seq,
            delivery,
            machine: RunStateMachine::new(first.run, first.session, first.principal),
            tape: Vec::new(),
            answer: Answer::Silent,
            started: BTreeMap::new(),
            client: ClientCallCheck::default(),
            approvals: BTreeMap::new(),
            doubted: BTreeMap::new(),
            stopping: false,
            ends_under_way: 0,
            active_left: None,
        }
    }

    /// Takes the next entry; returns what is wrong with it.
    pub(super) fn take(&mut self, record: OrchestratorTapeRecord) -> Option<String> {
        let run = self.run;
        let due = TapeSeq(u32::try_from(self.tape.len()).unwrap_or(u32::MAX)).next();
        let wrong = if record.tape_seq != due {
            Some(format!("tape {run} has {} where {} was due", record.tape_seq.0, due.0))
        } else if self.state().is_terminal() {
            Some(format!("tape {run} goes on after its end: {:?}", record.event))
        } else if record.session != self.session {
            Some(format!("tape {run} has an entry of another session"))
        } else {
            None
        };
        if wrong.is_some() {
            return wrong;
        }
        let before = self.spent();
        self.machine.evolve(&record.event, record.time);
        let wrong = self.check_switch(&record.event).or_else(|| self.note(&record));
        let wrong =
            wrong.or_else(|| self.client.take(&record)).or_else(|| self.check_budget(before, &record));
        self.tape.push(record);
        wrong
    }

    fn note(&mut self, record: &OrchestratorTapeRecord) -> Option<String> {
        let run = self.run;
        match &record.event {
            TapeEvent::Model(ModelEvent::Requested(_)) => {
                self.answer = match self.answer {
                    Answer::SilentAfterOutcome => Answer::SilentAfterOutcome,
                    Answer::Silent | Answer::Speaking => Answer::Silent,
                };
            }
            TapeEvent::Model(ModelEvent::Text { .. } | ModelEvent::Reasoning { .. }) => {
                self.answer = Answer::Speaking;
            }
            TapeEvent::Model(ModelEvent::Message(_)) => self.answer = Answer::Silent,
            TapeEvent::Tool(ToolEvent::Proposed(proposed)) => {
                let answered = proposed.attempt != Attempt(0) || self.is_reference(proposed.effect);
                return (!answered)
                    .then(|| format!("tape {run} proposes {} before any answer", proposed.effect));
            }
            TapeEvent::Tool(ToolEvent::Started(started)) => {
                let effect = started.effect;
                let again = self.started.insert(effect, (started.contract, CallSettled::No));
                if again.is_some() {
                    return Some(format!("tape {run} starts call {effect} a second time"));
                }
            }
            TapeEvent::Tool(ToolEvent::Output(output)) => {
                let settled = self.started.get(&output.effect).map(|(_, settled)| *settled);
                let runs = settled == Some(CallSettled::No);
                return (!runs).then(|| format!("tape {run} shows {}, which does not run", output.effect));
            }
            TapeEvent::Tool(ToolEvent::Finished(finished)) => {
                self.answer = Answer::SilentAfterOutcome;
                return self.settle(finished.effect);
            }
            TapeEvent::Tool(ToolEvent::OutcomeUnknown { effect, .. }) => {
                self.answer = Answer::SilentAfterOutcome;
                self.doubted.insert(*effect, None);
                return self.settle(*effect);
            }
            TapeEvent::Tool(ToolEvent::EffectResolved { effect, resolution, .. }) => {
                if self.doubted.insert(*effect, Some(*resolution)) != Some(None) {
                    return Some(format!("tape {run} settles {effect}, which is in no doubt"));
                }
            }
            TapeEvent::Approval(
                ApprovalEvent::Requested(_) | ApprovalEvent::Voted(_) | ApprovalEvent::Resolved(_),
            ) => {
                return self.note_asking(record);
            }
            TapeEvent::Run(RunEvent::CancelRequested { .. }) => self.stopping = true,
            TapeEvent::Run(RunEvent::Finished(finished))
                if finished.reason == TerminationReason::InternalError =>
            {
                return Some(format!("run {run} ends by an error of the runtime"));
            }
            TapeEvent::Run(RunEvent::Finished(_)) => {
                let open = self.started.iter().find(|(_, (_, settled))| *settled == CallSettled::No);
                if self.approvals.values().any(|asked| asked.state == ApprovalState::Pending) {
                    return Some(format!("run {run} is over, and somebody is still asked"));
                }
                if let Some((effect, _)) = open {
                    return Some(format!("run {run} is over, and its call {effect} has no outcome"));
                }
            }
            TapeEvent::Run(_)
            | TapeEvent::Model(ModelEvent::AttemptAbandoned { .. } | ModelEvent::Switched { .. })
            | TapeEvent::Tool(ToolEvent::Decided(_))
            | TapeEvent::Approval(ApprovalEvent::GrantStored(_))
            | TapeEvent::Unknown { .. } => {}
        }
        None
    }

    /// Returns whether a call is that of a reference.
    fn is_reference(&self, effect: EffectId) -> bool {
        self.tape.iter().any(|entry| {
            if let TapeEvent::Run(RunEvent::ReferencesExpanded(expanded)) = &entry.event {
                expanded.calls().any(|call| call == effect)
            } else {
                false
            }
        })
    }

    /// Checks that a switch is recorded right before a request to another model than the one before, and no other one.
    fn check_switch(&self, event: &TapeEvent) -> Option<String> {
        let TapeEvent::Model(ModelEvent::Requested(requested)) = event else { return None };
        let asked = requested.model.expose();
        let before = self.tape.iter().rev().find_map(|entry| {
            if let TapeEvent::Model(ModelEvent::Requested(earlier)) = &entry.event {
                Some(earlier.model.expose())
            } else if let TapeEvent::Run(RunEvent::Started(started)) = &entry.event {
                Some(started.model.expose())
            } else {
                None
            }
        });
        let switched = self.tape.last().and_then(|entry| {
            if let TapeEvent::Model(ModelEvent::Switched { attempt, model, .. }) = &entry.event {
                Some((*attempt, model.expose()))
            } else {
                None
            }
        });
        let due = before.is_some_and(|before| before.is_some() && before != asked);
        let fits = switched == due.then_some((requested.attempt, asked));
        (!fits)
            .then(|| format!("tape {} asks {asked:?} after {before:?}, with {switched:?} before", self.run))
    }

    /// Takes note of a question, a yes that is not enough, or a decision.
    fn note_asking(&mut self, record: &OrchestratorTapeRecord) -> Option<String> {
        let run = self.run;
        if let TapeEvent::Approval(ApprovalEvent::Requested(asked)) = &record.event {
            let asking =
                TapeQuestion { state: ApprovalState::Pending, terms: asked.terms, yes: BTreeSet::new() };
            let again = self.approvals.insert(asked.approval, asking);
            return again.map(|_| format!("tape {run} asks {} a second time", asked.approval));
        }
        let (approval, state, by) = if let TapeEvent::Approval(ApprovalEvent::Voted(voted)) = &record.event {
            (voted.approval, ApprovalState::Pending, Some(voted.by))
        } else if let TapeEvent::Approval(ApprovalEvent::Resolved(resolved)) = &record.event {
            let by = resolved.by.filter(|_| resolved.state == ApprovalState::Approved);
            (resolved.approval, resolved.state, by)
        } else {
            return None;
        };
        let pending = |asked: &&mut TapeQuestion| asked.state == ApprovalState::Pending;
        let Some(asked) = self.approvals.get_mut(&approval).filter(pending) else {
            return Some(format!("tape {run} decides {approval} a second time"));
        };
        asked.state = state;
        let counted = by.is_none_or(|by| asked.yes.insert(by));
        let own = record.principal;
        if !counted {
            Some(format!("tape {run} counts one yes to {approval} twice"))
        } else if by == Some(own) && asked.terms.separation == SeparationRule::AnotherPerson {
            Some(format!("tape {run} takes the word of the one for whom it works on {approval}"))
        } else if state == ApprovalState::Approved && asked.yes.len() < asked.terms.needed as usize {
            Some(format!("tape {run} takes less people for enough on {approval}"))
        } else {
            None
        }
    }

    fn settle(&mut self, effect: EffectId) -> Option<String> {
        match self.started.get_mut(&effect) {
            Some((_, settled)) if *settled == CallSettled::No => {
                *settled = CallSettled::Yes;
                None
            }
            Some(_) => Some(format!("tape {} settles call {effect} a second time", self.run)),
            None => Some(format!("tape {} settles call {effect}, which was not started", self.run)),
        }
    }

    /// What was spent, as far as it only ever grows.
    fn spent(&self) -> RunSpending {
        RunSpending { tape_seq: self.machine.last_tape_seq(), effect: self.machine.next_effect() }
    }

    fn check_budget(&mut self, before: RunSpending, record: &OrchestratorTapeRecord) -> Option<String> {
        let left = self.machine.active_time_left(record.time);
        let risen = self.active_left.is_some_and(|earlier| left > earlier);
        self.active_left = Some(left);
        let limits = self.machine.limits();
        let asked = if let TapeEvent::Model(ModelEvent::Requested(requested)) = &record.event {
            requested.turn
        } else {
            0
        };
        if risen || self.spent() < before {
            Some(format!("run {} has more to spend than before", self.run))
        } else if asked > limits.turns_max {
            Some(format!("run {} takes turn {asked} of {}", self.run, limits.turns_max))
        } else {
            None
        }
    }

    /// Returns where it stands.
    pub(crate) fn phase(&self) -> Phase {
        match (self.machine.phase(), self.answer) {
            (RunPhase::Waiting(WaitReason::Approval), _) => Phase::Asked,
            (RunPhase::Finished | RunPhase::Waiting(_), _) => Phase::Idle,
            _ if self.stopping || self.ends_under_way > 0 => Phase::Ending,
            (RunPhase::Queued, _) => Phase::Queued,
            (RunPhase::Running, _) if self.machine.open_attempt().is_none() && self.is_a_tool_running() => {
                Phase::ToolRunning
            }
            (RunPhase::Running, _) if !self.machine.preparing().is_empty() => Phase::Preparing,
            (RunPhase::Running, Answer::Speaking) => Phase::Streaming,
            (RunPhase::Running, Answer::SilentAfterOutcome) => Phase::OutcomeToAnswer,
            (RunPhase::Running, Answer::Silent) => Phase::ModelWaiting,
        }
    }

    fn is_a_tool_running(&self) -> bool {
        self.started.values().any(|(_, settled)| *settled == CallSettled::No)
    }

    pub(super) fn approvals(&self) -> &BTreeMap<ApprovalId, TapeQuestion> {
        &self.approvals
    }

    /// Returns the calls whose outcome nobody knows.
    pub(super) fn doubts(&self) -> impl Iterator<Item = EffectId> {
        self.doubted.iter().filter(|(_, said)| said.is_none()).map(|(effect, _)| *effect)
    }

    /// Takes what a person says of a call once the run is over; returns whether it was in doubt.
    pub(super) fn settled_beside(&mut self, effect: EffectId, resolution: EffectResolution) -> bool {
        self.state().is_terminal() && self.doubted.insert(effect, Some(resolution)) == Some(None)
    }

    /// Returns what people said of such calls.
    pub(super) fn resolutions(&self) -> impl Iterator<Item = (EffectId, EffectResolution)> {
        self.doubted.iter().filter_map(|(effect, said)| said.map(|said| (*effect, said)))
    }

    pub(crate) fn state(&self) -> RunLifecycleState {
        self.machine.state()
    }

    pub(crate) fn machine(&self) -> &RunStateMachine {
        &self.machine
    }

    pub(crate) fn session(&self) -> SessionId {
        self.session
    }

    pub(crate) fn principal(&self) -> PrincipalId {
        self.principal
    }

    /// Returns how many erasures there had been when it was accepted.
    pub(super) fn erasures(&self) -> u64 {
        self.erasures
    }

    /// Returns whether its next model request does not fit under a budget.
    pub(crate) fn waits_for_budget(&self) -> bool {
        self.machine.phase() == RunPhase::Waiting(WaitReason::Budget)
    }

    /// Returns whether it waits for the end of a window, without anything that a person has to do.
    pub(super) fn waits_for_a_window(&self) -> bool {
        let latest = self.tape.iter().rev().find_map(|entry| match &entry.event {
            TapeEvent::Run(RunEvent::BudgetReached { resumes, .. }) => Some(*resumes),
            _ => None,
        });
        self.waits_for_budget() && latest.flatten().is_some()
    }

    pub(super) fn first_seq(&self) -> Seq {
        self.first_seq
    }

    pub(super) fn delivery(&self) -> InputDelivery {
        self.delivery
    }

    /// Returns what its latest request must have shown of it.
    pub(super) fn last_request(&self) -> ModelInput {
        let is_request = |entry: &OrchestratorTapeRecord| {
            matches!(entry.event, TapeEvent::Model(ModelEvent::Requested(_)))
        };
        let Some(at) = self.tape.iter().rposition(is_request) else { return ModelInput::Nobody };
        let shorter = |entry: &OrchestratorTapeRecord| {
            matches!(
                entry.event,
                TapeEvent::Model(ModelEvent::AttemptAbandoned { next: NextAttempt::ShorterContext, .. })
            )
        };
        if self.tape.iter().any(shorter) || self.tape[at..].iter().any(leaves_rounds_out) {
            return ModelInput::Part;
        }
        let mut transcript = Transcript::new(self.run);
        self.tape[..=at].iter().for_each(|entry| transcript.push(&entry.event, entry.time));
        ModelInput::Whole(transcript.messages(&jiff::tz::TimeZone::UTC))
    }

    /// Returns the entries committed so far.
    pub(crate) fn tape(&self) -> &[OrchestratorTapeRecord] {
        &self.tape
    }

    pub(super) fn is_stopping(&self) -> bool {
        self.stopping
    }

    pub(super) fn end_under_way(&mut self) {
        self.ends_under_way += 1;
    }

    pub(super) fn end_did_not_come(&mut self) {
        self.ends_under_way = self.ends_under_way.saturating_sub(1);
    }
}

/// Returns whether the window had no room for all rounds of a run.
fn leaves_rounds_out(entry: &OrchestratorTapeRecord) -> bool {
    let TapeEvent::Model(ModelEvent::Requested(requested)) = &entry.event else { return false };
    let mut rows = requested.context.sources.iter();
    rows.any(|row| row.source == ContextSource::Rounds && row.dropped > 0)
}
