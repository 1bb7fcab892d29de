//! What people say to a run that has begun: answers, and words that no question asked for.
//!
//! Owns which of them is taken, and what was said since the model was last asked.

use std::collections::BTreeSet;

use palyra_types::TapeSeq;
use palyra_types::event::{ModelEvent, RunEvent, TapeEvent};
use palyra_types::run::{IdempotencyDigest, InputDelivery, RunLifecycleState, UserInput, WaitReason};

use super::proceed::proceed;
use super::step::Step;
use super::{RunError, RunStateMachine, effects};

/// Inputs of a run that no model request has shown yet, at most.
pub const UNANSWERED_INPUTS_MAX: u32 = 64;

/// What was said to a run, its first input only by its key.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct ReceivedInputs {
    unanswered: u32,
    keys: BTreeSet<IdempotencyDigest>,
    /// Inputs whose references were not expanded, and that no model request has shown yet.
    unexpanded: BTreeSet<TapeSeq>,
}

impl ReceivedInputs {
    /// Returns whether something was said that no model request has shown yet.
    pub(super) fn is_unanswered(&self) -> bool {
        self.unanswered > 0
    }

    /// Returns whether the references of this input may become calls.
    pub(super) fn is_unexpanded(&self, input: TapeSeq) -> bool {
        self.unexpanded.contains(&input)
    }

    /// Returns the inputs whose references may become calls, in order.
    pub(super) fn unexpanded(&self) -> impl Iterator<Item = TapeSeq> {
        self.unexpanded.iter().copied()
    }

    pub(super) fn evolve(&mut self, event: &TapeEvent, tape_seq: TapeSeq) {
        match event {
            TapeEvent::Run(RunEvent::InputReceived { idempotency, .. }) => {
                self.unanswered += 1;
                self.unexpanded.insert(tape_seq);
                self.keys.extend(*idempotency);
            }
            TapeEvent::Run(RunEvent::ClientToolsAnswered(answered)) => {
                self.keys.extend(answered.idempotency);
            }
            TapeEvent::Model(ModelEvent::Requested(_)) => {
                self.unanswered = 0;
                self.unexpanded.clear();
            }
            TapeEvent::Run(RunEvent::ReferencesExpanded(expanded)) => {
                self.unexpanded.remove(&expanded.input);
            }
            TapeEvent::Run(RunEvent::Started(started)) => {
                self.keys.extend(started.idempotency);
                self.unexpanded.insert(tape_seq);
            }
            TapeEvent::Model(_)
            | TapeEvent::Tool(_)
            | TapeEvent::Approval(_)
            | TapeEvent::Run(
                RunEvent::LoopDetected { .. }
                | RunEvent::Held { .. }
                | RunEvent::CancelRequested { .. }
                | RunEvent::ClientToolsOffered(_)
                | RunEvent::ClientToolsCalled(_)
                | RunEvent::BudgetReached { .. }
                | RunEvent::SoftLimitNoted { .. }
                | RunEvent::Finished(_),
            )
            | TapeEvent::Unknown { .. } => {}
        }
    }

    /// Returns whether this run took an input under that key.
    pub(super) fn knows(&self, key: Option<IdempotencyDigest>) -> bool {
        key.is_some_and(|key| self.keys.contains(&key))
    }
}

/// Returns whether the run waits for exactly this: somebody's word.
fn is_answerable(machine: &RunStateMachine) -> bool {
    match machine.waiting_for() {
        Some(
            WaitReason::OutcomeUnknown | WaitReason::LoopCheck | WaitReason::Question | WaitReason::Budget,
        ) => true,
        Some(WaitReason::UnknownKind | WaitReason::Approval | WaitReason::ClientTool) | None => false,
    }
}

pub(super) fn admit_answer(
    machine: &RunStateMachine,
    key: Option<IdempotencyDigest>,
) -> Result<(), RunError> {
    let fits = machine.received.knows(key) || is_answerable(machine);
    if fits { Ok(()) } else { Err(RunError::NotWaiting) }
}

pub(super) fn admit_steering(
    machine: &RunStateMachine,
    key: Option<IdempotencyDigest>,
) -> Result<(), RunError> {
    if machine.received.knows(key) {
        return Ok(());
    }
    // It will end without another request, so nobody would answer.
    if machine.stopping.is_some() {
        return Err(RunError::Finished);
    }
    let begun = machine.state == RunLifecycleState::InProgress;
    let fits = begun && !machine.is_parked() && machine.received.unanswered < UNANSWERED_INPUTS_MAX;
    if fits { Ok(()) } else { Err(RunError::NotWaiting) }
}

/// Records an input that was admitted, and goes on; unless this run has it already. What a waiting run hears is
/// its answer.
pub(super) fn hear(step: &mut Step, input: &UserInput, key: Option<IdempotencyDigest>) {
    if step.machine.received.knows(key) {
        return;
    }
    let delivery = if is_answerable(&step.machine) { InputDelivery::Queue } else { InputDelivery::Steer };
    step.record(TapeEvent::Run(RunEvent::InputReceived { input: input.clone(), delivery, idempotency: key }));
    effects::answer_questions(step);
    proceed(step);
}
