//! What follows from a look: data that the caller records and performs.

use palyra_types::incident::{IncidentResolution, RemedyKind, RemedyOutcome, SelfHealingMode};
use palyra_types::{BootTime, IncidentId};

use crate::finding::IncidentFinding;
use crate::incident_key::IncidentKey;
use crate::modes::HealingModes;

/// What follows from a look, in the order in which it is recorded and performed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HealingPlan {
    /// Remedies that ended.
    pub checks: Vec<RemedyCheck>,
    /// Incidents that are over.
    pub resolvings: Vec<IncidentResolving>,
    /// Incidents to open.
    pub openings: Vec<IncidentOpening>,
    /// The next remedy of each open incident, whether it is performed or only shown.
    pub remedies: Vec<PlannedRemedy>,
}

/// An incident to open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IncidentOpening {
    /// Its key.
    pub key: IncidentKey,
    /// What was found.
    pub finding: IncidentFinding,
    /// The first remedy of its plan.
    pub planned: Option<RemedyKind>,
}

/// A remedy that ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RemedyCheck {
    /// The key of its incident.
    pub key: IncidentKey,
    /// The incident.
    pub incident: IncidentId,
    /// The remedy.
    pub remedy: RemedyKind,
    /// Whether its postcondition is met.
    pub outcome: RemedyOutcome,
}

/// An incident that is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IncidentResolving {
    /// Its key.
    pub key: IncidentKey,
    /// The incident.
    pub incident: IncidentId,
    /// Why.
    pub resolution: IncidentResolution,
}

/// When a remedy may be performed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemedyDue {
    /// Now.
    Now,
    /// After the pause that follows the one before it.
    After(BootTime),
    /// When the domain has had fewer remedies within an hour.
    RateLimited,
}

/// The next remedy of an open incident.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlannedRemedy {
    /// The key of its incident.
    pub key: IncidentKey,
    /// The incident.
    pub incident: IncidentId,
    /// The remedy.
    pub remedy: RemedyKind,
    /// When it may be performed.
    pub due: RemedyDue,
}

impl PlannedRemedy {
    /// Returns whether it is performed now, and not only shown.
    #[must_use]
    pub fn is_performed(&self, modes: &HealingModes) -> bool {
        self.due == RemedyDue::Now && modes.of(self.key.cause.domain()) == SelfHealingMode::Auto
    }
}
