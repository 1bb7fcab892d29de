//! All schedules, with an index of the times at which they have to be looked at.
//!
//! Owns the index, pauses of many schedules at once, and the limit of each principal. The caller waits until
//! [`SchedulePlan::next_wake`] and then decides for the schedules of [`SchedulePlan::due`] only, so that schedules which are not
//! due cost nothing.
//!
//! Invariant: the index has exactly one time for each schedule that has one. Begin at [`SchedulePlan::apply`].

use std::collections::{BTreeMap, BTreeSet};

use jiff::tz::TimeZoneDatabase;
pub use palyra_types::schedule::PauseScope;
use palyra_types::{PrincipalId, ScheduleId, Timestamp};

use crate::event::{ScheduleChange, SkipReason};
use crate::state::{ScheduleSnapshot, ScheduleState};

/// Schedules of one principal, at most.
pub const SCHEDULES_PER_PRINCIPAL_MAX: usize = 200;

/// The principal has too many schedules.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the limit of {SCHEDULES_PER_PRINCIPAL_MAX} schedules is reached: remove one first")]
pub struct TooManySchedules;

/// A pause of many schedules, or its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanEvent {
    /// Nothing of the scope starts.
    Paused {
        /// The schedules.
        scope: PauseScope,
        /// When.
        at: Timestamp,
    },
    /// They go on with the occurrences that are planned later than this. Schedules paused one by one stay paused.
    Resumed {
        /// The schedules.
        scope: PauseScope,
        /// When.
        at: Timestamp,
    },
}

/// All schedules.
#[derive(Debug, Clone)]
pub struct SchedulePlan {
    zones: TimeZoneDatabase,
    states: BTreeMap<ScheduleId, ScheduleState>,
    counts: BTreeMap<PrincipalId, usize>,
    paused: BTreeSet<PauseScope>,
    wakes: BTreeSet<(Timestamp, ScheduleId)>,
    wake_of: BTreeMap<ScheduleId, Timestamp>,
}

impl SchedulePlan {
    /// Makes a plan without schedules.
    #[must_use]
    pub fn new(zones: TimeZoneDatabase) -> Self {
        Self {
            zones,
            states: BTreeMap::new(),
            counts: BTreeMap::new(),
            paused: BTreeSet::new(),
            wakes: BTreeSet::new(),
            wake_of: BTreeMap::new(),
        }
    }

    /// Returns a schedule.
    #[must_use]
    pub fn schedule(&self, id: ScheduleId) -> Option<&ScheduleState> {
        self.states.get(&id)
    }

    /// Returns the first time at which a schedule has to be looked at; `None` if only an event changes anything.
    #[must_use]
    pub fn next_wake(&self) -> Option<Timestamp> {
        self.wakes.first().map(|(wake, _)| *wake)
    }

    /// Returns the schedules whose time has come, the earliest first. It looks at no other.
    pub fn due(&self, now: Timestamp) -> impl Iterator<Item = ScheduleId> + '_ {
        self.wakes.iter().take_while(move |(wake, _)| *wake <= now).map(|(_, id)| *id)
    }

    /// Checks whether a principal may have one more schedule.
    ///
    /// # Errors
    /// [`TooManySchedules`] at the limit.
    pub fn check_limit(&self, principal: PrincipalId) -> Result<(), TooManySchedules> {
        let count = self.counts.get(&principal).copied().unwrap_or(0);
        if count < SCHEDULES_PER_PRINCIPAL_MAX { Ok(()) } else { Err(TooManySchedules) }
    }

    /// Returns whether all schedules of a principal are paused at once.
    #[must_use]
    pub fn is_principal_paused(&self, principal: PrincipalId) -> bool {
        self.paused.contains(&PauseScope::Everyone) || self.paused.contains(&PauseScope::Principal(principal))
    }

    /// Pauses the schedules of a scope again, as a store kept it; before they are restored.
    pub fn restore_pause(&mut self, scope: PauseScope) {
        self.paused.insert(scope);
    }

    /// Adds a schedule again from what a store kept of it.
    pub fn restore(&mut self, id: ScheduleId, snapshot: &ScheduleSnapshot) {
        let state = ScheduleState::restored(id, self.zones.clone(), snapshot);
        let before = self.states.get(&id).and_then(creator_of);
        self.count(before, creator_of(&state));
        self.states.insert(id, state);
        self.index(id);
    }

    /// Applies an event of one schedule.
    pub fn apply(&mut self, id: ScheduleId, event: &ScheduleChange) {
        let state = self.states.entry(id).or_insert_with(|| ScheduleState::new(id, self.zones.clone()));
        let before = creator_of(state);
        state.evolve(event);
        let after = creator_of(state);
        // A removed schedule stays until its running occurrence has ended.
        let is_gone = after.is_none() && state.running().is_none();
        self.count(before, after);
        if is_gone {
            self.states.remove(&id);
        }
        self.index(id);
    }

    /// Applies a pause of many schedules, or its end.
    pub fn apply_to_many(&mut self, event: PlanEvent) {
        match event {
            PlanEvent::Paused { scope, at } => {
                self.paused.insert(scope);
                self.settle_many(scope, at);
            }
            PlanEvent::Resumed { scope, at } => {
                self.paused.remove(&scope);
                self.settle_many(scope, at);
            }
        }
    }

    /// Returns the events that skip the waiting occurrences of a scope: they are recorded together with its pause.
    #[must_use]
    pub fn decide_pause_of_many(&self, scope: PauseScope) -> Vec<(ScheduleId, ScheduleChange)> {
        let mut events = Vec::new();
        for (id, state) in self.states.iter().filter(|(_, state)| is_in(scope, state)) {
            events.extend(state.skip_waiting(SkipReason::Paused).into_iter().map(|event| (*id, event)));
        }
        events
    }

    fn settle_many(&mut self, scope: PauseScope, at: Timestamp) {
        let mut ids = Vec::new();
        for (id, state) in self.states.iter_mut().filter(|(_, state)| is_in(scope, state)) {
            state.settle_up_to(at);
            ids.push(*id);
        }
        for id in ids {
            self.index(id);
        }
    }

    fn count(&mut self, before: Option<PrincipalId>, after: Option<PrincipalId>) {
        if before == after {
            return;
        }
        if let Some(count) = before.and_then(|principal| self.counts.get_mut(&principal)) {
            *count = count.saturating_sub(1);
        }
        if let Some(principal) = after {
            *self.counts.entry(principal).or_default() += 1;
        }
    }

    fn index(&mut self, id: ScheduleId) {
        if let Some(wake) = self.wake_of.remove(&id) {
            self.wakes.remove(&(wake, id));
        }
        let Some(state) = self.states.get(&id) else { return };
        let is_paused = creator_of(state).is_some_and(|principal| self.is_principal_paused(principal));
        if let Some(wake) = state.next_wake().filter(|_| !is_paused) {
            self.wakes.insert((wake, id));
            self.wake_of.insert(id, wake);
        }
    }
}

fn creator_of(state: &ScheduleState) -> Option<PrincipalId> {
    state.definition().map(|definition| definition.provenance.creator)
}

fn is_in(scope: PauseScope, state: &ScheduleState) -> bool {
    match scope {
        PauseScope::Everyone => true,
        PauseScope::Principal(principal) => creator_of(state) == Some(principal),
    }
}

#[cfg(test)]
mod tests;
