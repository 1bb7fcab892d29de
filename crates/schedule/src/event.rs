//! What is recorded of a schedule. Owns the values; [`crate::ScheduleState`] folds them.

use palyra_types::Timestamp;

use crate::definition::ScheduleDefinition;
use crate::refusal::OccurrenceRefusal;

/// One change of a schedule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScheduleEvent {
    /// It was made.
    Created {
        /// What it does, and when.
        definition: Box<ScheduleDefinition>,
        /// When it was made; its occurrences are later.
        at: Timestamp,
    },
    /// It was changed, which is a new approval.
    Edited {
        /// What it does from now on.
        definition: Box<ScheduleDefinition>,
        /// When it was changed.
        at: Timestamp,
    },
    /// Nothing starts until it is resumed.
    Paused {
        /// Why.
        cause: PauseCause,
        /// When.
        at: Timestamp,
    },
    /// It goes on with the occurrences that are planned later than this.
    Resumed {
        /// When.
        at: Timestamp,
    },
    /// It is gone.
    Removed {
        /// When.
        at: Timestamp,
    },
    /// An occurrence is due and waits for its start. It is named by its planned instant, which is used once.
    OccurrenceCreated {
        /// The planned instant.
        planned: Timestamp,
        /// Why it runs.
        cause: OccurrenceCause,
    },
    /// The first of the waiting occurrences starts.
    OccurrenceStarted {
        /// The planned instant.
        planned: Timestamp,
        /// When it started.
        at: Timestamp,
    },
    /// The running occurrence is to be cancelled, because a later one replaces it.
    CancelRequested {
        /// The planned instant of the running one.
        planned: Timestamp,
    },
    /// The running occurrence has ended.
    OccurrenceFinished {
        /// The planned instant.
        planned: Timestamp,
        /// How.
        outcome: OccurrenceOutcome,
    },
    /// An occurrence does not run.
    OccurrenceSkipped {
        /// The planned instant.
        planned: Timestamp,
        /// Why.
        reason: SkipReason,
    },
    /// Many missed occurrences do not run: those before the latest, which have an entry each.
    OccurrencesSkipped {
        /// The planned instant of the first.
        first: Timestamp,
        /// That of the last, or the time up to which they were not counted.
        last: Timestamp,
        /// How many; `None` if they are too long ago to be counted.
        count: Option<u32>,
    },
}

/// Why a schedule is paused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PauseCause {
    /// A person paused it.
    Person,
    /// Too many occurrences in a row failed.
    Failures,
    /// The occurrence check refused it in a way that does not mend itself.
    Refused,
}

/// Why an occurrence runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OccurrenceCause {
    /// Its time has come.
    Due,
    /// Its time has passed, and the missed rule runs it.
    Missed,
    /// A person starts it now; it is named by that instant.
    Manual,
}

/// How an occurrence ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OccurrenceOutcome {
    /// Its run completed, or its reminder was delivered.
    Succeeded,
    /// Its run failed.
    Failed,
    /// A person cancelled it.
    Cancelled,
    /// The next occurrence replaced it.
    Replaced,
}

/// Why an occurrence does not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SkipReason {
    /// The missed rule skips it.
    Missed,
    /// Another one was running, and the overlap rule forbids a second.
    Overlap,
    /// Too many wait already.
    LineFull,
    /// It waited, and a later one replaced it.
    Replaced,
    /// It waited, and the schedule was paused.
    Paused,
    /// It waited, and the schedule was removed.
    Removed,
    /// It waited, and the schedule was changed.
    Edited,
    /// The occurrence check refused it.
    Refused(OccurrenceRefusal),
}
