//! How a verb ends.

use palyra_client::ClientError;
use palyra_terminal::OutputError;

/// How a verb ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BackgroundVerbEnd {
    /// It is done.
    Done,
    /// A test message was not sent, or it is not known whether it was.
    NotSent,
}

/// Why a verb failed.
#[derive(Debug, thiserror::Error)]
pub enum BackgroundVerbError {
    /// The daemon refused, or was not reached.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// The answer could not be printed.
    #[error(transparent)]
    Output(#[from] OutputError),
}
