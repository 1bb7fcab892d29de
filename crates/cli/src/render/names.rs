//! The words for what the wire says in numbers.

use palyra_wire::v1::RunState;

/// Reads a run's state; a number of a newer version is unspecified.
pub(crate) fn run_state(number: i32) -> RunState {
    RunState::try_from(number).unwrap_or(RunState::Unspecified)
}

/// Returns the word for a run's state.
pub(crate) fn run_state_name(state: RunState) -> &'static str {
    match state {
        RunState::Unspecified => "unknown",
        RunState::Pending => "pending",
        RunState::InProgress => "in progress",
        RunState::Done => "done",
        RunState::Cancelled => "cancelled",
        RunState::Failed => "failed",
    }
}
