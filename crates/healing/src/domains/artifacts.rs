//! Files and summaries that are missing or differ from their records, and those that need not be kept on a full disk.

use palyra_types::incident::{IncidentCause, IncidentEvidence};

use crate::facts::{ArtifactFact, ArtifactStanding, ArtifactsFact};
use crate::finding::DomainLook;

/// Finds damaged artifacts at once, and files that need not be kept once the disk has been low for a window.
pub(super) fn look(look: &mut DomainLook<'_>, artifacts: &ArtifactsFact) {
    artifacts.damaged.iter().for_each(|artifact| damaged(look, artifact));
    look.spare(IncidentCause::SpareFiles, &artifacts.spare);
}

/// One that cannot be put back is a person's to mend.
fn damaged(look: &mut DomainLook<'_>, artifact: &ArtifactFact) {
    let evidence = IncidentEvidence::default();
    match artifact.standing {
        ArtifactStanding::Repairable => {
            look.at_once(IncidentCause::ArtifactDamaged, artifact.subject, evidence);
        }
        ArtifactStanding::Lost => {
            look.for_person(IncidentCause::ArtifactDamaged, artifact.subject, evidence);
        }
    }
}
