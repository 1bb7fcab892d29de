//! The last look of policy at a call that waited: for its turn, or for what it would do to be worked out.
//!
//! Owns what a changed verdict leads to. Invariant: nothing starts that was not judged in the same decision; a yes of a
//! person outlives everything but a denial, another tool, and a rule that wants more people by now.

use palyra_types::approval::SeparationRule;
use palyra_types::effect::EffectPlan;
use palyra_types::event::{ApprovalAsk, DecidedBy};
use palyra_types::tool::{ApprovalRiskLevel, DecisionReason, ToolDecision, ToolVerdict};
use palyra_types::{ApprovalId, EffectId};

use super::RunStateMachine;
use super::approval_prompt::{PromptSource, ask, ask_again};
use super::approvals::TOOL_CHANGED;
use super::calls::{CallRuling, record_ruling, rule};
use super::proceed::proceed;
use super::step::Step;
use crate::input::{PrepareRefusal, PreparedEffect, RejudgedCall};
use crate::tool_calls::{CallState, ToolCallState};

/// Why a call that was allowed is asked about.
const TIGHTENED: &str = "the rules, settings or grants changed while the call waited";

/// What becomes of a call that was allowed in an earlier step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CallStanding {
    /// It may start.
    Starts,
    /// A person has to be asked first.
    Asks,
    /// It was denied.
    Gone,
}

/// Returns whether the verdicts are those that the machine asked for.
pub(super) fn fits(machine: &RunStateMachine, calls: &[RejudgedCall]) -> bool {
    !machine.is_parked() && machine.unprepared_turns().iter().eq(calls.iter().map(|call| &call.effect))
}

/// Takes the verdicts of now on calls whose turn has come.
pub(super) fn judged(step: &mut Step, calls: &[RejudgedCall]) {
    for RejudgedCall { effect, decision, fresh } in calls {
        match look(step, *effect, decision) {
            CallStanding::Starts => {
                step.judged.insert(*effect);
            }
            CallStanding::Asks => {
                let Some(binding) = step.machine.tools.get(*effect).map(|call| call.digest) else { continue };
                let asking = PromptSource {
                    approval: *fresh,
                    binding,
                    prepared: None,
                    asked_again: TIGHTENED,
                    reason: None,
                };
                ask_by_now(step, *effect, decision, &asking);
            }
            CallStanding::Gone => {}
        }
    }
    proceed(step);
}

/// Takes what a call would do: the call starts, or a person is asked, or it cannot work, or it may not by now.
pub(super) fn prepared(
    step: &mut Step,
    effect: EffectId,
    prepared: &Result<PreparedEffect, PrepareRefusal>,
    judged: Option<&ToolDecision>,
    fresh: ApprovalId,
) {
    match (prepared, judged) {
        (Err(refusal), _) => {
            rule(step, effect, CallRuling::deny(DecisionReason::NotPossible, refusal.message.clone()));
        }
        (Ok(prepared), Some(judged)) => take_prepared(step, effect, prepared, judged, fresh),
        // It is not admitted.
        (Ok(_), None) => return,
    }
    proceed(step);
}

fn take_prepared(
    step: &mut Step,
    effect: EffectId,
    prepared: &PreparedEffect,
    judged: &ToolDecision,
    fresh: ApprovalId,
) {
    let Some(call) = step.machine.tools.get(effect) else { return };
    let (station, bound, approved) = (call.station, call.binding, is_approved(call));
    let wanted = call.ask.and_then(|(_, approval)| approval);
    let binding = prepared.plan.binding;
    match look(step, effect, judged) {
        CallStanding::Gone => {}
        // Nothing would run, so there is nothing to ask; what may be a secret is not compared without a yes.
        CallStanding::Starts | CallStanding::Asks
            if station == CallState::AwaitingPrompt
                && !prepared.unchanged.expose().is_empty()
                && judged.risk < ApprovalRiskLevel::High =>
        {
            rule(step, effect, CallRuling::deny(DecisionReason::NotPossible, prepared.unchanged.clone()));
        }
        CallStanding::Starts | CallStanding::Asks if station == CallState::AwaitingPrompt => {
            let approval = wanted.unwrap_or(fresh);
            ask(
                step,
                effect,
                &PromptSource { approval, binding, prepared: Some(prepared), asked_again: "", reason: None },
            );
        }
        CallStanding::Starts if approved && binding != bound => {
            ask_again(step, effect, fresh, prepared, judged);
        }
        // No question showed what it changes.
        CallStanding::Starts if !approved && !prepared.plan.pre_images.is_empty() => {
            step.start(effect, EffectPlan { preview: prepared.preview.clone(), ..prepared.plan.clone() });
        }
        CallStanding::Starts => step.start(effect, prepared.plan.clone()),
        CallStanding::Asks => {
            let asking = PromptSource {
                approval: fresh,
                binding,
                prepared: Some(prepared),
                asked_again: TIGHTENED,
                reason: None,
            };
            ask_by_now(step, effect, judged, &asking);
        }
    }
}

fn is_approved(call: &ToolCallState) -> bool {
    matches!(call.terms.decided_by, DecidedBy::Approval(_))
}

/// Compares the verdict of now with the one that the call stands on, and records what differs.
fn look(step: &mut Step, effect: EffectId, judged: &ToolDecision) -> CallStanding {
    let Some(call) = step.machine.tools.get(effect) else { return CallStanding::Gone };
    let (before, approved) = (call.terms, is_approved(call));
    if judged.verdict == ToolVerdict::Deny {
        let ruling = CallRuling::deny(judged.reason, judged.explanation.clone());
        rule(step, effect, CallRuling { judged: Some(judged), ..ruling });
        return CallStanding::Gone;
    }
    if (judged.tool_version, judged.conduct) != (before.tool_version, before.conduct) {
        rule(step, effect, CallRuling::deny(DecisionReason::Drifted, TOOL_CHANGED.into()));
        return CallStanding::Gone;
    }
    match judged.verdict {
        ToolVerdict::Ask if approved && !wants_more(call, judged) => CallStanding::Starts,
        ToolVerdict::Ask => CallStanding::Asks,
        ToolVerdict::Deny => CallStanding::Gone,
        ToolVerdict::Allow if approved || call.station == CallState::AwaitingPrompt => CallStanding::Starts,
        ToolVerdict::Allow => {
            stand_on(step, effect, judged);
            CallStanding::Starts
        }
    }
}

/// Records what allows a call by now, when that is something else than before. A grant is used once for a call.
fn stand_on(step: &mut Step, effect: EffectId, judged: &ToolDecision) {
    let Some(call) = step.machine.tools.get(effect) else { return };
    let decided_by = judged.grant.map_or(DecidedBy::Policy, DecidedBy::Grant);
    let same_grant = judged.grant.is_some() && decided_by == call.terms.decided_by;
    let same_rules = (decided_by, judged.policy_digest) == (call.terms.decided_by, call.terms.policy_digest);
    if !same_grant && !same_rules {
        let explanation = judged.explanation.clone();
        let (verdict, reason, judged) = (ToolVerdict::Allow, judged.reason, Some(judged));
        rule(step, effect, CallRuling { verdict, reason, decided_by, explanation, judged });
    }
}

/// Whether a rule wants more of an approval by now than the one that was given had to have.
fn wants_more(call: &ToolCallState, judged: &ToolDecision) -> bool {
    let had = call.ask.map(|(terms, _)| terms).unwrap_or_default();
    let other_person = |separation| matches!(separation, SeparationRule::AnotherPerson);
    judged.approval.needed > had.needed
        || (other_person(judged.approval.separation) && !other_person(had.separation))
        || (judged.approval.approvers.is_some() && judged.approval.approvers != had.approvers)
}

/// Records that a call which was allowed has to be asked about by now, and asks.
fn ask_by_now(step: &mut Step, effect: EffectId, judged: &ToolDecision, asking: &PromptSource<'_>) {
    let ruling = CallRuling {
        verdict: ToolVerdict::Ask,
        reason: judged.reason,
        decided_by: DecidedBy::Policy,
        explanation: judged.explanation.clone(),
        judged: Some(judged),
    };
    let wanted = ApprovalAsk { approval: asking.approval, terms: judged.approval };
    record_ruling(step, effect, ruling, Some(wanted));
    ask(step, effect, asking);
}
