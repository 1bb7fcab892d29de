//! Schedules at work: recording their events, starting their runs when they are due, and what callers ask about them.
//!
//! Owns the plan of all schedules in memory, the order of record and effect, and the checks of a schedule before it is saved.
//! Knows no rule about times: those are of the crate `schedule`. Knows no run either: a [`StartScheduledRuns`] starts one.
//!
//! Invariant: the events of an occurrence are on disk before anything of it is performed, and what is performed has a key made
//! of schedule and planned instant, so a crash in between neither loses nor repeats it. One task writes all events of
//! schedules. Begin at [`SchedulesStart`], then [`SchedulesHandle`].

mod error;
mod scheduled_run;

mod approved_digests;
mod occurrence_check;
mod ports;
mod draft;
mod command;
mod store;
mod schedule_loop;

mod run_handler;

mod handle;
mod listing;
mod attention;
mod open_schedules;
mod for_tools;

#[cfg(test)]
mod tests;

pub use draft::{DraftAction, DraftTimes, PlannedTime, ScheduleDraft, SchedulePreview};
pub use error::ScheduleError;
pub use handle::{SchedulesHandle, SchedulesStart};
pub use listing::{ListedSchedule, ScheduleDetails};
pub use occurrence_check::{AgentFacts, CreatorFacts, DaemonFacts, ScheduleFacts};
pub use palyra_schedule::ClockOddity;
pub use ports::SchedulePorts;
pub use run_handler::ScheduledRunHandler;
pub use scheduled_run::{RunNotStarted, ScheduledRun, StartScheduledRuns, StartedRun};
