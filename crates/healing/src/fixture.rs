//! Facts, times and a caller of tests.

use std::time::Duration;

use palyra_types::incident::{IncidentSubject, SelfHealingMode};
use palyra_types::{BootTime, IncidentId};

use crate::facts::{DomainFacts, HealingFacts, ProgressMarker, RunFact, RunStanding};
use crate::incident_key::IncidentKey;
use crate::modes::HealingModes;
use crate::plan::{HealingPlan, PlannedRemedy};
use crate::state::SelfHealingState;
use crate::times::HealingTimes;

pub(crate) fn subject(number: u8) -> IncidentSubject {
    IncidentSubject([number; 16])
}

pub(crate) fn seconds(seconds: u64) -> BootTime {
    BootTime::default().after(Duration::from_secs(seconds))
}

pub(crate) fn entries(entries: u64) -> ProgressMarker {
    ProgressMarker { entries, ..ProgressMarker::default() }
}

pub(crate) fn run(number: u8, standing: RunStanding, progress: u64) -> RunFact {
    RunFact { subject: subject(number), standing, marker: entries(progress), effect_deadline: None }
}

pub(crate) fn of_runs(runs: Vec<RunFact>) -> HealingFacts {
    HealingFacts { runs: DomainFacts::Read(runs), ..HealingFacts::default() }
}

/// A caller that records every plan at once and performs what is to be performed.
pub(crate) struct Caller {
    pub(crate) state: SelfHealingState,
    pub(crate) modes: HealingModes,
    made: u64,
}

impl Caller {
    pub(crate) fn new(mode: SelfHealingMode) -> Self {
        let state = SelfHealingState::new(HealingTimes::default());
        Self { state, modes: HealingModes::all(mode), made: 0 }
    }

    /// Looks, and returns what was opened and what was resolved.
    pub(crate) fn look(&mut self, facts: &HealingFacts, now: BootTime) -> HealingPlan {
        self.state.observe(facts, now);
        let plan = self.state.plan(&self.modes, now);
        plan.checks.iter().for_each(|check| self.state.remedy_ended(&check.key));
        plan.resolvings.iter().for_each(|over| self.state.resolved(&over.key));
        for opening in &plan.openings {
            self.made += 1;
            self.state.opened(opening.key, IncidentId::from_parts(1, self.made.into()), now);
        }
        plan
    }

    /// Performs what is due, and returns it.
    pub(crate) fn perform(&mut self, now: BootTime) -> Vec<PlannedRemedy> {
        let planned = self.state.plan(&self.modes, now).remedies;
        let due: Vec<_> = planned.into_iter().filter(|remedy| remedy.is_performed(&self.modes)).collect();
        for remedy in &due {
            // One after the other, as the limit of a domain counts them.
            self.state.remedy_started(&remedy.key, remedy.remedy, now);
        }
        due
    }

    pub(crate) fn opened(plan: &HealingPlan) -> Vec<IncidentKey> {
        plan.openings.iter().map(|opening| opening.key).collect()
    }
}
