//! Decides what one run does next.
//!
//! Owns the run's lifecycle and its sub-machines: the model call, the tool calls, the budget, the loop guard.
//! Knows no clock, model or human: all of that arrives as [`RunInput`], and all work leaves as
//! [`Effect`](crate::Effect).
//!
//! Invariant: [`RunStateMachine::evolve`] is the only writer, so replaying a tape rebuilds the machine.
//! Begin at [`RunStateMachine::decide`].

use std::path::PathBuf;
use std::time::Duration;

use palyra_types::effect::OutputRest;
use palyra_types::event::{ModelEvent, RunEvent, TapeEvent, ToolEvent};
use palyra_types::run::{
    CancelReason, InputDelivery, RunLifecycleState, RunLimits, RunPhase, TerminationReason, WaitReason,
};
use palyra_types::{Attempt, PrincipalId, Redacted, RunId, SessionId, TapeSeq, Timestamp};

use crate::approvals::OpenApprovals;
use crate::budget::{Budget, RunActivity};
use crate::client_tools::ClientTools;
use crate::effects::EffectTracker;
use crate::input::{MachineDecision, RunInput};
use crate::loop_guard::LoopCounts;
use crate::model_call::ModelCall;
use crate::tool_calls::ToolCalls;
use steering::ReceivedInputs;

mod decide;
mod attempts;
mod calls;
mod client_calls;
mod references;
mod rejudging;
mod approval_prompt;
mod approvals;
mod effects;
mod steering;
mod proceed;
mod step;
mod queries;

pub use approvals::JudgementNeed;
pub use effects::{OUTPUT_PIECES_MAX, OUTPUT_SHOWN_BYTES_MAX};
pub use queries::RunConsumption;
pub use steering::UNANSWERED_INPUTS_MAX;

/// Kinds of journal entries from here on may be skipped by a version that does not know them.
const SKIPPABLE_KIND_MIN: u16 = 0x8000;

/// Why an input was not taken. Late inputs are normal; callers drop them or tell the sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// The run is over, or about to stop.
    #[error("the run is over")]
    Finished,
    /// The run does not wait for a person; or it has not begun, or will not hear anybody.
    #[error("the run does not wait for an answer")]
    NotWaiting,
    /// The input belongs to an attempt or effect that is no longer open.
    #[error("the input came too late")]
    Stale,
    /// Somebody decided this approval before, or there is none.
    #[error("the approval is decided")]
    ApprovalDecided,
    /// This person may not decide this approval, or has said yes already.
    #[error("this person may not decide it")]
    NotEligible,
    /// The arguments that a person wrote cannot run: policy denies them, the tool refuses them, or several people
    /// have to approve and saw others. The approval still waits.
    #[error("the edited arguments cannot run")]
    EditRefused,
    /// The outcome of this effect is known, or a person said it.
    #[error("the outcome of the effect is known")]
    EffectNotUnknown,
    /// The input does not fit the run's state: a bug of the caller.
    #[error("the input does not fit the run's state")]
    OutOfPlace,
}

/// One run, as far as its tape tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunStateMachine {
    run: RunId,
    session: SessionId,
    principal: PrincipalId,
    workspace_root: Redacted<PathBuf>,
    state: RunLifecycleState,
    accepted: AcceptedState,
    wait: Option<WaitReason>,
    /// When a run that waits for a budget may go on by itself.
    budget_resumes: Option<Timestamp>,
    held: HoldState,
    stopping: Option<CancelReason>,
    model: ModelCall,
    tools: ToolCalls,
    approvals: OpenApprovals,
    client: ClientTools,
    effects: EffectTracker,
    budget: Budget,
    loops: LoopCounts,
    received: ReceivedInputs,
    last: TapeSeq,
    finished_because: Option<TerminationReason>,
}

/// Whether the tape has its first entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AcceptedState {
    NotYet,
    Yes,
}

/// Whether what was under way is given up, and a person has not let the run go on yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HoldState {
    No,
    Yes,
}

impl RunStateMachine {
    /// Makes the machine of a run whose tape is empty.
    #[must_use]
    pub fn new(run: RunId, session: SessionId, principal: PrincipalId) -> Self {
        Self {
            run,
            session,
            principal,
            workspace_root: Redacted::default(),
            state: RunLifecycleState::Pending,
            accepted: AcceptedState::NotYet,
            wait: None,
            budget_resumes: None,
            held: HoldState::No,
            stopping: None,
            model: ModelCall::default(),
            tools: ToolCalls::default(),
            approvals: OpenApprovals::default(),
            client: ClientTools::default(),
            effects: EffectTracker::default(),
            budget: Budget::default(),
            loops: LoopCounts::default(),
            received: ReceivedInputs::default(),
            last: TapeSeq::default(),
            finished_because: None,
        }
    }

    /// Returns the events to record and the effects to perform for `input`, changing nothing.
    ///
    /// The caller feeds each event to [`evolve`](Self::evolve) on a working copy, appends them durably,
    /// and only then keeps the copy and performs the effects; a crash in between is repaired by replay.
    /// [`Effect::AssembleContext`](crate::Effect) is answered within the same step, before the append.
    ///
    /// # Errors
    /// [`RunError::Finished`] once the run is terminal: late inputs are normal, callers drop them.
    pub fn decide(&self, input: &RunInput, now: Timestamp) -> Result<MachineDecision, RunError> {
        decide::decide(self, input, now)
    }

    /// Takes one recorded event into account: the only way in which the machine changes.
    pub fn evolve(&mut self, event: &TapeEvent, time: Timestamp) {
        self.last = self.last.next();
        self.model.evolve(event, self.last, time);
        self.tools.evolve(event, time);
        self.approvals.evolve(event);
        self.client.evolve(event);
        self.effects.evolve(event);
        self.loops.evolve(event);
        self.received.evolve(event, self.last);
        match event {
            TapeEvent::Run(RunEvent::Started(started)) => {
                self.accepted = AcceptedState::Yes;
                self.workspace_root = started.workspace_root.clone();
            }
            TapeEvent::Model(ModelEvent::Requested(_)) => {
                self.state = RunLifecycleState::InProgress;
                if self.wait == Some(WaitReason::Budget) {
                    self.wait = None;
                }
            }
            // Its request would have begun it.
            TapeEvent::Run(RunEvent::BudgetReached { resumes, .. }) => {
                self.state = RunLifecycleState::InProgress;
                self.budget_resumes = *resumes;
                self.wait_for(Some(WaitReason::Budget));
            }
            // Its calls run before a model is asked.
            TapeEvent::Run(RunEvent::ReferencesExpanded(_)) => self.state = RunLifecycleState::InProgress,
            TapeEvent::Run(RunEvent::InputReceived { delivery, .. }) => match delivery {
                InputDelivery::Queue => {
                    self.held = HoldState::No;
                    self.wait_for(None);
                }
                // It does not answer a question that was not asked yet.
                InputDelivery::Steer | InputDelivery::Interrupt => {}
            },
            TapeEvent::Run(RunEvent::Held { .. }) => self.hold(),
            TapeEvent::Run(RunEvent::LoopDetected { .. }) => self.wait_for(Some(WaitReason::LoopCheck)),
            TapeEvent::Tool(ToolEvent::OutcomeUnknown { .. }) => {
                self.wait_for(Some(WaitReason::OutcomeUnknown));
            }
            TapeEvent::Tool(ToolEvent::EffectResolved { .. }) => self.lift_doubt(),
            TapeEvent::Run(RunEvent::CancelRequested { reason, .. }) => self.stopping = Some(*reason),
            TapeEvent::Run(RunEvent::Finished(finished)) => {
                self.state = finished.state;
                self.finished_because = Some(finished.reason);
            }
            TapeEvent::Unknown { kind } => {
                if *kind < SKIPPABLE_KIND_MIN {
                    self.wait = Some(WaitReason::UnknownKind);
                }
            }
            TapeEvent::Run(
                RunEvent::ClientToolsOffered(_)
                | RunEvent::ClientToolsCalled(_)
                | RunEvent::ClientToolsAnswered(_)
                | RunEvent::SoftLimitNoted { .. },
            )
            | TapeEvent::Model(_)
            | TapeEvent::Tool(_)
            | TapeEvent::Approval(_) => {}
        }
        self.budget.evolve(event, time, self.activity(time));
    }

    fn hold(&mut self) {
        if !self.state.is_terminal() {
            self.state = RunLifecycleState::InProgress;
            self.held = HoldState::Yes;
            self.wait_for(Some(WaitReason::OutcomeUnknown));
        }
    }

    /// Lets the run go on once a person has said of every effect what became of it.
    fn lift_doubt(&mut self) {
        let doubted = self.effects.unknown().next().is_some();
        if self.wait == Some(WaitReason::OutcomeUnknown) && self.held == HoldState::No && !doubted {
            self.wait = None;
        }
    }

    fn wait_for(&mut self, reason: Option<WaitReason>) {
        if !self.is_parked() {
            self.wait = reason;
        }
    }

    fn activity(&self, since: Timestamp) -> RunActivity {
        if self.phase() != RunPhase::Running {
            return RunActivity::Idle;
        }
        let under_way = self.tools.at_work().chain(self.preparing());
        match under_way.map(|(_, call)| call.terms.deadline).max() {
            Some(deadline_max) if self.model.open().is_none() => {
                RunActivity::Bounded { since, longest: deadline_max }
            }
            Some(_) | None => match self.model.retry() {
                Some(retry) => RunActivity::Bounded { since, longest: retry.at.since(since) },
                None => RunActivity::AtWork { since },
            },
        }
    }

    /// Returns the run's id.
    #[must_use]
    pub fn run(&self) -> RunId {
        self.run
    }

    /// Returns the lifecycle state.
    #[must_use]
    pub fn state(&self) -> RunLifecycleState {
        self.state
    }

    /// Returns why the run ended.
    #[must_use]
    pub fn finished_because(&self) -> Option<TerminationReason> {
        self.finished_because
    }

    /// Returns what clients see. A run waits only when nothing else can proceed.
    #[must_use]
    pub fn phase(&self) -> RunPhase {
        match self.state {
            RunLifecycleState::Pending if !self.is_parked() => RunPhase::Queued,
            RunLifecycleState::Done | RunLifecycleState::Cancelled | RunLifecycleState::Failed => {
                RunPhase::Finished
            }
            RunLifecycleState::Pending | RunLifecycleState::InProgress => match self.waiting_for() {
                Some(reason) => RunPhase::Waiting(reason),
                None => RunPhase::Running,
            },
        }
    }

    /// Returns the number of the last entry on the tape.
    #[must_use]
    pub fn last_tape_seq(&self) -> TapeSeq {
        self.last
    }

    /// Returns what the run may spend.
    #[must_use]
    pub fn limits(&self) -> RunLimits {
        self.budget.limits()
    }

    /// Returns the active time left at `now`; meaningful while the run is running.
    #[must_use]
    pub fn active_time_left(&self, now: Timestamp) -> Duration {
        self.budget.active_time_left(now)
    }

    /// Returns the attempt whose answer is awaited.
    #[must_use]
    pub fn open_attempt(&self) -> Option<Attempt> {
        self.model.open().map(|open| open.attempt)
    }

    /// Returns whether a part of the awaited answer has arrived.
    #[must_use]
    pub fn has_answer_begun(&self) -> bool {
        self.model.open().is_some_and(|open| open.text_bytes + open.reasoning_bytes > 0)
    }

    /// Returns the attempt after whose failure the run pauses before it asks again.
    #[must_use]
    pub fn pausing_after(&self) -> Option<Attempt> {
        self.model.retry().map(|retry| retry.after)
    }

    /// Returns the number of the last effect proposed so far, plus one.
    #[must_use]
    pub fn next_effect(&self) -> palyra_types::EffectId {
        self.tools.next_effect()
    }

    /// Returns whether a tool works at this effect: it was started and has no outcome.
    #[must_use]
    pub fn is_tool_running(&self, effect: palyra_types::EffectId) -> bool {
        self.tools.at_work().any(|(running, _)| running == effect)
    }

    /// Returns whether more of what this effect's tool prints would be shown.
    #[must_use]
    pub fn shows_output(&self, effect: palyra_types::EffectId) -> bool {
        let call = self.tools.at_work().find(|(running, _)| *running == effect);
        call.is_some_and(|(_, call)| call.shown.rest == OutputRest::Follows)
    }

    fn waiting_for(&self) -> Option<WaitReason> {
        if self.is_parked() || self.held == HoldState::Yes {
            return self.wait;
        }
        let busy = self.model.open().is_some()
            || self.tools.at_work().next().is_some()
            || !self.preparing().is_empty();
        if busy {
            return None;
        }
        let question = || (!self.tools.open_questions().is_empty()).then_some(WaitReason::Question);
        let approval = || self.tools.any_pending_approval().then_some(WaitReason::Approval);
        self.wait.or_else(question).or_else(approval).or_else(|| self.client.wait())
    }

    /// Returns whether the tape holds an entry that this version does not know. What it says may change
    /// anything, so nothing is done but to end the run when somebody asks for it.
    fn is_parked(&self) -> bool {
        self.wait == Some(WaitReason::UnknownKind)
    }
}

#[cfg(test)]
mod tests;
