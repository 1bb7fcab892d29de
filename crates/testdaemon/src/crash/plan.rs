//! Which calls are disturbed: those of an undisturbed leg, each with what selects it.

use super::lab::is_checkpoint;
use super::legs::LifeLeg;
use crate::strace::{CallRecording, Selector, SystemCall};

/// A call to be disturbed.
#[derive(Debug, Clone)]
pub(super) struct CallTarget {
    pub(super) leg: LifeLeg,
    pub(super) call: SystemCall,
    /// Before or after the daemon was told to stop, or what the leg is called.
    pub(super) phase: String,
    /// `None` where strace cannot meet it.
    pub(super) selector: Option<Selector>,
}

/// Returns the calls of a leg that are disturbed.
pub(super) fn targets(leg: LifeLeg, recording: &CallRecording) -> Vec<CallTarget> {
    let calls = &recording.calls;
    let ready = calls.iter().position(is_ready_line).unwrap_or(calls.len());
    let wanted = |place: usize, call: &SystemCall| match leg {
        LifeLeg::FirstStart | LifeLeg::StartInAct | LifeLeg::StartInAnswer => place <= ready,
        LifeLeg::RunAndStop => true,
        LifeLeg::Checkpoint => is_checkpoint(call),
    };
    let target = |(place, call): (usize, &SystemCall)| CallTarget {
        leg,
        call: call.clone(),
        phase: phase(leg, place, recording),
        selector: Selector::of(calls, place),
    };
    calls.iter().enumerate().filter(|(place, call)| wanted(*place, call)).map(target).collect()
}

fn phase(leg: LifeLeg, place: usize, recording: &CallRecording) -> String {
    match (leg, recording.stopped_after) {
        (LifeLeg::RunAndStop, Some(stopped)) if place >= stopped => "stop".to_owned(),
        (LifeLeg::RunAndStop, _) => "run".to_owned(),
        (LifeLeg::FirstStart | LifeLeg::StartInAct | LifeLeg::StartInAnswer | LifeLeg::Checkpoint, _) => {
            leg.to_string()
        }
    }
}

/// Standard output is a pipe, and one line goes there.
fn is_ready_line(call: &SystemCall) -> bool {
    call.path.as_ref().is_some_and(|path| path.starts_with("pipe:"))
}
