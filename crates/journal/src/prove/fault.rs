//! Why there is no proof.

use palyra_ledger::tree::{ProofError, TiledError};
use palyra_ports::ReadError;

use crate::fault::ReadFault;

/// Why there is no proof or no bundle.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProveFault {
    /// The log has no such entry or size.
    #[error("the log has only {entries} entries")]
    OutOfRange { entries: u64 },
    /// There is no such run, or none that the head covers.
    #[error("there is no such run below the head")]
    NoSuchRun,
    /// Its content lies sealed and cannot be opened.
    #[error("the content of entry {seq} is sealed and its key is not here")]
    Sealed { seq: u64 },
    /// The tree's tables do not yield a hash that they must.
    #[error("the tree is damaged: {what}")]
    Tree { what: String },
    /// Nobody takes the parts any more.
    #[error("the reader of the bundle is gone")]
    Abandoned,
    /// The log could not be read.
    #[error("the log could not be read")]
    Read(#[from] ReadFault),
}

impl From<rusqlite::Error> for ProveFault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Read(error.into())
    }
}

impl From<rusqlite::types::FromSqlError> for ProveFault {
    fn from(error: rusqlite::types::FromSqlError) -> Self {
        Self::Read(error.into())
    }
}

impl From<TiledError<rusqlite::Error>> for ProveFault {
    fn from(error: TiledError<rusqlite::Error>) -> Self {
        match error {
            TiledError::Store(error) => error.into(),
            other => Self::Tree { what: other.to_string() },
        }
    }
}

impl ProveFault {
    /// Makes a fault of a proof in a log of `entries` entries.
    pub(super) fn of_proof(error: ProofError<TiledError<rusqlite::Error>>, entries: u64) -> Self {
        match error {
            ProofError::IndexOutside | ProofError::SizesOutOfOrder => Self::OutOfRange { entries },
            ProofError::Source(error) => error.into(),
        }
    }
}

impl From<ProveFault> for palyra_ports::ProofError {
    fn from(fault: ProveFault) -> Self {
        match fault {
            ProveFault::OutOfRange { entries } => Self::OutOfRange { entries },
            ProveFault::NoSuchRun => Self::NoSuchRun,
            ProveFault::Abandoned => Self::Read(ReadError::Busy),
            ProveFault::Sealed { .. } | ProveFault::Tree { .. } => {
                Self::Read(ReadError::Storage { what: fault.to_string() })
            }
            ProveFault::Read(fault) => Self::Read(fault.into()),
        }
    }
}
