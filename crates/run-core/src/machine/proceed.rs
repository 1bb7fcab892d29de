//! What follows once an input is recorded: start tools, ask the model, wait, or end.
//!
//! Begin at [`proceed`].

use palyra_types::ErrorCode;
use palyra_types::event::{RunEvent, TapeEvent};
use palyra_types::run::{CancelReason, TerminationReason, WaitReason};

use super::RunStateMachine;
use super::step::Step;
use crate::input::Effect;

/// Decides what follows once the input itself is recorded.
pub(super) fn proceed(step: &mut Step) {
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
    // The end of the pause will ask.
    if machine.model.retry().is_some() {
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
        step.record(TapeEvent::Run(RunEvent::LoopDetected { guard, repeats }));
        return;
    }
    ask_model(step);
}

/// Asks for the context of the next request, if the run may still make one.
pub(super) fn ask_model(step: &mut Step) {
    let model = &step.machine.model;
    if let Some((reason, message)) = step.machine.budget.refuses_turn(model.next_turn()) {
        step.finish(reason, Some(ErrorCode::TurnLimit), message);
        return;
    }
    let (attempt, tokens_wished) = (model.next_attempt(), model.token_target());
    let (model, instead) = (model.model().cloned(), model.instead().to_vec());
    let output_tokens_left = step.machine.budget.output_tokens_left();
    step.perform(Effect::AssembleContext { attempt, model, instead, tokens_wished, output_tokens_left });
}

/// Returns whether the next thing to do is to ask the model: what [`proceed`] asks a context for.
pub(super) fn may_ask_model(machine: &RunStateMachine) -> bool {
    machine.stopping.is_none()
        && matches!(machine.wait, None | Some(WaitReason::Budget))
        && machine.model.open().is_none()
        && machine.tools.all_settled()
        && machine.client.awaited().is_none()
        && machine.loops.verdict().is_none()
        && machine.budget.refuses_turn(machine.model.next_turn()).is_none()
}

fn finish_stopped(step: &mut Step, reason: CancelReason) {
    match reason {
        CancelReason::User if step.machine.wait == Some(WaitReason::LoopCheck) => step.finish(
            TerminationReason::LoopStopped,
            Some(ErrorCode::LoopStopped),
            "the run repeated itself and was stopped",
        ),
        CancelReason::User => step.finish(TerminationReason::Cancelled, None, ""),
        CancelReason::Interrupted => step.finish(TerminationReason::Interrupted, None, ""),
        CancelReason::ClientToolExpired => step.finish(
            TerminationReason::Cancelled,
            None,
            "the client did not bring the results of its functions in time",
        ),
        CancelReason::TimeLimit => step.finish(
            TerminationReason::TimeLimit,
            Some(ErrorCode::TimeLimit),
            "the run used all its active time",
        ),
    }
}
