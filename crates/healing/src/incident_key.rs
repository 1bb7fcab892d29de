//! The names of incidents and silences.

use palyra_types::incident::{IncidentCause, IncidentSubject};

/// The key under which at most one incident is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct IncidentKey {
    /// What is wrong.
    pub cause: IncidentCause,
    /// What it is about.
    pub subject: IncidentSubject,
}

impl IncidentKey {
    /// Returns the key of a cause about a subject. A cause that has one reason outside of its subjects is one incident, however
    /// many of them it concerns: its key has no subject.
    #[must_use]
    pub fn of(cause: IncidentCause, subject: IncidentSubject) -> Self {
        match cause {
            IncidentCause::ApproverUnreachable => Self { cause, subject: IncidentSubject::default() },
            IncidentCause::RunNoProgress
            | IncidentCause::RunNotDriven
            | IncidentCause::TaskNoProgress
            | IncidentCause::TaskNotTaken
            | IncidentCause::ApprovalExpiryMissed
            | IncidentCause::ApprovalNotContinued
            | IncidentCause::ArtifactDamaged
            | IncidentCause::ConnectorDown
            | IncidentCause::ProviderPaused
            | IncidentCause::WalTooLarge
            | IncidentCause::DiskLow
            | IncidentCause::ProjectionDiffers
            | IncidentCause::EntryDamaged
            | IncidentCause::ScratchLeft
            | IncidentCause::WorkerSilent
            | IncidentCause::BrowserSilent
            | IncidentCause::SpareFiles => Self { cause, subject },
        }
    }
}
