//! The way of a call from the model's proposal to its start.
//!
//! Owns every decision on a call that is recorded, and the start that follows one. Invariant: nothing is executed
//! whose start is not recorded in the same decision, or was before a restart.

use palyra_types::effect::EffectPlan;
use palyra_types::event::{
    ApprovalAsk, DecidedBy, TapeEvent, ToolDecided, ToolEvent, ToolProposed, ToolStarted,
};
use palyra_types::tool::{DecisionReason, ToolConduct, ToolDecision, ToolVerdict};
use palyra_types::{Attempt, EffectId, Redacted};

use super::approval_prompt::{PromptSource, ask};
use super::step::Step;
use crate::grant::{ExecutionAttempt, Grant};
use crate::input::{Effect, JudgedCall};
use crate::tool_calls::CallState;

/// Told to the model when a run has used all its calls.
const NO_CALLS_LEFT: &str = "this run has used all the tool calls it may make";

/// Told to the model of a call that a stop of the daemon left without a decision.
const UNJUDGED: &str = "the daemon stopped before this call was judged";

/// A verdict on a call that has one already, or will get no other.
pub(super) struct CallRuling<'a> {
    pub(super) verdict: ToolVerdict,
    pub(super) reason: DecisionReason,
    pub(super) decided_by: DecidedBy,
    pub(super) explanation: Redacted<String>,
    /// What policy said for it; `None` when it was not asked again.
    pub(super) judged: Option<&'a ToolDecision>,
}

impl CallRuling<'_> {
    /// Makes a denial by policy, which the caller may put down to somebody else.
    pub(super) fn deny(reason: DecisionReason, explanation: Redacted<String>) -> Self {
        let (verdict, decided_by) = (ToolVerdict::Deny, DecidedBy::Policy);
        Self { verdict, reason, decided_by, explanation, judged: None }
    }
}

/// Records the proposals of an answer with the verdicts on them, and asks about those that can be asked at once.
/// `refused` overrules the verdicts of policy.
pub(super) fn record_calls(step: &mut Step, calls: &[JudgedCall], refused: Option<DecisionReason>) {
    let first = step.machine.tools.next_effect();
    for call in calls {
        record_call(step, call, refused);
    }
    for effect in (first.0..step.machine.tools.next_effect().0).map(EffectId) {
        let Some(call) = step.machine.tools.get(effect) else { continue };
        let unprepared = call.terms.conduct != ToolConduct::Prepared;
        if call.station == CallState::AwaitingPrompt
            && unprepared
            && let Some((_, Some(approval))) = call.ask
        {
            let binding = call.digest;
            ask(
                step,
                effect,
                &PromptSource { approval, binding, prepared: None, asked_again: "", reason: None },
            );
        }
    }
}

fn record_call(step: &mut Step, call: &JudgedCall, refused: Option<DecisionReason>) {
    let effect = step.machine.tools.next_effect();
    let attempt = step.machine.model.next_attempt().0.saturating_sub(1);
    step.record(TapeEvent::Tool(ToolEvent::Proposed(ToolProposed {
        effect,
        attempt: Attempt(attempt),
        call_digest: call.digest,
        tool: (&call.proposal.tool).into(),
        arguments: call.proposal.arguments.clone(),
        model_call_id: call.proposal.model_call_id.clone(),
    })));
    let judged = &call.decision;
    let ruling = match refused {
        Some(reason) => CallRuling {
            verdict: ToolVerdict::Deny,
            reason,
            decided_by: DecidedBy::Budget,
            explanation: NO_CALLS_LEFT.into(),
            judged: Some(judged),
        },
        None => CallRuling {
            verdict: judged.verdict,
            reason: judged.reason,
            decided_by: judged.grant.map_or(DecidedBy::Policy, DecidedBy::Grant),
            explanation: judged.explanation.clone(),
            judged: Some(judged),
        },
    };
    let ask = (ruling.verdict == ToolVerdict::Ask)
        .then_some(ApprovalAsk { approval: call.approval, terms: judged.approval });
    record_ruling(step, effect, ruling, ask);
}

/// Records another verdict on an open call; it is never to ask.
pub(super) fn rule(step: &mut Step, effect: EffectId, ruling: CallRuling<'_>) {
    record_ruling(step, effect, ruling, None);
}

pub(super) fn record_ruling(
    step: &mut Step,
    effect: EffectId,
    ruling: CallRuling<'_>,
    ask: Option<ApprovalAsk>,
) {
    let Some(call) = step.machine.tools.get(effect) else { return };
    let known = call.terms;
    let output_bytes_max = |judged: &ToolDecision| u64::try_from(judged.output_bytes_max).unwrap_or(u64::MAX);
    let CallRuling { verdict, reason, decided_by, explanation, judged } = ruling;
    step.record(TapeEvent::Tool(ToolEvent::Decided(ToolDecided {
        effect,
        verdict,
        reason,
        decided_by,
        policy_digest: judged.map_or(known.policy_digest, |judged| judged.policy_digest),
        contract: judged.map_or(known.contract, |judged| judged.contract),
        parallelism: judged.map_or(known.parallelism, |judged| judged.parallelism),
        deadline: judged.map_or(known.deadline, |judged| judged.deadline),
        output_bytes_max: judged.map_or(known.output_bytes_max, output_bytes_max),
        conduct: judged.map_or(known.conduct, |judged| judged.conduct),
        tool_version: judged.map_or(known.tool_version, |judged| judged.tool_version),
        risk: judged.map_or(known.risk, |judged| judged.risk),
        taints: judged.map_or(known.taints, |judged| judged.taints),
        ask,
        explanation,
        request: judged.map_or_else(Redacted::default, |judged| judged.request.clone()),
    })));
    if judged.is_some() {
        step.judged.insert(effect);
    }
}

/// Denies what was proposed and never judged, or judged and never asked. A journal that keeps a decision whole has
/// no such call; one that does not must not hold the run up for ever.
pub(super) fn deny_unjudged(step: &mut Step) {
    for effect in step.machine.tools.unjudged() {
        rule(step, effect, CallRuling::deny(DecisionReason::NoRulePermits, UNJUDGED.into()));
    }
}

impl Step {
    /// Starts every call whose turn it is and that needs no preparation. What was judged in an earlier step is judged
    /// again first: the rules, the settings and the grants of then may be gone.
    pub(super) fn start_tools(&mut self) {
        let unprepared = self.machine.unprepared_turns();
        let (now, late): (Vec<_>, Vec<_>) =
            unprepared.into_iter().partition(|effect| self.judged.contains(effect));
        for effect in now {
            self.start(effect, EffectPlan::default());
        }
        if !late.is_empty() {
            self.perform(Effect::Judge(late));
        }
    }

    /// Records that a call starts, and executes it; a question only waits from here on.
    pub(super) fn start(&mut self, effect: EffectId, plan: EffectPlan) {
        let Some(call) = self.machine.tools.get(effect) else { return };
        let (contract, deadline, conduct) = (call.terms.contract, call.terms.deadline, call.terms.conduct);
        self.record(TapeEvent::Tool(ToolEvent::Started(ToolStarted { effect, contract, deadline, plan })));
        match conduct {
            ToolConduct::Direct | ToolConduct::Prepared => self.execute(effect, ExecutionAttempt::First),
            ToolConduct::Question => {}
        }
    }

    /// Makes the grant of a started call. The only place where a [`Grant`] comes into being.
    pub(super) fn execute(&mut self, effect: EffectId, execution: ExecutionAttempt) {
        let machine = &self.machine;
        let Some(call) = machine.tools.get(effect).filter(|call| call.station == CallState::Started) else {
            return;
        };
        let grant = Grant {
            effect,
            run: machine.run,
            session: machine.session,
            principal: machine.principal,
            tool: call.tool.clone(),
            tool_version: call.terms.tool_version,
            arguments: call.arguments.clone(),
            workspace_root: machine.workspace_root.clone(),
            contract: call.terms.contract,
            plan: (*call.plan).clone(),
            execution,
            deadline: call.terms.deadline,
            output_bytes_max: usize::try_from(call.terms.output_bytes_max).unwrap_or(usize::MAX),
            taints: machine.taints(),
        };
        self.perform(Effect::Execute(grant));
    }
}
