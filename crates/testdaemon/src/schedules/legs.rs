//! Where stories begin.

use std::fmt;

/// The part of the daemon's life in which it is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ScheduleLeg {
    /// A daemon that serves: the schedules are made, become due, and everything follows.
    Due,
    /// A start over what a kill left: the occurrences are recorded, the task of the run is not.
    AfterOccurrence,
    /// A start over what a kill left: the webhook has the message, and that is not recorded.
    AfterSending,
}

impl ScheduleLeg {
    /// In the order in which they are tried.
    pub(super) const ALL: [Self; 3] = [Self::Due, Self::AfterOccurrence, Self::AfterSending];

    /// Returns how many daemons were killed before the leg begins.
    pub(super) fn deaths_before(self) -> usize {
        match self {
            Self::Due => 0,
            Self::AfterOccurrence | Self::AfterSending => 1,
        }
    }
}

impl fmt::Display for ScheduleLeg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Due => "due",
            Self::AfterOccurrence => "start, killed before the task",
            Self::AfterSending => "start, killed in a delivery",
        })
    }
}
