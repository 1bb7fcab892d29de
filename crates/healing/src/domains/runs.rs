//! Runs that are to move and do not.

use palyra_types::incident::IncidentCause;

use crate::facts::{RunFact, RunStanding};
use crate::finding::DomainLook;

/// Finds a run without progress for its window. One that waits, or is queued behind another, is never stuck.
pub(super) fn look(look: &mut DomainLook<'_>, run: &RunFact) {
    let cause = match run.standing {
        RunStanding::Waits | RunStanding::Queued => return,
        RunStanding::Driven => IncidentCause::RunNoProgress,
        RunStanding::NotDriven => IncidentCause::RunNotDriven,
    };
    let window = look.times.window(look.times.run_window, run.effect_deadline);
    look.silent(cause, run.subject, run.marker, window);
}
