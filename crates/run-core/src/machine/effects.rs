//! What becomes of started calls: shown while they run, lost, stopped, caught by a restart, doubted, or answered.
//!
//! Owns what each contract permits when the outcome is not known, and how much of a running call is shown. Invariant: an opaque call is executed once.

use std::time::Duration;

use palyra_types::effect::{OutputRest, ToolOutput};
use palyra_types::event::{ContentDigest, TapeEvent, ToolEvent, ToolFinished, UnknownOutcomeCause};
use palyra_types::tool::{EffectContract, Isolation, Taints, ToolExecutionOutcome, ToolExecutor};
use palyra_types::{EffectId, ErrorCode, Redacted};

use super::step::Step;
use crate::grant::ExecutionAttempt;

/// Bytes of one call's output that are shown while it runs, at most.
pub const OUTPUT_SHOWN_BYTES_MAX: u64 = 256 * 1024;

/// Entries in which one call's output is shown while it runs, at most.
pub const OUTPUT_PIECES_MAX: u32 = 256;

/// Told to the model of a call that a stop left without a result, and that changed nothing.
const STOPPED_TOOL_OUTPUT: &str = "stopped because the run was stopped";

/// Told to the model in answer to its question.
const ANSWERED_OUTPUT: &str = "the person answered; their words follow";

/// What may be assumed of a call whose outcome will not become known.
enum LostOutcome {
    /// It changed nothing that lasts.
    Failed,
    /// Nobody knows.
    InDoubt,
}

fn lost(contract: EffectContract) -> LostOutcome {
    match contract {
        // What changes only the journal is there with its outcome, or not at all.
        EffectContract::Pure | EffectContract::Local => LostOutcome::Failed,
        EffectContract::Keyed | EffectContract::Probe | EffectContract::Opaque => LostOutcome::InDoubt,
    }
}

/// Notes that an outcome will not become known. Of a call that changes nothing this is only a failure, which
/// the model reads and may try again.
pub(super) fn tool_lost(step: &mut Step, effect: EffectId, cause: UnknownOutcomeCause) {
    let Some(contract) = step.machine.tools.started_contract(effect) else { return };
    match lost(contract) {
        LostOutcome::InDoubt => step.record(TapeEvent::Tool(ToolEvent::OutcomeUnknown { effect, cause })),
        LostOutcome::Failed => {
            let settled = match cause {
                UnknownOutcomeCause::Deadline => OwnOutcome::TIMED_OUT,
                UnknownOutcomeCause::Cancelled => OwnOutcome::STOPPED,
                UnknownOutcomeCause::Restart | UnknownOutcomeCause::ExecutorLost => OwnOutcome::BROKEN_OFF,
            };
            let duration = step.machine.tools.running_for(effect, step.now);
            record_own_outcome(step, effect, settled, duration);
        }
    }
}

/// Gives every started call an outcome without waiting for it.
pub(super) fn give_up_started(step: &mut Step, cause: UnknownOutcomeCause) {
    for (effect, contract) in step.machine.tools.contracts_at_work() {
        // Since a restart it has not run at all.
        let duration = match cause {
            UnknownOutcomeCause::Restart => Duration::ZERO,
            UnknownOutcomeCause::Deadline
            | UnknownOutcomeCause::Cancelled
            | UnknownOutcomeCause::ExecutorLost => step.machine.tools.running_for(effect, step.now),
        };
        match lost(contract) {
            LostOutcome::Failed => {
                record_own_outcome(step, effect, OwnOutcome::STOPPED, duration);
            }
            LostOutcome::InDoubt => step.record(TapeEvent::Tool(ToolEvent::OutcomeUnknown { effect, cause })),
        }
    }
    give_up_questions(step);
}

/// Takes the questions to the person back, unanswered.
pub(super) fn give_up_questions(step: &mut Step) {
    for effect in step.machine.tools.open_questions() {
        record_own_outcome(step, effect, OwnOutcome::STOPPED, Duration::ZERO);
    }
}

/// Settles the questions to the person, who has just said something.
pub(super) fn answer_questions(step: &mut Step) {
    for effect in step.machine.tools.open_questions() {
        let duration = step.machine.tools.running_for(effect, step.now);
        record_own_outcome(step, effect, OwnOutcome::ANSWERED, duration);
    }
}

/// Goes on with what a restart caught, by contract: all that can be repeated, finished or recognised is executed
/// again under its plan.
pub(super) fn recover_started(step: &mut Step) {
    for (effect, contract) in step.machine.tools.contracts_at_work() {
        match contract {
            EffectContract::Pure | EffectContract::Keyed | EffectContract::Probe | EffectContract::Local => {
                step.execute(effect, ExecutionAttempt::Again);
            }
            EffectContract::Opaque => {
                step.record(TapeEvent::Tool(ToolEvent::OutcomeUnknown {
                    effect,
                    cause: UnknownOutcomeCause::Restart,
                }));
            }
        }
    }
}

/// Shows what a running call printed, as much of it as may be; the outcome has all that counts.
pub(super) fn show_output(step: &mut Step, effect: EffectId, text: &Redacted<String>, rest: OutputRest) {
    let Some(shown) = step.machine.tools.get(effect).map(|call| call.shown) else { return };
    if shown.rest == OutputRest::InOutcome || (text.expose().is_empty() && rest == OutputRest::Follows) {
        return;
    }
    let room = OUTPUT_SHOWN_BYTES_MAX.saturating_sub(shown.bytes);
    let (fits, beyond) = text.split_at(usize::try_from(room).unwrap_or(usize::MAX));
    let over = !beyond.expose().is_empty() || shown.pieces + 1 >= OUTPUT_PIECES_MAX;
    step.record(TapeEvent::Tool(ToolEvent::Output(ToolOutput {
        effect,
        shown_bytes: shown.bytes + fits.expose().len() as u64,
        rest: if over { OutputRest::InOutcome } else { rest },
        text: fits,
    })));
}

/// Records the outcome that a tool reported, with what the call ran under.
pub(super) fn record_outcome(
    step: &mut Step,
    effect: EffectId,
    outcome: &ToolExecutionOutcome,
    output_digest: ContentDigest,
    duration: Duration,
) {
    let Some(call) = step.machine.tools.get(effect) else { return };
    step.record(TapeEvent::Tool(ToolEvent::Finished(ToolFinished {
        effect,
        attested: call.attested(),
        failure: outcome.failure,
        output_digest,
        output_bytes_total: outcome.output_bytes_total,
        duration,
        executor: outcome.executor,
        isolation: outcome.isolation,
        taints: outcome.taints,
        output: outcome.output.clone(),
    })));
}

/// An outcome that no tool reported.
#[derive(Debug, Clone, Copy)]
struct OwnOutcome {
    failure: Option<ErrorCode>,
    output: &'static str,
}

impl OwnOutcome {
    const TIMED_OUT: Self = Self::failed(ErrorCode::ToolTimedOut, "stopped at its deadline");
    const STOPPED: Self = Self::failed(ErrorCode::ToolCancelled, STOPPED_TOOL_OUTPUT);
    const BROKEN_OFF: Self = Self::failed(ErrorCode::ToolFailed, "it broke off before it had a result");
    const ANSWERED: Self = Self { failure: None, output: ANSWERED_OUTPUT };

    const fn failed(failure: ErrorCode, output: &'static str) -> Self {
        Self { failure: Some(failure), output }
    }
}

/// Settles a started call without a report.
fn record_own_outcome(step: &mut Step, effect: EffectId, own: OwnOutcome, duration: Duration) {
    let outcome = ToolExecutionOutcome {
        failure: own.failure,
        output: own.output.into(),
        output_bytes_total: 0,
        executor: ToolExecutor::Internal,
        isolation: Isolation::DescriptorRelative,
        taints: Taints::NONE,
    };
    record_outcome(step, effect, &outcome, ContentDigest::default(), duration);
}
