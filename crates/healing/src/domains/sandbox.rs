//! What programs of tools left behind.

use palyra_types::incident::IncidentCause;

use crate::facts::SandboxFact;
use crate::finding::DomainLook;

/// Finds scratch space of programs that ended once the disk has been low for a window.
pub(super) fn look(look: &mut DomainLook<'_>, sandbox: &SandboxFact) {
    look.spare(IncidentCause::ScratchLeft, &sandbox.scratch);
}
