//! How a verb ends.

use palyra_client::ClientError;
use palyra_terminal::OutputError;

/// How a verb ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VerbEnd {
    /// It is done.
    Done,
    /// The person did not want the schedule to be saved.
    NotSaved,
}

/// Why a verb failed.
#[derive(Debug, thiserror::Error)]
pub enum ScheduleVerbError {
    /// The words cannot be read.
    #[error("{0}")]
    Usage(String),
    /// The name fits no schedule.
    #[error("{0}")]
    NotFound(String),
    /// The daemon refused, or was not reached.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// The answer could not be printed.
    #[error(transparent)]
    Output(#[from] OutputError),
}
