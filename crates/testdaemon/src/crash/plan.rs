//! Which calls are disturbed: those of an undisturbed leg, each with what selects it.

use std::collections::BTreeMap;

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

/// Returns what a call is about, without folders that differ each time.
pub(super) fn about(call: &Call) -> String {
    let file = match call.path.as_deref() {
        None => "names",
        Some(path) if path.starts_with("anon_inode:") => "wake-ups",
        Some(path) if path.starts_with("pipe:") || path.starts_with("socket:") => "who listens",
        Some(path) => match path.rsplit_once("/state/") {
            Some((_, file)) => file.strip_prefix("keys/").map_or(file, |_| "keys"),
            None => path.rsplit_once('/').map_or(path, |(_, file)| file),
        },
    };
    let family = if file.ends_with("state") { "folders" } else { file };
    format!("{} {family}", call.kind)
}

/// Counts of what was disturbed, by phase and by what it was about.
#[derive(Debug, Default)]
pub(super) struct Tally(BTreeMap<(String, String), Counts>);

#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Counts {
    pub(super) hit: usize,
    pub(super) passed_by: usize,
    pub(super) out_of_reach: usize,
}

impl Tally {
    pub(super) fn hit(&mut self, phase: &str, call: &Call) {
        self.0.entry((phase.to_owned(), about(call))).or_default().hit += 1;
    }

    pub(super) fn passed_by(&mut self, target: &Target) {
        self.0.entry((target.phase.clone(), about(&target.call))).or_default().passed_by += 1;
    }

    pub(super) fn out_of_reach(&mut self, target: &Target) {
        self.0.entry((target.phase.clone(), about(&target.call))).or_default().out_of_reach += 1;
    }

    pub(super) fn rows(&self) -> impl Iterator<Item = (String, Counts)> {
        self.0.iter().map(|((phase, about), counts)| (format!("{phase}: {about}"), *counts))
    }

    pub(super) fn total(&self) -> usize {
        self.0.values().map(|counts| counts.hit).sum()
    }
}
