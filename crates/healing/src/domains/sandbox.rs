//! What programs of tools left behind.

use palyra_types::incident::{IncidentCause, IncidentEvidence, IncidentSubject};

use crate::facts::SandboxFact;
use crate::finding::DomainLook;

/// Finds folders of programs that ended, once they have been there for a window.
pub(super) fn look(look: &mut DomainLook<'_>, sandbox: &SandboxFact) {
    if sandbox.folders_left > 0 {
        let evidence = IncidentEvidence { measured: sandbox.folders_left, ..IncidentEvidence::default() };
        let window = look.times.condition_window;
        look.lasting(IncidentCause::ScratchLeft, IncidentSubject::default(), window, evidence);
    }
}
