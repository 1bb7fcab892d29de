//! Decides which incidents there are and which remedies follow.
//!
//! Owns the windows, the findings of each domain, the choice of remedies with their limits, and the state that this needs.
//! Knows no clock, disk, network, chance or task of the runtime: facts and times are inputs, and a plan is returned that the
//! caller records and performs.
//!
//! Invariants: silence is counted between looks and never read from the wall clock, so a machine that slept finds nothing
//! stuck; a plan depends on the mode only by whether there is one, so `observe_only` shows what `auto` performs; no remedy
//! decides an approval. Begin at [`SelfHealingState`].

#![warn(clippy::wildcard_enum_match_arm)]

mod times;
mod facts;
mod incident_key;
mod silence;
mod finding;
mod domains;
mod modes;
mod remedies;
mod plan;
mod state;

#[cfg(test)]
mod fixture;
#[cfg(test)]
mod properties;

pub use facts::{
    ApprovalFact, ApprovalStanding, ArtifactFact, ArtifactStanding, ArtifactsFact, BrowserFact,
    ConnectorFact, DomainFacts, HealingFacts, JournalFact, ProgressMarker, ProviderFact, RunFact,
    RunStanding, SandboxFact, SpareFact, TaskFact, TaskStanding, WorkerFact,
};
pub use finding::{IncidentFinding, IncidentMender};
pub use incident_key::IncidentKey;
pub use modes::HealingModes;
pub use palyra_types::incident::{
    HealingDomain, IncidentCause, IncidentEvidence, IncidentResolution, IncidentSeverity, IncidentSubject,
    RemedyKind, RemedyOutcome, SelfHealingMode,
};
pub use plan::{HealingPlan, IncidentOpening, IncidentResolving, PlannedRemedy, RemedyCheck, RemedyDue};
pub use remedies::{remedies_of, severity_of};
pub use state::{RestoredIncident, SelfHealingState};
pub use times::HealingTimes;
