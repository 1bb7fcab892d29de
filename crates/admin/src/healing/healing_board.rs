//! What the latest look showed, for callers, and their requests for another one.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use palyra_healing::{
    DomainFacts, HealingDomain, HealingFacts, HealingModes, IncidentFinding, IncidentKey, PlannedRemedy,
};
use tokio::sync::Notify;

use super::subject_names::SubjectNames;

/// How a domain is watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DomainWatch {
    /// It is watched.
    Watched,
    /// It could not be read at the latest look.
    Unread,
    /// This version has the system and does not watch it.
    NotWatched,
    /// This version has no such system.
    Absent,
}

impl DomainWatch {
    fn of<T>(facts: &DomainFacts<T>) -> Self {
        match facts {
            DomainFacts::Absent => Self::Absent,
            DomainFacts::NotWatched => Self::NotWatched,
            DomainFacts::Unread => Self::Unread,
            DomainFacts::Read(_) => Self::Watched,
        }
    }
}

/// Shared by the task and by callers.
#[derive(Default)]
pub(super) struct HealingBoard {
    shown: Mutex<ShownLook>,
    watched: Mutex<BTreeMap<HealingDomain, DomainWatch>>,
    is_requested: AtomicBool,
    request: Notify,
}

/// What a look showed.
#[derive(Default)]
pub(super) struct ShownLook {
    pub(super) remedies: Vec<PlannedRemedy>,
    pub(super) findings: BTreeMap<IncidentKey, IncidentFinding>,
    pub(super) subjects: SubjectNames,
    pub(super) modes: HealingModes,
}

impl HealingBoard {
    /// Shows what a look found.
    pub(super) fn show(&self, facts: &HealingFacts, look: ShownLook) {
        let watched = BTreeMap::from([
            (HealingDomain::Runs, DomainWatch::of(&facts.runs)),
            (HealingDomain::Tasks, DomainWatch::of(&facts.tasks)),
            (HealingDomain::Approvals, DomainWatch::of(&facts.approvals)),
            (HealingDomain::Artifacts, DomainWatch::of(&facts.artifacts)),
            (HealingDomain::Channels, DomainWatch::of(&facts.channels)),
            (HealingDomain::Providers, DomainWatch::of(&facts.providers)),
            (HealingDomain::Journal, DomainWatch::of(&facts.journal)),
            (HealingDomain::Sandbox, DomainWatch::of(&facts.sandbox)),
            (HealingDomain::Workers, DomainWatch::of(&facts.workers)),
            (HealingDomain::Browser, DomainWatch::of(&facts.browser)),
        ]);
        *self.watched.lock().unwrap_or_else(PoisonError::into_inner) = watched;
        *self.shown() = look;
    }

    fn shown(&self) -> MutexGuard<'_, ShownLook> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns what the latest look found under a key.
    pub(super) fn finding(&self, key: &IncidentKey) -> Option<IncidentFinding> {
        self.shown().findings.get(key).copied()
    }

    /// Returns the name of a subject that has none of its own.
    pub(super) fn subject_name(&self, key: &IncidentKey) -> Option<String> {
        self.shown().subjects.of_key(key)
    }

    /// Returns the next remedy of an incident, as the latest look planned it.
    pub(super) fn planned(&self, key: &IncidentKey) -> Option<PlannedRemedy> {
        self.shown().remedies.iter().find(|remedy| remedy.key == *key).copied()
    }

    /// Returns how a domain is watched; before the first look it is not.
    pub(super) fn watch_of(&self, domain: HealingDomain) -> DomainWatch {
        let watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        watched.get(&domain).copied().unwrap_or(DomainWatch::NotWatched)
    }

    /// Returns the modes that the latest look went by.
    pub(super) fn modes(&self) -> HealingModes {
        self.shown().modes
    }

    /// Asks for a look at once.
    pub(super) fn ask(&self) {
        self.is_requested.store(true, Ordering::Release);
        self.request.notify_one();
    }

    /// Waits for such a request.
    pub(super) async fn requested(&self) {
        self.request.notified().await;
    }

    /// Returns whether there was one, once.
    pub(super) fn take_request(&self) -> bool {
        self.is_requested.swap(false, Ordering::AcqRel)
    }
}
