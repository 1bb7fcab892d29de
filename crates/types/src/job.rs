//! Jobs: programs that go on after the call that started them, and what becomes of them.
//!
//! Owns the values; running a program is an adapter's. Invariant: a number names one job for ever, and each job is the
//! effect of one call.

use std::fmt;
use std::str::FromStr;

use crate::{EffectId, RunId};

/// The number of a job; written `job-3`. Never given twice in one journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct JobNumber(pub u32);

impl fmt::Display for JobNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "job-{}", self.0)
    }
}

/// The text is no job's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a job's name is `job-` and a number")]
pub struct NotAJob;

impl FromStr for JobNumber {
    type Err = NotAJob;

    fn from_str(text: &str) -> Result<Self, NotAJob> {
        text.strip_prefix("job-").and_then(|number| number.parse().ok()).map(Self).ok_or(NotAJob)
    }
}

/// What becomes of a job; an entry beside the tape of its run, which may be over by then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobEvent {
    /// Its program is about to be started.
    Started {
        /// Its number.
        job: JobNumber,
        /// The run whose call starts it.
        run: RunId,
        /// That call.
        effect: EffectId,
    },
    /// Nothing of it runs any more.
    Ended {
        /// The run whose call started it.
        run: RunId,
        /// That call.
        effect: EffectId,
        /// How it ended.
        end: JobEnd,
    },
}

/// How a job ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobEnd {
    /// It exited by itself.
    Exited {
        /// Its exit code.
        code: i32,
    },
    /// A signal ended it.
    Signalled {
        /// The signal's number.
        signal: i32,
    },
    /// It used more memory than it may, and was ended.
    OverMemory,
    /// It had more processes and threads than it may, and was ended.
    OverProcesses,
    /// It was ended because somebody said so.
    Stopped,
    /// Its program could not be started.
    NotStarted,
    /// It ended with the daemon, or with what held it; how far it came nobody saw.
    Lost,
}

/// A job, as lists of effects show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JobRecord {
    /// Its number.
    pub number: JobNumber,
    /// Where it stands.
    pub state: JobState,
}

/// Where a job stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobState {
    /// It runs, as far as is recorded.
    Running,
    /// Its end was seen.
    Ended,
    /// It was lost, and the tape does not say that its call succeeded; what the tape says of the call stands.
    Gone,
    /// It was lost after its call had succeeded: its effect is in doubt.
    InDoubt,
    /// That it was in doubt, and a person said what became of it.
    Settled,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_as_it_is_written() {
        assert_eq!(JobNumber(17).to_string().parse(), Ok(JobNumber(17)));
        for text in ["17", "job-", "job-x", "job--1", "Job-1", "job-4294967296"] {
            assert_eq!(text.parse::<JobNumber>(), Err(NotAJob), "{text}");
        }
    }
}
