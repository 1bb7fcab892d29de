//! `palyra admin schedules`: runs and reminders at planned times.
//!
//! Owns the arguments and answers of these verbs. Knows no way to a daemon: the command line hands in the connection, and shows
//! what failed. Begin at [`run`].

mod arguments;
mod schedule_name;
mod verb_end;
mod verbs;

pub use arguments::SchedulesArgs;
pub use verb_end::{ScheduleVerbError, VerbEnd};
pub use verbs::{VerbScreen, run};
