//! Answers to approvals: who may give them, what they let happen, and what becomes of approvals that nobody answers.
//!
//! Invariant: an approval is resolved once; what an approved call starts with is what was asked, or what the person
//! wrote instead. Begin at [`answered`].

use palyra_types::approval::{
    ApprovalDecision, ApprovalState, ApprovalVoted, GrantBounds, GrantScope, StoredGrant, StoredGrantRequest,
    note_behind,
};
use palyra_types::effect::EffectPlan;
use palyra_types::event::{ApprovalEvent, DecidedBy, TapeEvent};
use palyra_types::tool::{DecisionReason, ToolConduct, ToolDecision, ToolVerdict};
use palyra_types::{ApprovalId, PrincipalId, Redacted, Timestamp};

use super::approval_prompt::{CHANGED, ask_again};
use super::calls::{CallRuling, rule};
use super::proceed::proceed;
use super::step::{ApprovalEnd, Step};
use super::{HoldState, RunError, RunStateMachine};
use crate::approvals::{PendingApproval, is_eligible};
use crate::input::{AnswerStage, JudgedAnswer};

const FOUND_CHANGED: &str = "what the call acts on has changed since the question";
pub(super) const TOOL_CHANGED: &str = "the tool changed after it was asked; the call may be proposed again";
const EXPIRED: &str = "no person answered the approval of this call in time";
const LOG_LOST: &str = "the end of the log is lost, so it is not known whether this call was approved and ran; it may \
                        be proposed again";

/// Whether an answer has to come with what would run, judged and prepared again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JudgementNeed {
    /// Yes: it may let the call run.
    Needed,
    /// No: a denial, or an answer that comes too late.
    NotNeeded,
}

/// Says whether an answer would be taken, and whether it has to be judged for that.
pub(super) fn judgement(
    machine: &RunStateMachine,
    approval: ApprovalId,
    by: PrincipalId,
    decision: ApprovalDecision,
    now: Timestamp,
) -> Result<JudgementNeed, RunError> {
    let pending = machine.approvals.get(approval).ok_or(RunError::ApprovalDecided)?;
    if machine.is_parked() || machine.held == HoldState::Yes {
        return Err(RunError::NotWaiting);
    }
    if pending.is_expired(now) {
        return Ok(JudgementNeed::NotNeeded);
    }
    if !is_eligible(pending.terms.separation, machine.principal, by) {
        return Err(RunError::NotEligible);
    }
    match decision {
        ApprovalDecision::Deny => Ok(JudgementNeed::NotNeeded),
        ApprovalDecision::Approve if pending.voters.contains(&by) => Err(RunError::NotEligible),
        ApprovalDecision::Approve => Ok(JudgementNeed::Needed),
    }
}

pub(super) fn admit_answer(
    machine: &RunStateMachine,
    stage: &AnswerStage,
    now: Timestamp,
) -> Result<(), RunError> {
    let answer = stage.answer();
    match judgement(machine, answer.approval, answer.by, answer.decision, now)? {
        JudgementNeed::NotNeeded => return Ok(()),
        JudgementNeed::Needed => {}
    }
    let pending = machine.approvals.get(answer.approval).ok_or(RunError::ApprovalDecided)?;
    let (Some(call), Some(JudgedAnswer { prepared, judged, .. })) =
        (machine.tools.get(pending.effect), stage.judged())
    else {
        return Err(RunError::OutOfPlace);
    };
    let denied = judged.verdict == ToolVerdict::Deny;
    if call.terms.conduct == ToolConduct::Prepared && !denied && prepared.is_none() {
        return Err(RunError::OutOfPlace);
    }
    let separation = judged.approval.separation;
    if judged.verdict == ToolVerdict::Ask && !is_eligible(separation, machine.principal, answer.by) {
        return Err(RunError::NotEligible);
    }
    // What one person writes is not what the others saw.
    let shared = needed(pending, judged) > 1;
    let impossible = matches!(prepared, Some(Err(_)));
    if answer.edited.is_some() && (denied || shared || impossible) {
        return Err(RunError::EditRefused);
    }
    Ok(())
}

pub(super) fn admit_expiry(
    machine: &RunStateMachine,
    approval: ApprovalId,
    now: Timestamp,
) -> Result<(), RunError> {
    let due = machine.approvals.get(approval).is_some_and(|pending| pending.is_expired(now));
    if due && !machine.is_parked() { Ok(()) } else { Err(RunError::Stale) }
}

/// Returns how many people have to say yes: as many as was asked for, or more when policy wants more by now.
fn needed(pending: &PendingApproval, judged: &ToolDecision) -> u32 {
    match judged.verdict {
        ToolVerdict::Ask => pending.terms.needed.max(judged.approval.needed),
        ToolVerdict::Allow | ToolVerdict::Deny => pending.terms.needed,
    }
}

/// Takes an answer that was admitted.
pub(super) fn answered(step: &mut Step, stage: &AnswerStage) {
    let answer = stage.answer();
    let Some(pending) = step.machine.approvals.get(answer.approval).cloned() else { return };
    if pending.is_expired(step.now) {
        expire(step, &pending);
        return;
    }
    match answer.decision {
        ApprovalDecision::Deny => {
            step.resolve(&pending, ApprovalEnd::by_person(ApprovalState::Denied, answer));
            let text = note_behind("a person denied this call", &answer.note);
            let decided_by = DecidedBy::Approval(pending.approval);
            let ruling = CallRuling {
                decided_by,
                judged: None,
                ..CallRuling::deny(DecisionReason::ApprovalDenied, text)
            };
            rule(step, pending.effect, ruling);
        }
        ApprovalDecision::Approve => {
            if let Some(judged) = stage.judged() {
                approve(step, &pending, judged);
            }
        }
    }
    proceed(step);
}

/// Weighs a yes: against what policy says now, against what would run now, and against how many are needed.
fn approve(step: &mut Step, pending: &PendingApproval, said: &JudgedAnswer) {
    let JudgedAnswer { answer, prepared, judged } = said;
    let Some(call) = step.machine.tools.get(pending.effect) else { return };
    let (effect, before) = (pending.effect, call.terms);
    if judged.verdict == ToolVerdict::Deny {
        let note = note_behind("policy denies this call now", &judged.explanation);
        step.resolve(pending, ApprovalEnd::by_nobody(ApprovalState::Denied, note));
        let ruling = CallRuling::deny(judged.reason, judged.explanation.clone());
        rule(step, effect, CallRuling { judged: Some(judged), ..ruling });
        return;
    }
    if (judged.tool_version, judged.conduct) != (before.tool_version, before.conduct) {
        withdraw_and_deny(step, pending, DecisionReason::Drifted, TOOL_CHANGED.into());
        return;
    }
    let plan = match (before.conduct, prepared) {
        (ToolConduct::Prepared, Some(Err(refusal))) => {
            let why = note_behind(FOUND_CHANGED, &refusal.message);
            withdraw_and_deny(step, pending, DecisionReason::NotPossible, why);
            return;
        }
        (ToolConduct::Prepared, Some(Ok(now)))
            if now.plan.binding != pending.binding && answer.edited.is_none() =>
        {
            step.resolve(pending, ApprovalEnd::by_nobody(ApprovalState::Withdrawn, CHANGED.into()));
            ask_again(step, effect, answer.fresh, now, judged);
            return;
        }
        (ToolConduct::Prepared, Some(Ok(now))) => Some(now.plan.clone()),
        (ToolConduct::Prepared, None) | (ToolConduct::Direct | ToolConduct::Question, _) => None,
    };
    if pending.voters.len() + 1 < needed(pending, judged) as usize {
        step.record(TapeEvent::Approval(ApprovalEvent::Voted(ApprovalVoted {
            approval: pending.approval,
            effect,
            by: answer.by,
            via: answer.via,
            note: answer.note.clone(),
        })));
        return;
    }
    let_run(step, pending, said, plan);
}

/// Records that enough people said yes, and starts the call if it is its turn: all in one commit.
fn let_run(step: &mut Step, pending: &PendingApproval, said: &JudgedAnswer, plan: Option<EffectPlan>) {
    let JudgedAnswer { answer, prepared, judged } = said;
    let effect = pending.effect;
    step.resolve(pending, ApprovalEnd::by_person(ApprovalState::Approved, answer));
    rule(
        step,
        effect,
        CallRuling {
            verdict: ToolVerdict::Allow,
            reason: DecisionReason::Approved,
            decided_by: DecidedBy::Approval(pending.approval),
            explanation: judged.explanation.clone(),
            judged: Some(judged),
        },
    );
    if let Some(requested) = &answer.remember {
        let prepared = prepared.as_ref().and_then(|prepared| prepared.as_ref().ok());
        let programs = prepared.and_then(|prepared| prepared.programs);
        store_grant(step, pending, answer.by, requested, programs);
    }
    let its_turn = step.machine.turns().iter().any(|(turn, _)| *turn == effect);
    if let Some(plan) = plan.filter(|_| its_turn) {
        step.start(effect, plan);
    }
}

/// Records a grant for calls like this one, bound to the files that this one runs.
fn store_grant(
    step: &mut Step,
    pending: &PendingApproval,
    by: PrincipalId,
    requested: &StoredGrantRequest,
    programs: Option<[u8; 32]>,
) {
    let Some(call) = step.machine.tools.get(pending.effect) else { return };
    let workspace = match requested.scope {
        GrantScope::Session(_) | GrantScope::Principal => Some(step.machine.workspace_root.clone()),
        GrantScope::Everywhere => None,
    };
    let tool_version = Some(call.terms.tool_version);
    let stored = StoredGrant {
        grant: requested.grant,
        principal: step.machine.principal,
        approval: pending.approval,
        granted_by: by,
        scope: requested.scope,
        expires: requested.expires,
        uses_max: requested.uses_max,
        tool: (&call.tool).into(),
        matcher: requested.matcher.clone(),
        bounds: GrantBounds { workspace, tool_version, programs },
    };
    step.record(TapeEvent::Approval(ApprovalEvent::GrantStored(stored)));
}

/// Takes note that an approval's time is over.
pub(super) fn expired(step: &mut Step, approval: ApprovalId) {
    if let Some(pending) = step.machine.approvals.get(approval).cloned() {
        expire(step, &pending);
    }
}

fn expire(step: &mut Step, pending: &PendingApproval) {
    step.resolve(pending, ApprovalEnd::by_nobody(ApprovalState::Expired, Redacted::default()));
    let ruling = CallRuling::deny(DecisionReason::ApprovalExpired, EXPIRED.into());
    rule(step, pending.effect, CallRuling { decided_by: DecidedBy::Approval(pending.approval), ..ruling });
    proceed(step);
}

/// Takes back every question and denies its call: the lost end of the log may hold an answer, and what it led to.
pub(super) fn give_up_all(step: &mut Step) {
    for pending in step.machine.approvals.iter().cloned().collect::<Vec<_>>() {
        withdraw_and_deny(step, &pending, DecisionReason::Drifted, LOG_LOST.into());
    }
}

fn withdraw_and_deny(
    step: &mut Step,
    pending: &PendingApproval,
    reason: DecisionReason,
    why: Redacted<String>,
) {
    step.resolve(pending, ApprovalEnd::by_nobody(ApprovalState::Withdrawn, why.clone()));
    rule(step, pending.effect, CallRuling::deny(reason, why));
}
