//! Workers on other machines that show no sign of life.

use palyra_types::incident::IncidentCause;

use crate::facts::WorkerFact;
use crate::finding::DomainLook;

/// Finds a worker without a sign of life for its window.
pub(super) fn look(look: &mut DomainLook<'_>, worker: &WorkerFact) {
    let window = look.times.window(look.times.condition_window, Some(worker.lease));
    look.silent(IncidentCause::WorkerSilent, worker.subject, worker.marker, window);
}
