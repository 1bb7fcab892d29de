//! A decision in the making: events are applied to a working copy as they are decided.

use std::time::Duration;

use palyra_types::Timestamp;
use palyra_types::effect::EffectPlan;
use palyra_types::event::{
    AbandonCause, Ask, Attested, ContentDigest, ContextPlan, DecidedBy, ModelMessage, ModelRequested,
    NextAttempt, RunFinished, TapeEvent, ToolDecided, ToolFinished, ToolProposed, ToolStarted,
};
use palyra_types::model::{ModelAnswer, ModelRef, TokenUsage, UsageSource};
use palyra_types::run::TerminationReason;
use palyra_types::tool::{
    ApprovalRiskLevel, DecisionReason, EffectContract, Isolation, Parallelism, Taints, ToolConduct,
    ToolExecutionOutcome, ToolExecutor, ToolVerdict,
};
use palyra_types::{EffectId, ErrorCode, Redacted};

use super::RunStateMachine;
use crate::grant::{Execution, Grant};
use crate::input::{Decision, Effect, JudgedCall};
use crate::model_call::OpenAttempt;
use crate::prompt::BYTES_PER_TOKEN_ESTIMATED;

/// Told to the person when a run ends before a model has seen what was said last.
const UNANSWERED_NOTE: &str = "; the last input was not answered";

/// A working copy of the machine with what was decided on it so far.
pub(super) struct Step {
    pub(super) machine: RunStateMachine,
    pub(super) now: Timestamp,
    pub(super) decision: Decision,
}

/// What comes after an attempt that is given up, and when.
#[derive(Debug, Clone, Copy)]
pub(super) struct Successor {
    pub(super) next: NextAttempt,
    pub(super) retry_at: Option<Timestamp>,
}

impl Successor {
    pub(super) const NONE: Self = Self::at_once(NextAttempt::None);

    pub(super) const fn at_once(next: NextAttempt) -> Self {
        Self { next, retry_at: None }
    }
}

impl Step {
    pub(super) fn new(machine: &RunStateMachine, now: Timestamp) -> Self {
        Self { machine: machine.clone(), now, decision: Decision::default() }
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
        successor: Successor,
        detail: Redacted<String>,
    ) {
        let Some(open) = self.machine.model.open() else { return };
        self.record(TapeEvent::ModelAttemptAbandoned {
            attempt: open.attempt,
            text_from: open.text_from,
            text_to: open.text_to,
            cause,
            next: successor.next,
            retry_at: successor.retry_at,
            detail,
        });
    }

    pub(super) fn finish(&mut self, reason: TerminationReason, error: Option<ErrorCode>, message: &str) {
        let mut message = message.to_owned();
        if !is_wanted(reason) && self.machine.heard.is_unanswered() {
            message.push_str(UNANSWERED_NOTE);
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
            message: Redacted::new(message),
        };
        self.record(TapeEvent::RunFinished(finished));
        self.perform(Effect::End);
    }

    pub(super) fn request_model(&mut self, plan: ContextPlan, model: ModelRef) {
        let attempt = self.machine.model.next_attempt();
        let turn = self.machine.model.next_turn();
        let requested = ModelRequested { attempt, turn, context: plan, model: Redacted::new(Some(model)) };
        self.record(TapeEvent::ModelRequested(requested));
        self.perform(Effect::CallModel { attempt });
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
            model: Redacted::new(Some(answered_by)),
            response_id: answer.response_id.clone(),
            continuation: answer.continuation.clone(),
        };
        self.record(TapeEvent::ModelMessage(message));
    }

    /// Records a proposal and the verdict on it. `refused` overrules the verdict of policy.
    pub(super) fn record_call(&mut self, call: &JudgedCall, refused: Option<DecisionReason>) {
        let effect = self.machine.tools.next_effect();
        let attempt = self.machine.model.next_attempt().0.saturating_sub(1);
        self.record(TapeEvent::ToolProposed(ToolProposed {
            effect,
            attempt: palyra_types::Attempt(attempt),
            call_digest: call.digest,
            tool: Redacted::new(call.proposal.tool.as_str().to_owned()),
            arguments: call.proposal.arguments.clone(),
            model_call_id: call.proposal.model_call_id.clone(),
        }));
        let judged = &call.decision;
        let (verdict, reason, decided_by, explanation) = match (refused, judged.verdict) {
            (Some(reason), _) => {
                let text = "this run has used all the tool calls it may make".into();
                (ToolVerdict::Deny, reason, DecidedBy::Budget, text)
            }
            // There is no way to ask anybody yet: an ask without an approval channel is a denial.
            (None, ToolVerdict::Ask) => {
                let text = "this call needs an approval, and no one can be asked".into();
                (ToolVerdict::Deny, DecisionReason::NoRulePermits, DecidedBy::Policy, text)
            }
            (None, verdict) => (verdict, judged.reason, DecidedBy::Policy, judged.explanation.clone()),
        };
        self.record(TapeEvent::ToolDecided(ToolDecided {
            effect,
            verdict,
            reason,
            decided_by,
            policy_digest: judged.policy_digest,
            contract: judged.contract,
            parallelism: judged.parallelism,
            deadline: judged.deadline,
            output_bytes_max: u64::try_from(judged.output_bytes_max).unwrap_or(u64::MAX),
            conduct: judged.conduct,
            tool_version: judged.tool_version,
            risk: judged.risk,
            taints: judged.taints,
            ask: (verdict == ToolVerdict::Ask)
                .then_some(Ask { approval: call.approval, terms: judged.approval }),
            explanation,
            request: judged.request.clone(),
        }));
    }

    /// Denies what was proposed and never judged. A journal that keeps a decision whole has no such call; one
    /// that does not must not hold the run up for ever.
    pub(super) fn deny_unjudged_calls(&mut self) {
        for effect in self.machine.tools.unjudged() {
            self.record(TapeEvent::ToolDecided(ToolDecided {
                effect,
                verdict: ToolVerdict::Deny,
                reason: DecisionReason::NoRulePermits,
                decided_by: DecidedBy::Policy,
                policy_digest: [0; 32],
                contract: EffectContract::Opaque,
                parallelism: Parallelism::Exclusive,
                deadline: Duration::ZERO,
                output_bytes_max: 0,
                conduct: ToolConduct::Direct,
                tool_version: 0,
                risk: ApprovalRiskLevel::Critical,
                taints: Taints::NONE,
                ask: None,
                explanation: "the daemon stopped before this call was judged".into(),
                request: Redacted::default(),
            }));
        }
    }

    /// Starts every call that may run now.
    pub(super) fn start_tools(&mut self) {
        let parallel_max = self.machine.limits().parallel_tools_max;
        let startable: Vec<_> = {
            let calls = self.machine.tools.startable(parallel_max);
            calls.iter().map(|(effect, call)| (*effect, call.terms)).collect()
        };
        for (effect, terms) in startable {
            self.record(TapeEvent::ToolStarted(ToolStarted {
                effect,
                contract: terms.contract,
                deadline: terms.deadline,
                plan: EffectPlan::default(),
            }));
            self.execute(effect);
        }
    }

    /// Makes the grant of a started call. The only place where a [`Grant`] comes into being.
    pub(super) fn execute(&mut self, effect: EffectId) {
        let machine = &self.machine;
        let Some((_, call)) = machine.tools.started().find(|(started, _)| *started == effect) else { return };
        let grant = Grant {
            effect,
            run: machine.run,
            session: machine.session,
            principal: machine.principal,
            tool: call.tool.clone(),
            arguments: call.arguments.clone(),
            workspace_root: machine.workspace_root.clone(),
            contract: call.terms.contract,
            plan: EffectPlan::default(),
            execution: Execution::First,
            deadline: call.terms.deadline,
            output_bytes_max: usize::try_from(call.terms.output_bytes_max).unwrap_or(usize::MAX),
        };
        self.perform(Effect::Execute(grant));
    }

    pub(super) fn record_outcome(
        &mut self,
        effect: EffectId,
        outcome: &ToolExecutionOutcome,
        output_digest: ContentDigest,
        duration: Duration,
    ) {
        self.record(TapeEvent::ToolFinished(ToolFinished {
            effect,
            attested: Attested::default(),
            failure: outcome.failure,
            output_digest,
            output_bytes_total: outcome.output_bytes_total,
            duration,
            executor: outcome.executor,
            isolation: outcome.isolation,
            output: outcome.output.clone(),
        }));
    }

    /// Settles a started call that nobody reported on, as a failure.
    pub(super) fn record_failure(
        &mut self,
        effect: EffectId,
        failure: ErrorCode,
        output: &str,
        duration: Duration,
    ) {
        let outcome = ToolExecutionOutcome {
            failure: Some(failure),
            output: output.into(),
            output_bytes_total: 0,
            executor: ToolExecutor::Internal,
            isolation: Isolation::DescriptorRelative,
        };
        self.record_outcome(effect, &outcome, ContentDigest::default(), duration);
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
        | TerminationReason::InternalError => false,
    }
}

/// Estimates what an answer cost where the provider did not say.
fn estimate_usage(answer: &ModelAnswer, open: &OpenAttempt) -> TokenUsage {
    let calls = answer.proposals.iter().map(|call| call.arguments.expose().len() as u64);
    let reasoning_tokens = open.reasoning_bytes.div_ceil(BYTES_PER_TOKEN_ESTIMATED);
    let said_tokens = (open.text_bytes + calls.sum::<u64>()).div_ceil(BYTES_PER_TOKEN_ESTIMATED);
    TokenUsage {
        input_tokens: open.context_tokens,
        output_tokens: said_tokens + reasoning_tokens,
        reasoning_tokens,
        source: UsageSource::Estimated,
        ..TokenUsage::default()
    }
}
