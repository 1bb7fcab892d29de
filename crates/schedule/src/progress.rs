//! How far a schedule is: what a store keeps of it beside its definition.
//!
//! Owns the fold, which reads no specification, so a store needs no time zones for it. Invariant:
//! [`ScheduleProgress::evolve`] is the only writer, and the settled instant only rises.

use palyra_types::Timestamp;

use crate::event::{OccurrenceCause, OccurrenceOutcome, PauseCause, ScheduleChange};

/// How far a schedule is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScheduleProgress {
    /// Planned instants up to this one are settled.
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

impl Default for ScheduleProgress {
    fn default() -> Self {
        Self {
            settled_up_to: Timestamp(i64::MIN),
            paused: None,
            running: None,
            cancel_requested: false,
            waiting: Vec::new(),
            failures: 0,
        }
    }
}

impl ScheduleProgress {
    /// Applies one event.
    pub fn evolve(&mut self, event: &ScheduleChange) {
        match event {
            ScheduleChange::Created { at, .. } => self.settle_up_to(*at),
            ScheduleChange::Edited { at, .. } => {
                self.failures = 0;
                self.settle_up_to(*at);
            }
            ScheduleChange::Paused { cause, at } => {
                self.paused = Some(*cause);
                self.settle_up_to(*at);
            }
            ScheduleChange::Resumed { at } => {
                self.paused = None;
                self.failures = 0;
                self.settle_up_to(*at);
            }
            ScheduleChange::Removed { .. } => self.waiting.clear(),
            ScheduleChange::OccurrenceCreated { planned, cause } => {
                self.waiting.push(*planned);
                match cause {
                    OccurrenceCause::Due | OccurrenceCause::Missed => self.settle_up_to(*planned),
                    OccurrenceCause::Manual => {}
                }
            }
            ScheduleChange::OccurrenceStarted { planned, .. } => {
                self.waiting.retain(|waiting| waiting != planned);
                self.running = Some(*planned);
                self.cancel_requested = false;
            }
            ScheduleChange::CancelRequested { planned } => {
                self.cancel_requested = self.running == Some(*planned);
            }
            ScheduleChange::OccurrenceFinished { planned, outcome } => self.finish(*planned, *outcome),
            ScheduleChange::OccurrenceSkipped { planned, .. } => {
                self.waiting.retain(|waiting| waiting != planned);
                self.settle_up_to(*planned);
            }
            ScheduleChange::OccurrencesSkipped { last, .. } => self.settle_up_to(*last),
        }
    }

    /// Moves the settled instant forth, never back: a clock that was set back makes no instant due again.
    pub fn settle_up_to(&mut self, instant: Timestamp) {
        self.settled_up_to = self.settled_up_to.max(instant);
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
