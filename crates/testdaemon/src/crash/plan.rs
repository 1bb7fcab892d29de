//! Which calls are disturbed: those of an undisturbed leg, each with what selects it.

use super::lab::is_checkpoint;
use super::legs::Leg;
use crate::strace::{Call, Recording, Selector};

/// A call to be disturbed.
#[derive(Debug, Clone)]
pub(super) struct Target {
    pub(super) leg: Leg,
    pub(super) call: Call,
    /// Before or after the daemon was told to stop, or what the leg is called.
    pub(super) phase: String,
    /// `None` where strace cannot meet it.
    pub(super) selector: Option<Selector>,
}

/// Returns the calls of a leg that are disturbed.
pub(super) fn targets(leg: Leg, recording: &Recording) -> Vec<Target> {
    let calls = &recording.calls;
    let ready = calls.iter().position(is_ready_line).unwrap_or(calls.len());
    let wanted = |place: usize, call: &Call| match leg {
        Leg::FirstStart | Leg::StartInAct | Leg::StartInAnswer => place <= ready,
        Leg::RunAndStop => true,
        Leg::Checkpoint => is_checkpoint(call),
    };
    let target = |(place, call): (usize, &Call)| Target {
        leg,
        call: call.clone(),
        phase: phase(leg, place, recording),
        selector: Selector::of(calls, place),
    };
    calls.iter().enumerate().filter(|(place, call)| wanted(*place, call)).map(target).collect()
}

fn phase(leg: Leg, place: usize, recording: &Recording) -> String {
    match (leg, recording.stopped_after) {
        (Leg::RunAndStop, Some(stopped)) if place >= stopped => "stop".to_owned(),
        (Leg::RunAndStop, _) => "run".to_owned(),
        (Leg::FirstStart | Leg::StartInAct | Leg::StartInAnswer | Leg::Checkpoint, _) => leg.to_string(),
    }
}

/// Standard output is a pipe, and one line goes there.
fn is_ready_line(call: &Call) -> bool {
    call.path.as_ref().is_some_and(|path| path.starts_with("pipe:"))
}
