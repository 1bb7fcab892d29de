//! One function per input, and what follows when nothing else can proceed.

use palyra_types::event::{AbandonCause, TapeEvent, ToolFinished, UnknownOutcomeCause};
use palyra_types::model::{FinishReason, ModelAnswer, ModelFailureClass, ModelRef};
use palyra_types::run::{CancelReason, RunLifecycleState, TerminationReason, WaitReason};
use palyra_types::tool::{DecisionReason, EffectContract};
use palyra_types::{EffectId, ErrorCode, Redacted, Timestamp};

use super::step::Step;
use super::{Accepted, RunError, RunStateMachine};
use crate::input::{Decision, Effect, JudgedCall, RunInput};

/// Told to the person when the model ran out of room.
const CUT_OFF_MESSAGE: &str = "the answer was cut off at the model's output limit";

pub(super) fn decide(
    machine: &RunStateMachine,
    input: &RunInput,
    now: Timestamp,
) -> Result<Decision, RunError> {
    if machine.state.is_terminal() {
        return Err(RunError::Finished);
    }
    let accepted = machine.accepted == Accepted::Yes;
    if accepted == matches!(input, RunInput::Start(_)) {
        return Err(RunError::OutOfPlace);
    }
    let mut step = Step::new(machine, now);
    match input {
        RunInput::Start(started) => step.record(TapeEvent::RunStarted((**started).clone())),
        RunInput::Begin => begin(&mut step)?,
        RunInput::ContextReady { plan, model } => context_ready(&mut step, *plan, model)?,
        RunInput::ContextTooLarge => step.finish(
            TerminationReason::ContextExhausted,
            Some(ErrorCode::ContextExhausted),
            "the input is larger than the model's window",
        ),
        RunInput::Text { attempt, text } => {
            if !machine.model.is_open(*attempt) {
                return Err(RunError::Stale);
            }
            step.record(TapeEvent::ModelText { attempt: *attempt, text: text.clone() });
        }
        RunInput::Answered { attempt, answer, model, calls } => {
            if !machine.model.is_open(*attempt) {
                return Err(RunError::Stale);
            }
            answered(&mut step, answer, model, calls);
        }
        RunInput::ModelFailed { attempt, class, detail } => {
            if !machine.model.is_open(*attempt) {
                return Err(RunError::Stale);
            }
            model_failed(&mut step, *class, detail);
        }
        RunInput::ToolFinished { effect, outcome, output_digest, duration } => {
            if !machine.tools.is_started(*effect) {
                return Err(RunError::Stale);
            }
            step.record(TapeEvent::ToolFinished(ToolFinished {
                effect: *effect,
                failure: outcome.failure,
                output_digest: *output_digest,
                output_bytes_total: outcome.output_bytes_total,
                duration: *duration,
                executor: outcome.executor,
                isolation: outcome.isolation,
                output: outcome.output.clone(),
            }));
            proceed(&mut step);
        }
        RunInput::ToolOutcomeLost { effect, cause } => {
            if !machine.tools.is_started(*effect) {
                return Err(RunError::Stale);
            }
            step.record(TapeEvent::ToolOutcomeUnknown { effect: *effect, cause: *cause });
            proceed(&mut step);
        }
        RunInput::Input(input) => {
            let waits = machine.waiting_for().ok_or(RunError::NotWaiting)?;
            if waits == WaitReason::UnknownKind {
                return Err(RunError::NotWaiting);
            }
            step.record(TapeEvent::InputReceived { input: input.clone() });
            proceed(&mut step);
        }
        RunInput::Cancel { actor, reason } => {
            if machine.stopping.is_none() {
                step.record(TapeEvent::CancelRequested { actor: *actor, reason: *reason });
                stop(&mut step);
            }
        }
        RunInput::Recovered => recovered(&mut step),
        RunInput::Broken => {
            step.abandon_open_attempt(AbandonCause::Cancelled);
            step.perform(Effect::AbortTools);
            step.finish(
                TerminationReason::InternalError,
                Some(ErrorCode::Internal),
                "the daemon broke an invariant while working on this run; this is a bug",
            );
        }
    }
    Ok(step.decision)
}

fn begin(step: &mut Step) -> Result<(), RunError> {
    if step.machine.state != RunLifecycleState::Pending {
        return Err(RunError::OutOfPlace);
    }
    proceed(step);
    Ok(())
}

fn context_ready(
    step: &mut Step,
    plan: palyra_types::event::ContextPlan,
    model: &ModelRef,
) -> Result<(), RunError> {
    if step.machine.model.open().is_some() || !step.machine.tools.all_settled() {
        return Err(RunError::OutOfPlace);
    }
    step.request_model(plan, model.clone());
    Ok(())
}

fn answered(step: &mut Step, answer: &ModelAnswer, model: &ModelRef, calls: &[JudgedCall]) {
    step.record_message(answer, model);
    if calls.is_empty() {
        match answer.finish {
            FinishReason::ContentFilter => step.finish(
                TerminationReason::ContentPolicy,
                Some(ErrorCode::ModelContentPolicy),
                "the provider's content filter cut the answer off",
            ),
            FinishReason::Length => step.finish(TerminationReason::FinalAnswer, None, CUT_OFF_MESSAGE),
            FinishReason::Stop | FinishReason::ToolCalls | FinishReason::Other => {
                step.finish(TerminationReason::FinalAnswer, None, "");
            }
        }
        return;
    }
    let fits = step.machine.budget.fits_calls(calls.len());
    let refused = (!fits).then_some(DecisionReason::BudgetExhausted);
    for call in calls {
        step.record_call(call, refused);
    }
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

fn model_failed(step: &mut Step, class: ModelFailureClass, detail: &Redacted<String>) {
    step.abandon_open_attempt(AbandonCause::Failure(class));
    let reason = match class {
        ModelFailureClass::ContextExceeded => TerminationReason::ContextExhausted,
        ModelFailureClass::ContentPolicy => TerminationReason::ContentPolicy,
        ModelFailureClass::Auth
        | ModelFailureClass::Permission
        | ModelFailureClass::RateLimit
        | ModelFailureClass::Quota
        | ModelFailureClass::Transient
        | ModelFailureClass::Permanent
        | ModelFailureClass::Malformed
        | ModelFailureClass::Network
        | ModelFailureClass::Timeout => TerminationReason::ProviderError,
    };
    step.finish(reason, Some(class.code()), detail.expose());
}

/// Begins to stop: what runs is aborted, and the run ends as soon as nothing runs.
fn stop(step: &mut Step) {
    if let Some(open) = step.machine.model.open() {
        step.perform(Effect::AbortModel { attempt: open.attempt });
        step.abandon_open_attempt(AbandonCause::Cancelled);
    }
    if step.machine.tools.started().next().is_some() {
        step.perform(Effect::AbortTools);
    }
    proceed(step);
}

/// Goes on from the last recorded step after a restart.
fn recovered(step: &mut Step) {
    let machine = &step.machine;
    let started: Vec<(EffectId, EffectContract)> =
        machine.tools.started().map(|(effect, call)| (effect, call.terms.contract)).collect();
    let stopping = machine.stopping.is_some();
    if machine.model.open().is_some() {
        let may_repeat = machine.model.may_repeat();
        step.abandon_open_attempt(if stopping { AbandonCause::Cancelled } else { AbandonCause::Restart });
        if !stopping && !may_repeat {
            step.finish(
                TerminationReason::ProviderError,
                Some(ErrorCode::ModelTransient),
                "the daemon was restarted during this model request again and again",
            );
            return;
        }
    }
    for (effect, contract) in started {
        match (contract, stopping) {
            (EffectContract::Pure, false) => step.execute(effect),
            (EffectContract::Pure, true) => step.record_cancelled_tool(effect),
            (EffectContract::Opaque, _) => {
                step.record(TapeEvent::ToolOutcomeUnknown { effect, cause: UnknownOutcomeCause::Restart })
            }
        }
    }
    if step.machine.state != RunLifecycleState::Pending || stopping {
        proceed(step);
    }
}

/// Decides what follows once the input itself is recorded.
fn proceed(step: &mut Step) {
    let machine = &step.machine;
    if machine.state.is_terminal() || machine.model.open().is_some() {
        return;
    }
    if let Some(reason) = machine.stopping {
        if machine.tools.started().next().is_none() {
            finish_stopped(step, reason);
        }
        return;
    }
    // An unknown outcome holds back what has not started; what runs may end.
    if machine.wait.is_none() {
        step.start_tools();
    }
    if !step.machine.tools.all_settled() || step.machine.waiting_for().is_some() {
        return;
    }
    if let Some((guard, repeats)) = step.machine.loops.verdict() {
        step.record(TapeEvent::LoopDetected { guard, repeats });
        return;
    }
    if let Some(reason) = step.machine.budget.refuses_turn() {
        step.finish(reason, Some(ErrorCode::TurnLimit), "the run used all the model turns it may take");
        return;
    }
    let attempt = step.machine.model.next_attempt();
    step.perform(Effect::AssembleContext { attempt });
}

fn finish_stopped(step: &mut Step, reason: CancelReason) {
    match reason {
        CancelReason::User => step.finish(TerminationReason::Cancelled, None, ""),
        CancelReason::TimeLimit => step.finish(
            TerminationReason::TimeLimit,
            Some(ErrorCode::TimeLimit),
            "the run used all its active time",
        ),
    }
}
