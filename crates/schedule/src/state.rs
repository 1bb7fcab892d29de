//! One schedule: what its events have made of it.
//!
//! Owns the planned instants of it; `progress.rs` has the fold. Knows no clock: times are in the events. A specification that cannot be read any more, after an upgrade of
//! the program or of the time zones, makes a schedule that is never due and says why; it hinders no other schedule.
//!
//! Invariant: [`ScheduleState::evolve`] is the only writer, and an instant up to the cursor never becomes an occurrence again,
//! however clocks jump. Begin there; [`ScheduleState::decide`] is in `decision.rs`.

use std::sync::Arc;

use jiff::tz::TimeZoneDatabase;
use palyra_types::{ScheduleId, Timestamp};

use crate::definition::ScheduleDefinition;
use crate::event::{PauseCause, ScheduleChange};
use crate::progress::ScheduleProgress;
use crate::spec::PlannedTimes;

/// Occurrences of one schedule that wait for their start, at most.
pub const WAITING_MAX: usize = 10;
/// Failures in a row after which a schedule is paused.
pub const FAILURES_MAX: u32 = 5;

/// A schedule.
#[derive(Debug, Clone)]
pub struct ScheduleState {
    pub(crate) id: ScheduleId,
    pub(crate) zones: TimeZoneDatabase,
    pub(crate) body: Option<Arc<ScheduleBody>>,
    pub(crate) progress: ScheduleProgress,
    /// The first planned instant after the settled ones.
    pub(crate) next: Option<Timestamp>,
}

/// What a store keeps of a schedule, so that a start does not need all its events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScheduleSnapshot {
    /// What it does; `None` once it was removed.
    pub definition: Option<ScheduleDefinition>,
    /// How far it is.
    pub progress: ScheduleProgress,
}

#[derive(Debug, Clone)]
pub(crate) struct ScheduleBody {
    pub(crate) definition: ScheduleDefinition,
    pub(crate) planned_times: Result<PlannedTimes, String>,
}

impl ScheduleState {
    /// Makes a schedule without events. `zones` are the time zones that its specification is read with.
    #[must_use]
    pub fn new(id: ScheduleId, zones: TimeZoneDatabase) -> Self {
        Self { id, zones, body: None, progress: ScheduleProgress::default(), next: None }
    }

    /// Makes a schedule again from what a store kept of it.
    #[must_use]
    pub fn restored(id: ScheduleId, zones: TimeZoneDatabase, snapshot: &ScheduleSnapshot) -> Self {
        let mut state = Self::new(id, zones);
        if let Some(definition) = &snapshot.definition {
            state.set_definition(definition);
        }
        state.progress = snapshot.progress.clone();
        state.plan_next();
        state
    }

    /// Returns what a store keeps of the schedule.
    #[must_use]
    pub fn snapshot(&self) -> ScheduleSnapshot {
        ScheduleSnapshot { definition: self.definition().cloned(), progress: self.progress.clone() }
    }

    /// Returns the definition; `None` before the schedule was made and after it was removed.
    #[must_use]
    pub fn definition(&self) -> Option<&ScheduleDefinition> {
        self.body.as_ref().map(|body| &body.definition)
    }

    /// Returns why the recorded specification cannot be read; `None` if it can.
    #[must_use]
    pub fn unreadable_cause(&self) -> Option<&str> {
        self.body.as_ref().and_then(|body| body.planned_times.as_ref().err()).map(String::as_str)
    }

    /// Returns why the schedule is paused.
    #[must_use]
    pub fn paused(&self) -> Option<PauseCause> {
        self.progress.paused
    }

    /// Returns the planned instant of the running occurrence.
    #[must_use]
    pub fn running(&self) -> Option<Timestamp> {
        self.progress.running
    }

    /// Returns whether the running occurrence is to be cancelled.
    #[must_use]
    pub fn is_cancel_requested(&self) -> bool {
        self.progress.cancel_requested
    }

    /// Returns the planned instants of the occurrences that wait for their start, in order.
    pub fn waiting(&self) -> impl Iterator<Item = Timestamp> + '_ {
        self.progress.waiting.iter().copied()
    }

    /// Returns how many occurrences in a row have failed.
    #[must_use]
    pub fn failures(&self) -> u32 {
        self.progress.failures
    }

    /// Returns the next planned instant, whether the schedule is paused or not.
    #[must_use]
    pub fn next_planned(&self) -> Option<Timestamp> {
        self.next
    }

    /// Returns the planned instants later than `after`, for people to look at before they save.
    pub fn preview(&self, after: Timestamp) -> impl Iterator<Item = Timestamp> + '_ {
        let planned_times = self.body.as_ref().and_then(|body| body.planned_times.as_ref().ok());
        planned_times.into_iter().flat_map(move |planned_times| planned_times.iter_after(after))
    }

    /// Applies one event.
    pub fn evolve(&mut self, event: &ScheduleChange) {
        match event {
            ScheduleChange::Created { definition, .. } | ScheduleChange::Edited { definition, .. } => {
                self.set_definition(definition);
            }
            ScheduleChange::Removed { .. } => self.body = None,
            ScheduleChange::Paused { .. }
            | ScheduleChange::Resumed { .. }
            | ScheduleChange::OccurrenceCreated { .. }
            | ScheduleChange::OccurrenceStarted { .. }
            | ScheduleChange::CancelRequested { .. }
            | ScheduleChange::OccurrenceFinished { .. }
            | ScheduleChange::OccurrenceSkipped { .. }
            | ScheduleChange::OccurrencesSkipped { .. } => {}
        }
        self.progress.evolve(event);
        self.plan_next();
    }

    fn set_definition(&mut self, definition: &ScheduleDefinition) {
        let planned_times =
            PlannedTimes::new(&definition.spec, &self.zones).map_err(|cause| cause.to_string());
        self.body = Some(Arc::new(ScheduleBody { definition: definition.clone(), planned_times }));
        self.next = None;
    }

    /// Settles planned instants up to this one.
    pub(crate) fn settle_up_to(&mut self, instant: Timestamp) {
        self.progress.settle_up_to(instant);
        self.plan_next();
    }

    /// Finds the next planned instant, unless the known one is still to come.
    fn plan_next(&mut self) {
        let planned_times = self.body.as_ref().and_then(|body| body.planned_times.as_ref().ok());
        let settled = self.progress.settled_up_to;
        self.next = self
            .next
            .filter(|next| planned_times.is_some() && settled < *next)
            .or_else(|| planned_times.and_then(|planned_times| planned_times.next_after(settled)));
    }
}

#[cfg(test)]
mod tests;
