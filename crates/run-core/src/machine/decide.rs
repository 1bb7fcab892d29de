//! One function per input. What follows once it is recorded is [`super::proceed`]'s.

use palyra_types::event::{AbandonCause, ModelEvent, RunEvent, TapeEvent, ToolEvent, UnknownOutcomeCause};
use palyra_types::model::{FinishReason, ModelAnswer, ModelRef};
use palyra_types::run::{CancelReason, RunLifecycleState, TerminationReason, WaitReason};
use palyra_types::tool::DecisionReason;
use palyra_types::{ErrorCode, PrincipalId, Redacted, Timestamp};

use super::attempts::{self, ProviderFailure};
use super::proceed::{ask_model, may_ask_model, proceed};
use super::step::{NextAttemptPlan, Step};
use super::{
    AcceptedState, HoldState, RunError, RunStateMachine, approvals, calls, client_calls, effects, references,
    rejudging, steering,
};
use crate::budget::TOKENS_USED_UP;
use crate::input::{Effect, JudgedCall, MachineDecision, RunInput};

/// Told to the person when the model ran out of room.
const CUT_OFF_MESSAGE: &str = "the answer was cut off at the model's output limit";

pub(super) fn decide(
    machine: &RunStateMachine,
    input: &RunInput,
    now: Timestamp,
) -> Result<MachineDecision, RunError> {
    admit(machine, input, now)?;
    let mut step = Step::new(machine, now);
    take(&mut step, input);
    // Nothing was taken up again since a restart.
    let known = if matches!(input, RunInput::Recovered) { Vec::new() } else { machine.intents() };
    for intent in step.machine.intents() {
        if !known.contains(&intent) {
            step.perform(Effect::Prepare(intent));
        }
    }
    Ok(step.decision)
}

/// Refuses what is late, what nobody waits for, and what does not fit.
fn admit(machine: &RunStateMachine, input: &RunInput, now: Timestamp) -> Result<(), RunError> {
    if machine.state.is_terminal() {
        let asked = matches!(input, RunInput::ApprovalAnswered(_));
        return Err(if asked { RunError::ApprovalDecided } else { RunError::Finished });
    }
    let accepted = machine.accepted == AcceptedState::Yes;
    if accepted == matches!(input, RunInput::Start(_)) {
        return Err(RunError::OutOfPlace);
    }
    let (fits, refusal) = match input {
        RunInput::Begin => (machine.state == RunLifecycleState::Pending, RunError::OutOfPlace),
        RunInput::ContextReady { model, .. } => {
            (may_ask_model(machine) && machine.model.may_ask(model), RunError::OutOfPlace)
        }
        RunInput::ContextTooLarge | RunInput::OverBudget(_) => (may_ask_model(machine), RunError::OutOfPlace),
        RunInput::SoftLimitsPassed(_) => (machine.model.open().is_some(), RunError::OutOfPlace),
        RunInput::BudgetDue(_) => {
            let waits = machine.waiting_for() == Some(WaitReason::Budget);
            (waits && may_ask_model(machine), RunError::NotWaiting)
        }
        RunInput::ReferencesExpanded(inputs) => (references::fits(machine, inputs), RunError::OutOfPlace),
        RunInput::Answered { answer, calls, .. } if !is_judged(machine, answer, calls) => {
            (false, RunError::OutOfPlace)
        }
        RunInput::Text { attempt, .. }
        | RunInput::Reasoning { attempt, .. }
        | RunInput::Answered { attempt, .. }
        | RunInput::ModelFailed { attempt, .. } => {
            (!machine.is_parked() && machine.model.is_open(*attempt), RunError::Stale)
        }
        RunInput::RetryDue { attempt } => {
            let pauses = machine.model.retry().is_some_and(|retry| retry.after == *attempt);
            (!machine.is_parked() && pauses, RunError::Stale)
        }
        RunInput::ToolPrinted { effect, .. }
        | RunInput::ToolFinished { effect, .. }
        | RunInput::ToolOutcomeLost { effect, .. } => {
            (!machine.is_parked() && machine.is_tool_running(*effect), RunError::Stale)
        }
        RunInput::Input { idempotency, .. } => return steering::admit_answer(machine, *idempotency),
        RunInput::Steer { idempotency, .. } => return steering::admit_steering(machine, *idempotency),
        RunInput::ToolPrepared { effect, prepared, judged, .. } => {
            let awaited = machine.preparing().iter().any(|(preparing, _)| preparing == effect);
            let unjudged = prepared.is_ok() && judged.is_none();
            (awaited && !unjudged, if awaited { RunError::OutOfPlace } else { RunError::Stale })
        }
        RunInput::OfferClientTools(_) => return client_calls::admit_offer(machine),
        RunInput::ClientToolsAnswered(results) => return client_calls::admit_results(machine, results),
        RunInput::ClientWaitExpired => return client_calls::admit_expiry(machine, now),
        RunInput::Judged(calls) => (rejudging::fits(machine, calls), RunError::OutOfPlace),
        RunInput::ApprovalAnswered(answer) => return approvals::admit_answer(machine, answer, now),
        RunInput::ApprovalExpired { approval } => return approvals::admit_expiry(machine, *approval, now),
        RunInput::EffectResolved { effect, .. } => {
            (!machine.is_parked() && machine.effects.is_unknown(*effect), RunError::EffectNotUnknown)
        }
        RunInput::Start(_) | RunInput::Cancel { .. } | RunInput::Recovered | RunInput::Broken => {
            (true, RunError::OutOfPlace)
        }
    };
    if fits { Ok(()) } else { Err(refusal) }
}

/// Returns whether each proposal of an answer is judged; calls that the client performs have no verdict.
fn is_judged(machine: &RunStateMachine, answer: &ModelAnswer, calls: &[JudgedCall]) -> bool {
    if machine.client.is_offered() { calls.is_empty() } else { answer.proposals.len() == calls.len() }
}

fn take(step: &mut Step, input: &RunInput) {
    match input {
        RunInput::OfferClientTools(_) | RunInput::ClientToolsAnswered(_) => step.take_of_client(input),
        RunInput::ClientWaitExpired => cancel(step, step.machine.principal, CancelReason::ClientToolExpired),
        RunInput::Start(started) => step.record(TapeEvent::Run(RunEvent::Started((**started).clone()))),
        RunInput::Begin => proceed(step),
        RunInput::ContextReady { plan, model, routing } => {
            let same = step.machine.model.model().is_none_or(|wanted| wanted == model);
            let limit = step.machine.model.tried().shorter_than.filter(|_| same);
            if limit.is_some_and(|limit| plan.tokens_estimated >= limit) {
                attempts::nothing_to_leave_out(step);
            } else {
                step.request_model(plan.clone(), model.clone(), routing.clone());
            }
        }
        RunInput::SoftLimitsPassed(passed) => step.note_soft_limits(passed),
        RunInput::OverBudget(refusal) => step.stop_at_budget(refusal),
        RunInput::BudgetDue(_) => ask_model(step),
        RunInput::ContextTooLarge => step.finish(
            TerminationReason::ContextExhausted,
            Some(ErrorCode::ContextExhausted),
            "the input is, with instructions and tools, larger than the window of every model that may be asked",
        ),
        RunInput::ReferencesExpanded(inputs) => step.expand_references(inputs),
        RunInput::Text { attempt, text } => {
            if !text.expose().is_empty() {
                step.record(TapeEvent::Model(ModelEvent::Text { attempt: *attempt, text: text.clone() }));
                step.end_at_token_limit();
            }
        }
        RunInput::Reasoning { attempt, text } => {
            if !text.expose().is_empty() {
                step.record(TapeEvent::Model(ModelEvent::Reasoning {
                    attempt: *attempt,
                    text: text.clone(),
                }));
                step.end_at_token_limit();
            }
        }
        RunInput::Answered { answer, model, calls, .. } => answered(step, answer, model, calls),
        RunInput::ModelFailed { class, detail, retry_after, .. } => {
            attempts::failed(step, &ProviderFailure { class: *class, detail, retry_after: *retry_after });
        }
        RunInput::RetryDue { .. } => ask_model(step),
        RunInput::ToolPrinted { effect, text, rest } => effects::show_output(step, *effect, text, *rest),
        RunInput::ToolFinished { effect, outcome, output_digest, duration } => {
            effects::record_outcome(step, *effect, outcome, *output_digest, *duration);
            proceed(step);
        }
        RunInput::ToolOutcomeLost { effect, cause } => {
            effects::tool_lost(step, *effect, *cause);
            proceed(step);
        }
        RunInput::Input { input, idempotency } | RunInput::Steer { input, idempotency } => {
            steering::hear(step, input, *idempotency);
        }
        RunInput::ToolPrepared { effect, prepared, judged, fresh } => {
            rejudging::prepared(step, *effect, prepared, judged.as_deref(), *fresh);
        }
        RunInput::Judged(calls) => rejudging::judged(step, calls),
        RunInput::ApprovalAnswered(answer) => approvals::answered(step, answer),
        RunInput::ApprovalExpired { approval } => approvals::expired(step, *approval),
        RunInput::EffectResolved { effect, resolution, by, note } => {
            let (effect, resolution, by, note) = (*effect, *resolution, *by, note.clone());
            step.record(TapeEvent::Tool(ToolEvent::EffectResolved { effect, resolution, by, note }));
            proceed(step);
        }
        RunInput::Cancel { actor, reason } => cancel(step, *actor, *reason),
        RunInput::Recovered => recovered(step),
        RunInput::Broken => broken(step),
    }
}

fn answered(step: &mut Step, answer: &ModelAnswer, model: &ModelRef, calls: &[JudgedCall]) {
    step.record_message(answer, model);
    if step.machine.client.is_offered() && !answer.proposals.is_empty() {
        step.record_client_calls(answer);
        return;
    }
    if calls.is_empty() {
        match answer.finish {
            FinishReason::ContentFilter => step.finish(
                TerminationReason::ContentPolicy,
                Some(ErrorCode::ModelContentPolicy),
                "the provider's content filter cut the answer off",
            ),
            // Somebody said more meanwhile: the answer was to what came before it.
            FinishReason::Stop | FinishReason::ToolCalls | FinishReason::Other | FinishReason::Length
                if step.machine.received.is_unanswered() =>
            {
                proceed(step);
            }
            // The provider was sent what is left of the limit, and kept to it.
            FinishReason::Length if step.machine.budget.output_tokens_left() == 0 => {
                step.finish(TerminationReason::TurnLimit, Some(ErrorCode::TurnLimit), TOKENS_USED_UP);
            }
            FinishReason::Length => step.finish(TerminationReason::FinalAnswer, None, CUT_OFF_MESSAGE),
            FinishReason::Stop | FinishReason::ToolCalls | FinishReason::Other => {
                step.finish(TerminationReason::FinalAnswer, None, "");
            }
        }
        return;
    }
    let fits = step.machine.budget.fits_calls(calls.len());
    let refused = (!fits).then_some(DecisionReason::BudgetExhausted);
    calls::record_calls(step, calls, refused);
    if fits {
        proceed(step);
    } else {
        step.finish(
            TerminationReason::ToolLimit,
            Some(ErrorCode::ToolLimit),
            "the run used all the tool calls it may make",
        );
    }
}

/// Begins to stop: what runs is aborted, and the run ends as soon as nothing runs.
fn cancel(step: &mut Step, actor: PrincipalId, reason: CancelReason) {
    if step.machine.stopping.is_some() {
        return;
    }
    let parked = step.machine.is_parked();
    step.withdraw_all("the run was cancelled");
    step.record(TapeEvent::Run(RunEvent::CancelRequested { actor, reason }));
    abort_model(step, AbandonCause::Cancelled);
    effects::give_up_questions(step);
    if parked {
        // Nothing was taken up again since the restart, so nobody would report.
        effects::give_up_started(step, UnknownOutcomeCause::Restart);
    } else if step.machine.tools.at_work().next().is_some() {
        step.perform(Effect::AbortTools);
    }
    proceed(step);
}

/// Ends the run at once, with an outcome for whatever was under way.
fn broken(step: &mut Step) {
    abort_model(step, AbandonCause::Cancelled);
    if step.machine.tools.at_work().next().is_some() {
        step.perform(Effect::AbortTools);
    }
    effects::give_up_started(step, UnknownOutcomeCause::ExecutorLost);
    step.finish(
        TerminationReason::InternalError,
        Some(ErrorCode::Internal),
        "the daemon broke an invariant while working on this run; this is a bug",
    );
}

fn abort_model(step: &mut Step, cause: AbandonCause) {
    if let Some(open) = step.machine.model.open() {
        step.perform(Effect::AbortModel { attempt: open.attempt });
        give_up_attempt(step, cause);
    }
}

/// Ends the open attempt for a reason that is not its provider's.
fn give_up_attempt(step: &mut Step, cause: AbandonCause) {
    step.abandon_open_attempt(cause, NextAttemptPlan::NONE, Redacted::default());
}

/// Goes on from the last recorded step after a restart.
fn recovered(step: &mut Step) {
    if step.machine.stopping.is_some() {
        give_up_attempt(step, AbandonCause::Cancelled);
        effects::give_up_started(step, UnknownOutcomeCause::Restart);
        proceed(step);
        return;
    }
    // What the unknown entry says may be the very outcome that is missing here.
    if step.machine.is_parked() || step.machine.state == RunLifecycleState::Pending {
        return;
    }
    if step.machine.held == HoldState::Yes {
        give_up_attempt(step, AbandonCause::Restart);
        effects::give_up_started(step, UnknownOutcomeCause::Restart);
        approvals::give_up_all(step);
        calls::deny_unjudged(step);
        return;
    }
    if step.machine.model.retry().is_some() {
        attempts::pause(step);
        return;
    }
    attempts::caught_by_restart(step);
    effects::recover_started(step);
    calls::deny_unjudged(step);
    proceed(step);
}
