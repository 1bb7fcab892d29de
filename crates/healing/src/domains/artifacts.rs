//! Files and summaries that are missing or differ from their records.

use palyra_types::incident::{IncidentCause, IncidentEvidence};

use crate::facts::{ArtifactFact, ArtifactStanding};
use crate::finding::DomainLook;

/// Finds a damaged artifact at once; `measured` is 1 where it cannot be made again.
pub(super) fn look(look: &mut DomainLook<'_>, artifact: &ArtifactFact) {
    let measured = match artifact.standing {
        ArtifactStanding::Repairable => 0,
        ArtifactStanding::Lost => 1,
    };
    let evidence = IncidentEvidence { measured, ..IncidentEvidence::default() };
    look.at_once(IncidentCause::ArtifactDamaged, artifact.subject, evidence);
}
