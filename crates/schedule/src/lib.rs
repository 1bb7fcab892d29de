//! Decides at which times a schedule has an occurrence, and what becomes of it.
//!
//! Owns cron lines, intervals, time zones and their changes of the clock, plain words, the rules about missed and overlapping
//! occurrences, pauses and limits. Knows no clock, disk, network, chance or task: times and the database of zones are inputs, and
//! decisions are returned as events that the caller records and effects that it performs.
//!
//! Invariant: an instant becomes an occurrence of a schedule at most once, across crashes and jumps of the clock. Begin at
//! [`ScheduleState::decide`], then [`SchedulePlan`]; the rules are stated in `tests/table/make_table.py`, which calculates a
//! year of occurrences without this crate.
//!
//! # The shell around it
//!
//! The caller of this crate
//! 1. replays the events of all schedules into a [`SchedulePlan`] at its start, or restores them from the snapshots of a
//!    projection ([`SchedulePlan::restore`]), and performs [`ScheduleState::unfinished_effects`] under the key of the occurrence (schedule and planned instant), so that a start
//!    that a crash prevented is made once;
//! 2. waits for [`SchedulePlan::next_wake`] on the wall clock, for an event, or for a change of the wall clock. A timer of
//!    monotonic time alone does not see a clock that is set;
//! 3. for each schedule of [`SchedulePlan::due`], reads the [`OccurrenceFacts`] of now, compares them by
//!    [`ScheduleDefinition::check_occurrence`], calls [`ScheduleState::decide`], records the events in one append, applies them,
//!    and then performs the effects;
//! 4. records the end of a run by [`ScheduleState::decide_finish`] and decides again;
//! 5. starts runs without grants of any session, and with those of the principal only if
//!    [`ScheduleProvenance::may_use_principal_grants`] says so;
//! 6. before it records `Created` or `Edited`, calls [`PlannedTimes::for_new`], [`PlannedTimes::check_rules`] and
//!    [`SchedulePlan::check_limit`], and shows the next five times of [`PlannedTimes::iter_after`], each with its [`PlannedTimes::oddity_of`];
//! 7. records [`ScheduleState::skip_waiting`] in the same append before `Edited` and `Removed`, and
//!    [`SchedulePlan::decide_pause_of_many`] together with a pause of many;
//! 8. records a schedule with the name of the zone and the text of the line. If an upgrade no longer reads them,
//!    [`ScheduleState::unreadable_cause`] is shown and the others go on.

#![warn(clippy::wildcard_enum_match_arm)]

mod spec_error;
mod local_pattern;
mod cron;
mod spec;
mod rules;
mod plain_words;

mod definition;
mod event;
mod progress;
mod state;
mod decision;
mod plan;
mod recorded;

#[cfg(test)]
mod fixture;

pub use cron::{CRON_BYTES_MAX, ClockOddity, ClockRule, CronLine};
pub use decision::{OccurrenceCheck, SKIPPED_ENTRIES_MAX, ScheduleDecision, ScheduleEffect, StartRefusal};
pub use definition::{
    ApprovedRun, OccurrenceFacts, OccurrenceRefusal, ScheduleAction, ScheduleDefinition, ScheduleProvenance,
};
pub use event::{OccurrenceCause, OccurrenceOutcome, PauseCause, ScheduleChange, SkipReason};
pub use plain_words::{UnreadableWords, WORDS_BYTES_MAX, WordsContext, read_plain_words, word_examples};
pub use plan::{PauseScope, PlanEvent, SCHEDULES_PER_PRINCIPAL_MAX, SchedulePlan, TooManySchedules};
pub use progress::ScheduleProgress;
pub use recorded::{change_of, definition_of, digest_of, recorded, spec_of};
pub use rules::{CATCH_UP_MAX, JITTER_SECONDS_MAX, MissedRule, OverlapRule, ScheduleRules, due_at};
pub use spec::{EVERY_MINUTES_MAX, EVERY_MINUTES_MIN, PlannedTimes, ScheduleSpec, find_zone};
pub use spec_error::{CronField, InvalidSpec};
pub use state::{FAILURES_MAX, ScheduleSnapshot, ScheduleState, WAITING_MAX};
