//! The parts of a daemon's life in which it is killed.

use std::fmt;

/// A part of a daemon's life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LifeLeg {
    /// The very first start, in an empty folder.
    FirstStart,
    /// A start over what a kill left: a run whose opaque tool had begun.
    StartInAct,
    /// A start over what a kill left: a run whose model was speaking.
    StartInAnswer,
    /// A scripted run with three clients, and a stop in good order.
    RunAndStop,
    /// The write-ahead log is copied into the database.
    Checkpoint,
}

impl LifeLeg {
    /// In the order in which they are tried.
    pub const ALL: [Self; 5] =
        [Self::FirstStart, Self::StartInAct, Self::StartInAnswer, Self::RunAndStop, Self::Checkpoint];

    /// Returns whether the daemon is started by strace, instead of being followed once it serves.
    #[must_use]
    pub fn from_its_start(self) -> bool {
        match self {
            Self::FirstStart | Self::StartInAct | Self::StartInAnswer => true,
            Self::RunAndStop | Self::Checkpoint => false,
        }
    }
}

impl fmt::Display for LifeLeg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::FirstStart => "first start",
            Self::StartInAct => "start, killed in the tool",
            Self::StartInAnswer => "start, killed in an answer",
            Self::RunAndStop => "run and stop",
            Self::Checkpoint => "checkpoint",
        })
    }
}
