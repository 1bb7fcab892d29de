//! The rules of a schedule: missed occurrences, overlapping runs, random delay.

/// Missed occurrences that are caught up, at most.
pub const CATCH_UP_MAX: u8 = 10;

/// What becomes of occurrences that were due while the daemon was down, or the machine slept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MissedRule {
    /// They are skipped.
    Skip,
    /// The last of them runs.
    RunOnce,
    /// The last of them run, one after another.
    CatchUp {
        /// How many, at most.
        count_max: u8,
    },
}

impl MissedRule {
    /// Returns how many missed occurrences run.
    #[must_use]
    pub fn kept(self) -> usize {
        match self {
            Self::Skip => 0,
            Self::RunOnce => 1,
            Self::CatchUp { count_max } => usize::from(count_max.min(CATCH_UP_MAX)),
        }
    }
}

/// What becomes of an occurrence that is due while another one of the same schedule runs or waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OverlapRule {
    /// It is skipped.
    Forbid,
    /// It waits for the end of those before it.
    Queue,
    /// The running one is cancelled, and those that wait are skipped.
    Replace,
}

/// The rules of one schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ScheduleRules {
    /// About missed occurrences.
    pub missed: MissedRule,
    /// About overlapping runs.
    pub overlap: OverlapRule,
    /// The longest random delay of a start, in seconds; zero for none.
    pub jitter_seconds: u32,
}
