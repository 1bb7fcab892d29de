//! Numbers in the facts of runs.

use palyra_types::model::UsageSource;
use palyra_types::run::{InputDelivery, RunLifecycleState, RunPhase, TerminationReason, WaitReason};
use palyra_types::surface::Surface;

/// Returns the number of a state in the facts.
pub(super) fn stored_state(state: RunLifecycleState) -> u32 {
    match state {
        RunLifecycleState::Pending => 0,
        RunLifecycleState::InProgress => 1,
        RunLifecycleState::Done => 2,
        RunLifecycleState::Cancelled => 3,
        RunLifecycleState::Failed => 4,
    }
}

pub(super) fn state_from_stored(number: u32) -> RunLifecycleState {
    match number {
        0 => RunLifecycleState::Pending,
        1 => RunLifecycleState::InProgress,
        2 => RunLifecycleState::Done,
        3 => RunLifecycleState::Cancelled,
        _ => RunLifecycleState::Failed,
    }
}

pub(super) fn stored_wait(phase: RunPhase) -> u32 {
    match phase {
        RunPhase::Queued | RunPhase::Running | RunPhase::Finished => 0,
        RunPhase::Waiting(WaitReason::LoopCheck) => 1,
        RunPhase::Waiting(WaitReason::OutcomeUnknown) => 2,
        RunPhase::Waiting(WaitReason::UnknownKind) => 3,
        RunPhase::Waiting(WaitReason::Approval) => 4,
        RunPhase::Waiting(WaitReason::Question) => 5,
        RunPhase::Waiting(WaitReason::ClientTool) => 6,
        RunPhase::Waiting(WaitReason::Budget) => 7,
    }
}

pub(super) fn phase_from_stored(state: RunLifecycleState, wait: u32) -> RunPhase {
    match (state.is_terminal(), wait, state) {
        (true, ..) => RunPhase::Finished,
        (false, 1, _) => RunPhase::Waiting(WaitReason::LoopCheck),
        (false, 2, _) => RunPhase::Waiting(WaitReason::OutcomeUnknown),
        (false, 3, _) => RunPhase::Waiting(WaitReason::UnknownKind),
        (false, 4, _) => RunPhase::Waiting(WaitReason::Approval),
        (false, 5, _) => RunPhase::Waiting(WaitReason::Question),
        (false, 6, _) => RunPhase::Waiting(WaitReason::ClientTool),
        (false, 7, _) => RunPhase::Waiting(WaitReason::Budget),
        (false, _, RunLifecycleState::Pending) => RunPhase::Queued,
        (false, ..) => RunPhase::Running,
    }
}

const REASONS: [TerminationReason; 12] = [
    TerminationReason::FinalAnswer,
    TerminationReason::Cancelled,
    TerminationReason::TimeLimit,
    TerminationReason::TurnLimit,
    TerminationReason::ToolLimit,
    TerminationReason::ProviderError,
    TerminationReason::ContextExhausted,
    TerminationReason::ContentPolicy,
    TerminationReason::LoopStopped,
    TerminationReason::InternalError,
    TerminationReason::Interrupted,
    TerminationReason::OverBudget,
];

pub(super) fn stored_delivery(delivery: InputDelivery) -> u32 {
    match delivery {
        InputDelivery::Queue => 0,
        InputDelivery::Steer => 1,
        InputDelivery::Interrupt => 2,
    }
}

pub(super) fn delivery_from_stored(number: u32) -> InputDelivery {
    match number {
        1 => InputDelivery::Steer,
        2 => InputDelivery::Interrupt,
        _ => InputDelivery::Queue,
    }
}

pub(super) fn stored_reason(reason: Option<TerminationReason>) -> u32 {
    let at = reason.and_then(|reason| REASONS.iter().position(|known| *known == reason));
    at.map_or(0, |at| u32::try_from(at + 1).unwrap_or_default())
}

pub(super) fn reason_from_stored(number: u32) -> Option<TerminationReason> {
    let at = usize::try_from(number).ok()?.checked_sub(1)?;
    REASONS.get(at).copied()
}

pub(super) fn stored_source(source: UsageSource) -> u32 {
    match source {
        UsageSource::Reported => 1,
        UsageSource::Estimated => 2,
    }
}

pub(super) fn source_from_stored(number: u32) -> UsageSource {
    if number == 1 { UsageSource::Reported } else { UsageSource::Estimated }
}

/// Returns the place of a surface in the list of all, from 1; 0 for none.
pub(in crate::families) fn stored_surface(surface: Option<Surface>) -> u32 {
    let place = surface.and_then(|surface| Surface::ALL.iter().position(|one| *one == surface));
    place.map_or(0, |place| u32::try_from(place + 1).unwrap_or_default())
}

pub(in crate::families) fn surface_from_stored(number: u32) -> Option<Surface> {
    Surface::ALL.get(usize::try_from(number).ok()?.checked_sub(1)?).copied()
}
