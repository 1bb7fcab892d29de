//! What changes a schedule. Owns the values; [`crate::ScheduleState`] folds them, and `recorded.rs` says how they are recorded.

use palyra_types::Timestamp;
pub use palyra_types::schedule::{OccurrenceCause, OccurrenceOutcome, PauseCause, SkipReason};

use crate::definition::ScheduleDefinition;

/// One change of a schedule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScheduleChange {
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
