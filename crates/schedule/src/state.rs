//! One schedule: what its events have made of it.
//!
//! Owns the fold. Knows no clock: times are in the events. A specification that cannot be read any more, after an upgrade of
//! the program or of the time zones, makes a schedule that is never due and says why; it hinders no other schedule.
//!
//! Invariant: [`ScheduleState::evolve`] is the only writer, and an instant up to the cursor never becomes an occurrence again,
//! however clocks jump. Begin there; [`ScheduleState::decide`] is in `decision.rs`.

use std::collections::VecDeque;
use std::sync::Arc;

use jiff::tz::TimeZoneDatabase;
use palyra_types::{ScheduleId, Timestamp};

use crate::definition::ScheduleDefinition;
use crate::event::{OccurrenceCause, OccurrenceOutcome, PauseCause, ScheduleEvent};
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
    /// Planned instants up to this one are settled.
    pub(crate) cursor: Timestamp,
    /// The first planned instant after the cursor.
    pub(crate) next: Option<Timestamp>,
    pub(crate) paused: Option<PauseCause>,
    pub(crate) running: Option<Timestamp>,
    pub(crate) cancel_requested: bool,
    pub(crate) waiting: VecDeque<Timestamp>,
    pub(crate) failures: u32,
}

/// What a store keeps of a schedule, so that a start does not need all its events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScheduleSnapshot {
    /// What it does; `None` once it was removed.
    pub definition: Option<ScheduleDefinition>,
    /// The instant up to which planned instants are settled.
    pub settled_up_to: Timestamp,
    /// Why it is paused.
    pub paused: Option<PauseCause>,
    /// The planned instant of the running occurrence.
    pub running: Option<Timestamp>,
    /// Whether the running occurrence is to be cancelled.
    pub cancel_requested: bool,
    /// The planned instants of the occurrences that wait, in order.
    pub waiting: Vec<Timestamp>,
    /// Failures in a row.
    pub failures: u32,
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
        Self {
            id,
            zones,
            body: None,
            cursor: Timestamp(i64::MIN),
            next: None,
            paused: None,
            running: None,
            cancel_requested: false,
            waiting: VecDeque::new(),
            failures: 0,
        }
    }

    /// Makes a schedule again from what a store kept of it.
    #[must_use]
    pub fn restored(id: ScheduleId, zones: TimeZoneDatabase, snapshot: &ScheduleSnapshot) -> Self {
        let mut state = Self::new(id, zones);
        if let Some(definition) = &snapshot.definition {
            state.set_definition(definition);
        }
        state.settle_up_to(snapshot.settled_up_to);
        state.paused = snapshot.paused;
        state.running = snapshot.running;
        state.cancel_requested = snapshot.cancel_requested;
        state.waiting = snapshot.waiting.iter().copied().collect();
        state.failures = snapshot.failures;
        state
    }

    /// Returns what a store keeps of the schedule.
    #[must_use]
    pub fn snapshot(&self) -> ScheduleSnapshot {
        ScheduleSnapshot {
            definition: self.definition().cloned(),
            settled_up_to: self.cursor,
            paused: self.paused,
            running: self.running,
            cancel_requested: self.cancel_requested,
            waiting: self.waiting().collect(),
            failures: self.failures,
        }
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
        self.paused
    }

    /// Returns the planned instant of the running occurrence.
    #[must_use]
    pub fn running(&self) -> Option<Timestamp> {
        self.running
    }

    /// Returns the planned instants of the occurrences that wait for their start, in order.
    pub fn waiting(&self) -> impl Iterator<Item = Timestamp> + '_ {
        self.waiting.iter().copied()
    }

    /// Returns how many occurrences in a row have failed.
    #[must_use]
    pub fn failures(&self) -> u32 {
        self.failures
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
    pub fn evolve(&mut self, event: &ScheduleEvent) {
        match event {
            ScheduleEvent::Created { definition, at } => {
                self.set_definition(definition);
                self.settle_up_to(*at);
            }
            ScheduleEvent::Edited { definition, at } => {
                self.set_definition(definition);
                self.failures = 0;
                self.settle_up_to(*at);
            }
            ScheduleEvent::Paused { cause, at } => {
                self.paused = Some(*cause);
                self.settle_up_to(*at);
            }
            ScheduleEvent::Resumed { at } => {
                self.paused = None;
                self.failures = 0;
                self.settle_up_to(*at);
            }
            ScheduleEvent::Removed { .. } => {
                self.body = None;
                self.waiting.clear();
                self.next = None;
            }
            ScheduleEvent::OccurrenceCreated { planned, cause } => {
                self.waiting.push_back(*planned);
                match cause {
                    OccurrenceCause::Due | OccurrenceCause::Missed => self.settle_up_to(*planned),
                    OccurrenceCause::Manual => {}
                }
            }
            ScheduleEvent::OccurrenceStarted { planned, .. } => {
                self.waiting.retain(|waiting| waiting != planned);
                self.running = Some(*planned);
                self.cancel_requested = false;
            }
            ScheduleEvent::CancelRequested { planned } => {
                self.cancel_requested = self.running == Some(*planned);
            }
            ScheduleEvent::OccurrenceFinished { planned, outcome } => self.finish(*planned, *outcome),
            ScheduleEvent::OccurrenceSkipped { planned, .. } => {
                self.waiting.retain(|waiting| waiting != planned);
                self.settle_up_to(*planned);
            }
            ScheduleEvent::OccurrencesSkipped { last, .. } => self.settle_up_to(*last),
        }
    }

    fn set_definition(&mut self, definition: &ScheduleDefinition) {
        let planned_times =
            PlannedTimes::new(&definition.spec, &self.zones).map_err(|cause| cause.to_string());
        self.body = Some(Arc::new(ScheduleBody { definition: definition.clone(), planned_times }));
        self.next = None;
    }

    /// Moves the cursor forth, never back: a clock that was set back makes no instant due again.
    pub(crate) fn settle_up_to(&mut self, instant: Timestamp) {
        let is_settled = instant < self.cursor || self.next.is_some_and(|next| instant < next);
        self.cursor = self.cursor.max(instant);
        if is_settled && self.next.is_some() {
            return;
        }
        let planned_times = self.body.as_ref().and_then(|body| body.planned_times.as_ref().ok());
        self.next = planned_times.and_then(|planned_times| planned_times.next_after(self.cursor));
    }

    fn finish(&mut self, planned: Timestamp, outcome: OccurrenceOutcome) {
        if self.running == Some(planned) {
            self.running = None;
            self.cancel_requested = false;
        }
        match outcome {
            OccurrenceOutcome::Succeeded => self.failures = 0,
            OccurrenceOutcome::Failed => self.failures = self.failures.saturating_add(1),
            OccurrenceOutcome::Cancelled | OccurrenceOutcome::Replaced => {}
        }
    }
}

#[cfg(test)]
mod tests;
