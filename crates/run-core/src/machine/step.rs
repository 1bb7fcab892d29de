//! A decision in the making: events are applied to a working copy as they are decided.

use std::collections::BTreeSet;

use palyra_types::approval::{ApprovalResolved, ApprovalState};
use palyra_types::event::{
    AbandonCause, ApprovalEvent, ContentDigest, ContextPlan, ModelEvent, ModelMessage, ModelRequested,
    ModelRouting, NextAttempt, RunEvent, RunFinished, TapeEvent,
};
use palyra_types::model::{FinishReason, ModelAnswer, ModelRef, TokenUsage};
use palyra_types::run::{Surface, TerminationReason, WaitReason};
use palyra_types::{EffectId, ErrorCode, PrincipalId, Redacted, Timestamp};

use super::RunStateMachine;
use crate::approvals::PendingApproval;
use crate::budget::TOKENS_USED_UP;
use crate::input::{ApprovalAnswer, BudgetOutcome, BudgetRefusal, Effect, MachineDecision};
use crate::model_call::OpenAttempt;

/// Told to the person when a run ends before a model has seen what was said last.
const UNANSWERED_NOTE: &str = "; the last input was not answered";

/// A working copy of the machine with what was decided on it so far.
pub(super) struct Step {
    pub(super) machine: RunStateMachine,
    pub(super) now: Timestamp,
    pub(super) decision: MachineDecision,
    /// Calls that were judged with the policy of now, in this very decision.
    pub(super) judged: BTreeSet<EffectId>,
}

/// How an approval ends.
pub(super) struct ApprovalEnd {
    state: ApprovalState,
    who: Option<(PrincipalId, Surface)>,
    edited: Option<(Redacted<String>, ContentDigest)>,
    note: Redacted<String>,
}

impl ApprovalEnd {
    pub(super) fn by_person(state: ApprovalState, answer: &ApprovalAnswer) -> Self {
        let edited = answer.edited.clone().filter(|_| state == ApprovalState::Approved);
        Self { state, who: Some((answer.by, answer.via)), edited, note: answer.note.clone() }
    }

    pub(super) fn by_nobody(state: ApprovalState, note: Redacted<String>) -> Self {
        Self { state, who: None, edited: None, note }
    }
}

/// What comes after an attempt that is given up, and when.
#[derive(Debug, Clone, Copy)]
pub(super) struct NextAttemptPlan {
    pub(super) next: NextAttempt,
    pub(super) retry_at: Option<Timestamp>,
}

impl NextAttemptPlan {
    pub(super) const NONE: Self = Self::at_once(NextAttempt::None);

    pub(super) const fn at_once(next: NextAttempt) -> Self {
        Self { next, retry_at: None }
    }
}

impl Step {
    pub(super) fn new(machine: &RunStateMachine, now: Timestamp) -> Self {
        Self { machine: machine.clone(), now, decision: MachineDecision::default(), judged: BTreeSet::new() }
    }

    /// Records an event: on the working copy and in the decision.
    pub(super) fn record(&mut self, event: TapeEvent) {
        self.machine.evolve(&event, self.now);
        self.decision.events.push(event);
    }

    pub(super) fn perform(&mut self, effect: Effect) {
        self.decision.effects.push(effect);
    }

    pub(super) fn abandon_open_attempt(
        &mut self,
        cause: AbandonCause,
        successor: NextAttemptPlan,
        detail: Redacted<String>,
    ) {
        let Some(open) = self.machine.model.open() else { return };
        self.record(TapeEvent::Model(ModelEvent::AttemptAbandoned {
            attempt: open.attempt,
            text_from: open.text_from,
            text_to: open.text_to,
            cause,
            next: successor.next,
            retry_at: successor.retry_at,
            detail,
        }));
    }

    /// Records that an approval is decided.
    pub(super) fn resolve(&mut self, pending: &PendingApproval, resolution: ApprovalEnd) {
        let (edited, edited_digest) = resolution.edited.unzip();
        self.record(TapeEvent::Approval(ApprovalEvent::Resolved(ApprovalResolved {
            approval: pending.approval,
            effect: pending.effect,
            state: resolution.state,
            by: resolution.who.map(|(by, _)| by),
            via: resolution.who.map(|(_, via)| via),
            edited_digest: edited_digest.unwrap_or_default(),
            edited,
            note: resolution.note,
        })));
    }

    /// Takes back every question, because the run will not go on.
    pub(super) fn withdraw_all(&mut self, why: &'static str) {
        for pending in self.machine.approvals.iter().cloned().collect::<Vec<_>>() {
            self.resolve(&pending, ApprovalEnd::by_nobody(ApprovalState::Withdrawn, why.into()));
        }
    }

    pub(super) fn finish(
        &mut self,
        reason: TerminationReason,
        error: Option<ErrorCode>,
        message: impl Into<Redacted<String>>,
    ) {
        self.withdraw_all("the run ended");
        let mut message = message.into();
        if !is_wanted(reason) && self.machine.received.is_unanswered() {
            message.push(&UNANSWERED_NOTE.into());
        }
        let budget = &self.machine.budget;
        let finished = RunFinished {
            state: reason.state(),
            reason,
            error,
            turns: budget.turns(),
            tool_calls: budget.tool_calls(),
            usage: budget.usage(),
            active_time: budget.active_time(self.now),
            message,
        };
        self.record(TapeEvent::Run(RunEvent::Finished(finished)));
        self.perform(Effect::End);
    }

    pub(super) fn request_model(&mut self, plan: ContextPlan, model: ModelRef, routing: ModelRouting) {
        let attempt = self.machine.model.next_attempt();
        let turn = self.machine.model.next_turn();
        if let Some(passed_over) = self.machine.model.switch_to(&model) {
            let passed_over = if routing.reasons.is_empty() { passed_over } else { routing.too_small() };
            let passed_over = u32::try_from(passed_over).unwrap_or(u32::MAX);
            let model = Some(model.clone()).into();
            self.record(TapeEvent::Model(ModelEvent::Switched { attempt, passed_over, model }));
        }
        let requested = ModelRequested { attempt, turn, context: plan, model: Some(model).into(), routing };
        self.record(TapeEvent::Model(ModelEvent::Requested(requested)));
        self.perform(Effect::CallModel { attempt });
    }

    /// Waits or ends, because budgets do not allow the next request. A run that waits for the same time notes it once.
    pub(super) fn stop_at_budget(&mut self, refusal: &BudgetRefusal) {
        let resumes = match refusal.outcome {
            BudgetOutcome::Wait { resumes } => resumes,
            BudgetOutcome::Refuse(code) => {
                self.finish(TerminationReason::OverBudget, Some(code), refusal.explanation.clone());
                return;
            }
        };
        let waits = self.machine.wait == Some(WaitReason::Budget);
        if waits && self.machine.budget_resumes == resumes {
            return;
        }
        let explanation = refusal.explanation.clone();
        self.record(TapeEvent::Run(RunEvent::BudgetReached { resumes, explanation }));
    }

    /// Notes the soft limits that the open request takes budgets above.
    pub(super) fn note_soft_limits(&mut self, passed: &[Redacted<String>]) {
        for explanation in passed {
            self.record(TapeEvent::Run(RunEvent::SoftLimitNoted { explanation: explanation.clone() }));
        }
    }

    pub(super) fn record_message(&mut self, answer: &ModelAnswer, model: &ModelRef) {
        let Some(open) = self.machine.model.open() else { return };
        let answered_by = ModelRef { provider: model.provider.clone(), model: answer.answered_by.clone() };
        let message = ModelMessage {
            attempt: open.attempt,
            text_from: open.text_from,
            text_to: open.text_to,
            proposals: u32::try_from(answer.proposals.len()).unwrap_or(u32::MAX),
            finish: answer.finish,
            usage: answer.usage.unwrap_or_else(|| estimate_usage(answer, &open)),
            model: Some(answered_by).into(),
            response_id: answer.response_id.clone(),
            continuation: answer.continuation.clone(),
        };
        self.record(TapeEvent::Model(ModelEvent::Message(message)));
    }

    /// Ends the open answer where the model has written more than the run may, and the run with it. What was received
    /// stays on the tape as an answer that was cut off.
    pub(super) fn end_at_token_limit(&mut self) {
        let Some(open) = self.machine.model.open() else { return };
        let usage = open.estimated_usage(0);
        if usage.output_tokens <= self.machine.budget.output_tokens_left() {
            return;
        }
        self.perform(Effect::AbortModel { attempt: open.attempt });
        self.record(TapeEvent::Model(ModelEvent::Message(ModelMessage {
            attempt: open.attempt,
            text_from: open.text_from,
            text_to: open.text_to,
            proposals: 0,
            finish: FinishReason::Length,
            usage,
            model: self.machine.model.model().cloned().into(),
            response_id: Redacted::default(),
            continuation: None,
        })));
        self.finish(TerminationReason::TurnLimit, Some(ErrorCode::TurnLimit), TOKENS_USED_UP);
    }
}

/// Returns whether a run ended by what somebody asked for, so that nobody has to be told what it left.
fn is_wanted(reason: TerminationReason) -> bool {
    match reason {
        TerminationReason::FinalAnswer
        | TerminationReason::Cancelled
        | TerminationReason::Interrupted
        | TerminationReason::LoopStopped => true,
        TerminationReason::TimeLimit
        | TerminationReason::TurnLimit
        | TerminationReason::ToolLimit
        | TerminationReason::ProviderError
        | TerminationReason::ContextExhausted
        | TerminationReason::ContentPolicy
        | TerminationReason::InternalError
        | TerminationReason::OverBudget => false,
    }
}

/// Estimates what an answer cost where the provider did not say.
fn estimate_usage(answer: &ModelAnswer, open: &OpenAttempt) -> TokenUsage {
    open.estimated_usage(answer.proposals.iter().map(|call| call.arguments.expose().len() as u64).sum())
}
