//! Schedules, as recorded facts and as records.
//!
//! Owns the values; when a schedule is due and what follows from an event is decided by the crate `schedule`. Invariant: the
//! planned instant names an occurrence of a schedule, so no event needs another key. Begin at [`ScheduleEvent`].

mod occurrence;
mod rules;
mod saved;

pub use occurrence::{
    OccurrenceCause, OccurrenceFinished, OccurrenceOutcome, OccurrenceRecord, OccurrenceRefusal,
    OccurrenceStage, PauseCause, PauseScope, SkipReason,
};
pub use rules::{CATCH_UP_MAX, MissedRule, OverlapRule, ScheduleRules};
pub use saved::{
    SCHEDULE_NAME_CHARS_MAX, SCHEDULE_TEXT_BYTES_MAX, SavedAction, SavedRun, SavedTimes, ScheduleProvenance,
    ScheduleSaved,
};

use crate::content_walk::ContentClass::Prose;
use crate::content_walk::content_rows;
use crate::{ScheduleId, Timestamp};

/// Something happened to a schedule; whose it is, is in the envelope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScheduleEvent {
    /// It was made.
    Created(ScheduleSaved),
    /// It was changed, which is a new approval.
    Edited(ScheduleSaved),
    /// Nothing starts until it is resumed.
    Paused {
        /// The schedule.
        schedule: ScheduleId,
        /// Why.
        cause: PauseCause,
        /// When.
        at: Timestamp,
    },
    /// It goes on with the occurrences that are planned later than this.
    Resumed {
        /// The schedule.
        schedule: ScheduleId,
        /// When.
        at: Timestamp,
    },
    /// It is gone.
    Removed {
        /// The schedule.
        schedule: ScheduleId,
        /// When.
        at: Timestamp,
    },
    /// An occurrence is due and waits for its start.
    OccurrenceCreated {
        /// The schedule.
        schedule: ScheduleId,
        /// The planned instant.
        planned: Timestamp,
        /// Why it runs.
        cause: OccurrenceCause,
    },
    /// The first of the waiting occurrences starts.
    OccurrenceStarted {
        /// The schedule.
        schedule: ScheduleId,
        /// The planned instant.
        planned: Timestamp,
        /// When it started.
        at: Timestamp,
    },
    /// The running occurrence is to be cancelled, because a later one replaces it.
    OccurrenceCancelRequested {
        /// The schedule.
        schedule: ScheduleId,
        /// The planned instant of the running one.
        planned: Timestamp,
    },
    /// The running occurrence has ended.
    OccurrenceFinished(OccurrenceFinished),
    /// An occurrence does not run.
    OccurrenceSkipped {
        /// The schedule.
        schedule: ScheduleId,
        /// The planned instant.
        planned: Timestamp,
        /// Why.
        reason: SkipReason,
    },
    /// Many missed occurrences do not run: those before the latest, which have an entry each.
    OccurrencesSkipped {
        /// The schedule.
        schedule: ScheduleId,
        /// The planned instant of the first.
        first: Timestamp,
        /// That of the last, or the time up to which they were not counted.
        last: Timestamp,
        /// How many; `None` if they are too long ago to be counted.
        count: Option<u32>,
    },
    /// Nothing of these schedules starts.
    ManyPaused {
        /// The schedules.
        scope: PauseScope,
        /// When.
        at: Timestamp,
    },
    /// They go on with the occurrences that are planned later than this. Schedules paused one by one stay paused.
    ManyResumed {
        /// The schedules.
        scope: PauseScope,
        /// When.
        at: Timestamp,
    },
}

impl ScheduleEvent {
    /// Returns the schedule; `None` for a pause of many.
    #[must_use]
    pub fn schedule(&self) -> Option<ScheduleId> {
        match self {
            Self::Created(saved) | Self::Edited(saved) => Some(saved.schedule),
            Self::OccurrenceFinished(finished) => Some(finished.schedule),
            Self::Paused { schedule, .. }
            | Self::Resumed { schedule, .. }
            | Self::Removed { schedule, .. }
            | Self::OccurrenceCreated { schedule, .. }
            | Self::OccurrenceStarted { schedule, .. }
            | Self::OccurrenceCancelRequested { schedule, .. }
            | Self::OccurrenceSkipped { schedule, .. }
            | Self::OccurrencesSkipped { schedule, .. } => Some(*schedule),
            Self::ManyPaused { .. } | Self::ManyResumed { .. } => None,
        }
    }
}

content_rows! {
    fn schedule_event(walk, event: ScheduleEvent) {
        match event {
            ScheduleEvent::Created(saved) | ScheduleEvent::Edited(saved) => walk.schedule_saved(saved),
            ScheduleEvent::OccurrenceFinished(finished) => walk.occurrence_finished(finished),
            ScheduleEvent::Paused { schedule: _, cause: _, at: _ }
            | ScheduleEvent::Resumed { schedule: _, at: _ }
            | ScheduleEvent::Removed { schedule: _, at: _ }
            | ScheduleEvent::OccurrenceCreated { schedule: _, planned: _, cause: _ }
            | ScheduleEvent::OccurrenceStarted { schedule: _, planned: _, at: _ }
            | ScheduleEvent::OccurrenceCancelRequested { schedule: _, planned: _ }
            | ScheduleEvent::OccurrenceSkipped { schedule: _, planned: _, reason: _ }
            | ScheduleEvent::OccurrencesSkipped { schedule: _, first: _, last: _, count: _ }
            | ScheduleEvent::ManyPaused { scope: _, at: _ }
            | ScheduleEvent::ManyResumed { scope: _, at: _ } => {}
        }
    }

    fn occurrence_finished(walk, finished: OccurrenceFinished) {
        let OccurrenceFinished { schedule: _, planned: _, outcome: _, run: _, explanation } = finished;
        walk.text(Prose, "explanation", explanation);
    }
}
