//! What a schedule does at a time: which occurrences run, which are skipped and why, and when there is something to decide next.
//!
//! Decides only. The caller records the events in one append, then performs the effects; after a crash in between, the fold
//! of what was recorded makes the same decision or knows the occurrence as running.
//!
//! An occurrence is on time for less than a minute, the smallest interval, so at most one is. Earlier ones are missed.
//! Begin at [`ScheduleState::decide`].

use std::collections::VecDeque;

use palyra_types::Timestamp;

use crate::definition::OccurrenceRefusal;
use crate::event::{OccurrenceCause, OccurrenceOutcome, PauseCause, ScheduleChange, SkipReason};
use crate::rules::{OverlapRule, ScheduleRules, due_at};
use crate::state::{FAILURES_MAX, ScheduleState, WAITING_MAX};

/// Lateness from which an occurrence is missed, in microseconds.
const MISSED_AFTER_MICROS: i64 = 60 * 1_000_000;
/// How far back missed occurrences are looked for: 31 days, in microseconds.
const MISSED_WINDOW_MICROS: i64 = 31 * 24 * 60 * 60 * 1_000_000;
/// Skipped occurrences of one decision that have an entry each, at most.
pub const SKIPPED_ENTRIES_MAX: usize = 100;

/// Whether occurrences may start now, by the occurrence check of the caller.
pub type OccurrenceCheck = Result<(), OccurrenceRefusal>;

/// What the caller does after the events are recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScheduleEffect {
    /// Starts the run, or delivers the reminder, of an occurrence. The planned instant is the key under which it is started
    /// at most once.
    Start {
        /// The planned instant.
        planned: Timestamp,
    },
    /// Cancels the run of an occurrence; its end is recorded as replaced.
    Cancel {
        /// The planned instant.
        planned: Timestamp,
    },
}

/// Why a start by hand starts nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum StartRefusal {
    /// The schedule is gone.
    #[error("the schedule was removed: create it again")]
    Removed,
    /// An occurrence runs or waits.
    #[error("an occurrence of the schedule runs or waits: wait for its end, or cancel it first")]
    Busy,
    /// The occurrence check refuses it.
    #[error("the schedule may not start now: edit it, which approves it again")]
    Refused(OccurrenceRefusal),
}

/// Events to record and effects to perform.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ScheduleDecision {
    /// In order, as one append.
    pub events: Vec<ScheduleChange>,
    /// In order, after the append.
    pub effects: Vec<ScheduleEffect>,
}

impl ScheduleState {
    /// Returns when to call [`decide`](Self::decide) next; `None` if only an event changes anything. A time that has passed
    /// means now.
    #[must_use]
    pub fn next_wake(&self) -> Option<Timestamp> {
        let body = self.body.as_ref().filter(|_| self.progress.paused.is_none())?;
        if self.progress.running.is_none() && !self.progress.waiting.is_empty() {
            return Some(Timestamp(i64::MIN));
        }
        self.next.map(|planned| due_at(&body.definition.rules, self.id, planned))
    }

    /// Returns what happens at `now`, changing nothing.
    #[must_use]
    pub fn decide(&self, now: Timestamp, check: OccurrenceCheck) -> ScheduleDecision {
        let Some(rules) =
            self.definition().map(|definition| definition.rules).filter(|_| self.progress.paused.is_none())
        else {
            return ScheduleDecision::default();
        };
        let mut draft =
            DecisionDraft { state: self.clone(), rules, check, now, decision: ScheduleDecision::default() };
        draft.settle_missed();
        draft.start_first();
        draft.settle_due();
        draft.start_first();
        draft.decision
    }

    /// Returns what a start by hand does, also while the schedule is paused.
    ///
    /// # Errors
    /// [`StartRefusal`]: nothing starts.
    pub fn decide_start_now(
        &self,
        now: Timestamp,
        check: OccurrenceCheck,
    ) -> Result<ScheduleDecision, StartRefusal> {
        if self.body.is_none() {
            return Err(StartRefusal::Removed);
        }
        if self.progress.running.is_some() || !self.progress.waiting.is_empty() {
            return Err(StartRefusal::Busy);
        }
        check.map_err(StartRefusal::Refused)?;
        // Planned instants are whole minutes; this one never has the name of one of them.
        let is_whole_minute = now.0.rem_euclid(MISSED_AFTER_MICROS) == 0;
        let planned = if is_whole_minute { Timestamp(now.0.saturating_add(1)) } else { now };
        let events = vec![
            ScheduleChange::OccurrenceCreated { planned, cause: OccurrenceCause::Manual },
            ScheduleChange::OccurrenceStarted { planned, at: now },
        ];
        Ok(ScheduleDecision { events, effects: vec![ScheduleEffect::Start { planned }] })
    }

    /// Returns the effects of recorded events that a crash may have prevented: they are performed again under their key.
    #[must_use]
    pub fn unfinished_effects(&self) -> Vec<ScheduleEffect> {
        let Some(planned) = self.progress.running else { return Vec::new() };
        let mut effects = vec![ScheduleEffect::Start { planned }];
        if self.progress.cancel_requested {
            effects.push(ScheduleEffect::Cancel { planned });
        }
        effects
    }

    /// Returns the events of the end of an occurrence; none if it is not the running one.
    #[must_use]
    pub fn decide_finish(
        &self,
        planned: Timestamp,
        outcome: OccurrenceOutcome,
        now: Timestamp,
    ) -> Vec<ScheduleChange> {
        if self.progress.running != Some(planned) {
            return Vec::new();
        }
        let mut events = vec![ScheduleChange::OccurrenceFinished { planned, outcome }];
        let is_last_failure =
            outcome == OccurrenceOutcome::Failed && self.progress.failures + 1 >= FAILURES_MAX;
        if is_last_failure && self.progress.paused.is_none() && self.body.is_some() {
            events.extend(self.decide_pause(PauseCause::Failures, now));
        }
        events
    }

    /// Returns the events of a pause: occurrences that wait are skipped, a running one goes on.
    #[must_use]
    pub fn decide_pause(&self, cause: PauseCause, now: Timestamp) -> Vec<ScheduleChange> {
        let mut events = self.skip_waiting(SkipReason::Paused);
        events.push(ScheduleChange::Paused { cause, at: now });
        events
    }

    /// Returns the events that skip all occurrences that wait.
    #[must_use]
    pub fn skip_waiting(&self, reason: SkipReason) -> Vec<ScheduleChange> {
        self.waiting().map(|planned| ScheduleChange::OccurrenceSkipped { planned, reason }).collect()
    }
}

/// A decision while it is made, with a state that has its events.
struct DecisionDraft {
    state: ScheduleState,
    rules: ScheduleRules,
    check: OccurrenceCheck,
    now: Timestamp,
    decision: ScheduleDecision,
}

impl DecisionDraft {
    fn record(&mut self, event: ScheduleChange) {
        self.state.evolve(&event);
        self.decision.events.push(event);
    }

    fn skip(&mut self, planned: Timestamp, reason: SkipReason) {
        self.record(ScheduleChange::OccurrenceSkipped { planned, reason });
    }

    /// Returns the next planned instant if its time has come.
    fn next_due(&self) -> Option<Timestamp> {
        self.state.next.filter(|planned| due_at(&self.rules, self.state.id, *planned) <= self.now)
    }

    fn is_missed(&self, planned: Timestamp) -> bool {
        let due = due_at(&self.rules, self.state.id, planned);
        self.now.0.saturating_sub(due.0) >= MISSED_AFTER_MICROS
    }

    fn settle_missed(&mut self) {
        if !self.state.next.is_some_and(|planned| self.is_missed(planned)) {
            return;
        }
        self.skip_uncounted();
        let latest_count = SKIPPED_ENTRIES_MAX + self.rules.missed.kept();
        let mut latest = VecDeque::new();
        let mut earlier: Option<(Timestamp, Timestamp, u32)> = None;
        for planned in self.state.missed_candidates() {
            if !self.is_missed(planned) {
                break;
            }
            latest.push_back(planned);
            if latest.len() > latest_count
                && let Some(oldest) = latest.pop_front()
            {
                let (first, count) = earlier.map_or((oldest, 0), |(first, _, count)| (first, count));
                earlier = Some((first, oldest, count + 1));
            }
        }
        if let Some((first, last, count)) = earlier {
            self.record(ScheduleChange::OccurrencesSkipped { first, last, count: Some(count) });
        }
        let skipped = latest.len().saturating_sub(self.rules.missed.kept());
        for (index, planned) in latest.into_iter().enumerate() {
            if index < skipped {
                self.skip(planned, SkipReason::Missed);
            } else {
                self.wait(planned, OccurrenceCause::Missed);
            }
        }
    }

    /// Skips what is too long ago without counting it: a clock that was years behind costs no more than one a month behind.
    fn skip_uncounted(&mut self) {
        let window_start = Timestamp(self.now.0.saturating_sub(MISSED_WINDOW_MICROS));
        if let Some(first) = self.state.next.filter(|planned| *planned < window_start) {
            self.record(ScheduleChange::OccurrencesSkipped { first, last: window_start, count: None });
        }
    }

    fn wait(&mut self, planned: Timestamp, cause: OccurrenceCause) {
        if let Err(refusal) = self.check {
            self.skip(planned, SkipReason::Refused(refusal));
        } else if self.state.progress.waiting.len() >= WAITING_MAX {
            self.skip(planned, SkipReason::LineFull);
        } else {
            self.record(ScheduleChange::OccurrenceCreated { planned, cause });
        }
    }

    fn start_first(&mut self) {
        if let Err(refusal) = self.check {
            for event in self.state.skip_waiting(SkipReason::Refused(refusal)) {
                self.record(event);
            }
        }
        if self.state.progress.running.is_some() {
            return;
        }
        if let Some(planned) = self.state.progress.waiting.first().copied() {
            self.record(ScheduleChange::OccurrenceStarted { planned, at: self.now });
            self.decision.effects.push(ScheduleEffect::Start { planned });
        }
    }

    fn settle_due(&mut self) {
        let Some(planned) = self.next_due() else { return };
        let is_busy = self.state.progress.running.is_some() || !self.state.progress.waiting.is_empty();
        match self.rules.overlap {
            OverlapRule::Forbid if is_busy => self.skip(planned, SkipReason::Overlap),
            OverlapRule::Replace if is_busy && self.check.is_ok() => self.replace(planned),
            OverlapRule::Forbid | OverlapRule::Queue | OverlapRule::Replace => {
                self.wait(planned, OccurrenceCause::Due);
            }
        }
    }

    /// Cancels the running occurrence. The new one starts when the end of the old one is recorded.
    fn replace(&mut self, planned: Timestamp) {
        for event in self.state.skip_waiting(SkipReason::Replaced) {
            self.record(event);
        }
        if let Some(running) = self.state.progress.running {
            if !self.state.progress.cancel_requested {
                self.record(ScheduleChange::CancelRequested { planned: running });
            }
            self.decision.effects.push(ScheduleEffect::Cancel { planned: running });
        }
        self.wait(planned, OccurrenceCause::Due);
    }
}

impl ScheduleState {
    fn missed_candidates(&self) -> impl Iterator<Item = Timestamp> + use<> {
        let body = self.body.clone();
        std::iter::successors(self.next, move |planned| {
            body.as_ref()
                .and_then(|body| body.planned_times.as_ref().ok())
                .and_then(|planned_times| planned_times.next_after(*planned))
        })
    }
}

#[cfg(test)]
mod tests;
