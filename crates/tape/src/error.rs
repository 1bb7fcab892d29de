//! Why a tape was not shown.

use palyra_ports::{AppendError, ReadError};

/// Why a tape was not shown.
///
/// Runs and sessions of other principals are reported exactly like ones that do not exist.
#[derive(Debug, Clone, thiserror::Error)]
pub enum TapeError {
    /// No such session for this principal.
    #[error("no such session")]
    SessionNotFound,
    /// No such run for this principal.
    #[error("no such run")]
    RunNotFound,
    /// The tape has not reached that number.
    #[error("the tape ends at {last}, before the number to attach after")]
    AttachOutOfRange {
        /// The last number.
        last: u32,
    },
    /// A field is not acceptable.
    #[error("{what}")]
    InvalidArgument {
        /// Which, and what would be.
        what: String,
    },
    /// No entry comes before the next start.
    #[error(transparent)]
    Append(#[from] AppendError),
    /// The journal could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
}
