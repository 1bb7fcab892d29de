//! The state of self-healing: what the latest look found, and which incidents are open.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use palyra_types::incident::{
    HealingDomain, IncidentCause, IncidentResolution, RemedyKind, RemedyOutcome, SelfHealingMode,
};
use palyra_types::{BootTime, IncidentId};

use crate::domains::look_at_all;
use crate::facts::{HealingFacts, ProgressMarker};
use crate::finding::{DomainLook, IncidentFinding, IncidentMender};
use crate::incident_key::IncidentKey;
use crate::modes::HealingModes;
use crate::plan::{HealingPlan, IncidentOpening, IncidentResolving, PlannedRemedy, RemedyCheck, RemedyDue};
use crate::remedies::{ProgressSince, REMEDIES_PER_HOUR_MAX, next_remedy, remedies_of};
use crate::silence::SilenceBook;
use crate::times::HealingTimes;

const HOUR: Duration = Duration::from_secs(60 * 60);

/// Which incidents are open, what the latest look found, and which remedies were performed.
#[derive(Debug, Clone)]
pub struct SelfHealingState {
    times: HealingTimes,
    silences: SilenceBook,
    found: BTreeMap<IncidentKey, IncidentFinding>,
    read: BTreeSet<HealingDomain>,
    open: BTreeMap<IncidentKey, OpenIncident>,
    /// When remedies of a domain began within the latest hour.
    spent: BTreeMap<HealingDomain, Vec<BootTime>>,
    /// Looks since the latest one that changed an incident.
    quiet_looks: u32,
}

#[derive(Debug, Clone, Copy)]
struct OpenIncident {
    incident: IncidentId,
    remedies: u32,
    last: Option<PerformedRemedy>,
    not_before: BootTime,
    /// When the postcondition of the last remedy is checked; `None` once it was.
    check_at: Option<BootTime>,
}

#[derive(Debug, Clone, Copy)]
struct PerformedRemedy {
    remedy: RemedyKind,
    /// How far the subject was; `None` until the first look after a restart.
    marker: Option<ProgressMarker>,
}

/// An open incident of an earlier process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RestoredIncident {
    /// Its key.
    pub key: IncidentKey,
    /// The incident.
    pub incident: IncidentId,
    /// Remedies that began.
    pub remedies: u32,
    /// The latest one.
    pub last_remedy: Option<RemedyKind>,
}

impl SelfHealingState {
    /// Makes a state without incidents.
    #[must_use]
    pub fn new(times: HealingTimes) -> Self {
        Self {
            times,
            silences: SilenceBook::default(),
            found: BTreeMap::new(),
            read: BTreeSet::new(),
            open: BTreeMap::new(),
            spent: BTreeMap::new(),
            quiet_looks: 0,
        }
    }

    /// Takes over an incident that an earlier process left open. Its next remedy waits for the pause after its last one.
    pub fn restore(&mut self, restored: RestoredIncident, now: BootTime) {
        let RestoredIncident { key, incident, remedies, last_remedy } = restored;
        let last = last_remedy.map(|remedy| PerformedRemedy { remedy, marker: None });
        let pause = if last.is_some() { self.times.pause_after(remedies) } else { Duration::ZERO };
        let not_before = now.after(pause);
        self.open.insert(key, OpenIncident { incident, remedies, last, not_before, check_at: None });
    }

    /// Returns the spans by which it decides.
    #[must_use]
    pub fn times(&self) -> &HealingTimes {
        &self.times
    }

    /// Takes in a look.
    pub fn observe(&mut self, facts: &HealingFacts, now: BootTime) {
        self.found.clear();
        self.quiet_looks = self.quiet_looks.saturating_add(1);
        self.silences.begin_look(now, self.times.look_step_max);
        let mut look = DomainLook {
            times: &self.times,
            silences: &mut self.silences,
            found: &mut self.found,
            open: self.open.keys().copied().collect(),
        };
        look_at_all(&mut look, facts);
        self.silences.end_look(|cause: IncidentCause| facts.was_read(cause.domain()));
        self.read = HealingDomain::ALL
            .into_iter()
            .map(|(domain, _)| domain)
            .filter(|it| facts.was_read(*it))
            .collect();
        for (key, open) in &mut self.open {
            if let (Some(last), Some(finding)) = (&mut open.last, self.found.get(key)) {
                last.marker = last.marker.or(Some(finding.marker));
            }
        }
        for begun in self.spent.values_mut() {
            begun.retain(|at| now.since(*at) < HOUR);
        }
    }

    /// Returns what follows from the latest look, changing nothing.
    #[must_use]
    pub fn plan(&self, modes: &HealingModes, now: BootTime) -> HealingPlan {
        let mut plan = HealingPlan::default();
        for (key, open) in &self.open {
            self.plan_open(key, open, modes, now, &mut plan);
        }
        for (key, finding) in &self.found {
            let is_watched = modes.of(key.cause.domain()) != SelfHealingMode::Disabled;
            if is_watched && !self.open.contains_key(key) {
                let planned = match finding.mender {
                    IncidentMender::Remedies => remedies_of(key.cause).first().copied(),
                    IncidentMender::Person => None,
                };
                plan.openings.push(IncidentOpening { key: *key, finding: *finding, planned });
            }
        }
        plan
    }

    fn plan_open(
        &self,
        key: &IncidentKey,
        open: &OpenIncident,
        modes: &HealingModes,
        now: BootTime,
        plan: &mut HealingPlan,
    ) {
        let domain = key.cause.domain();
        let key = *key;
        let incident = open.incident;
        let finding = self.found.get(&key);
        let is_disabled = modes.of(domain) == SelfHealingMode::Disabled;
        let is_over = finding.is_none() && self.read.contains(&domain);
        if let (Some(check_at), Some(last)) = (open.check_at, open.last) {
            let outcome = if is_over { RemedyOutcome::Helped } else { RemedyOutcome::DidNotHelp };
            if is_over || is_disabled || (finding.is_some() && check_at <= now) {
                plan.checks.push(RemedyCheck { key, incident, remedy: last.remedy, outcome });
            }
        }
        if is_over || is_disabled {
            let resolution = match (is_over, open.last) {
                (false, _) => IncidentResolution::NotWatched,
                (true, Some(_)) => IncidentResolution::Remedied,
                (true, None) => IncidentResolution::ByItself,
            };
            plan.resolvings.push(IncidentResolving { key, incident, resolution });
            return;
        }
        let is_at_work = open.check_at.is_some_and(|check_at| now < check_at);
        let Some(finding) = finding.filter(|_| !is_at_work) else { return };
        if finding.mender == IncidentMender::Person {
            return;
        }
        let has_moved = |last: PerformedRemedy| last.marker.is_some_and(|marker| marker != finding.marker);
        let progress =
            if open.last.is_some_and(has_moved) { ProgressSince::Some } else { ProgressSince::None };
        let last = open.last.map(|last| last.remedy);
        let Some(remedy) = next_remedy(key.cause, last, progress) else { return };
        let spent = self.spent.get(&domain).map_or(0, Vec::len);
        let due = if now < open.not_before {
            RemedyDue::After(open.not_before)
        } else if spent >= REMEDIES_PER_HOUR_MAX {
            RemedyDue::RateLimited
        } else {
            RemedyDue::Now
        };
        plan.remedies.push(PlannedRemedy { key, incident, remedy, due });
    }

    /// Returns what the latest look found.
    #[must_use]
    pub fn findings(&self) -> &BTreeMap<IncidentKey, IncidentFinding> {
        &self.found
    }

    /// Returns the incident that is open under a key.
    #[must_use]
    pub fn incident(&self, key: &IncidentKey) -> Option<IncidentId> {
        self.open.get(key).map(|open| open.incident)
    }

    /// Takes in that an incident was recorded as open.
    pub fn opened(&mut self, key: IncidentKey, incident: IncidentId, now: BootTime) {
        self.quiet_looks = 0;
        let new = OpenIncident { incident, remedies: 0, last: None, not_before: now, check_at: None };
        self.open.entry(key).or_insert(new);
    }

    /// Takes in that a remedy was recorded as begun.
    pub fn remedy_started(&mut self, key: &IncidentKey, remedy: RemedyKind, now: BootTime) {
        self.quiet_looks = 0;
        let marker = self.found.get(key).map(|finding| finding.marker);
        let Some(open) = self.open.get_mut(key) else { return };
        open.remedies = open.remedies.saturating_add(1);
        open.last = Some(PerformedRemedy { remedy, marker });
        open.check_at = Some(now.after(self.times.settle_span));
        open.not_before = now.after(self.times.pause_after(open.remedies));
        self.spent.entry(key.cause.domain()).or_default().push(now);
    }

    /// Takes in that a remedy was recorded as ended.
    pub fn remedy_ended(&mut self, key: &IncidentKey) {
        self.quiet_looks = 0;
        if let Some(open) = self.open.get_mut(key) {
            open.check_at = None;
        }
    }

    /// Takes in that an incident was recorded as over.
    pub fn resolved(&mut self, key: &IncidentKey) {
        self.quiet_looks = 0;
        self.open.remove(key);
    }

    /// Returns whether an incident is open.
    #[must_use]
    pub fn has_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// Returns the time after which another look is needed by itself; `None` where a signal comes before anything can be
    /// found.
    ///
    /// Something that could become an incident needs the next look soon, a remedy at the time of its check, and one that
    /// waits at its due time. Otherwise an open incident is looked at after a pause that grows while nothing changes.
    #[must_use]
    pub fn next_look(&self, modes: &HealingModes, now: BootTime) -> Option<Duration> {
        let is_found = |key: &IncidentKey| self.found.contains_key(&IncidentKey::of(key.cause, key.subject));
        if self.silences.keys().any(|key| !is_found(key)) {
            return Some(self.times.look_span);
        }
        if self.open.is_empty() && self.silences.is_empty() {
            return None;
        }
        let planned = self.plan(modes, now).remedies;
        let waiting =
            planned.into_iter().filter(|remedy| modes.of(remedy.key.cause.domain()) == SelfHealingMode::Auto);
        let due = waiting.map(|remedy| match remedy.due {
            RemedyDue::Now => now,
            RemedyDue::After(at) => at,
            RemedyDue::RateLimited => self.free_at(remedy.key.cause.domain(), now),
        });
        let checks = self.open.values().filter_map(|open| open.check_at);
        let quiet = self.times.look_span_after(self.quiet_looks);
        let next = checks.chain(due).min().map(|at| at.since(now));
        Some(next.map_or(quiet, |next| next.min(quiet).max(self.times.look_span)))
    }

    /// Returns when a domain that had all remedies of an hour may have another one.
    fn free_at(&self, domain: HealingDomain, now: BootTime) -> BootTime {
        let first = self.spent.get(&domain).and_then(|begun| begun.iter().min());
        first.map_or(now, |first| first.after(HOUR))
    }
}

#[cfg(test)]
mod tests;
