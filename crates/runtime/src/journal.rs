//! The journal as a whole, for those who may see it.

use std::sync::Arc;

use palyra_ports::maintain_journal::{Progress, RebuildError};
use palyra_ports::{JournalStatus, ReadError, VerifyReport};
use palyra_types::Seq;
use palyra_types::tape::JournalEventRecord;

use crate::parts::RuntimePorts;

/// Status, verification, rebuild and raw entries.
#[derive(Clone)]
pub struct JournalHandle {
    ports: Arc<RuntimePorts>,
}

impl JournalHandle {
    pub(crate) fn new(ports: Arc<RuntimePorts>) -> Self {
        Self { ports }
    }

    /// Returns the journal's state and counters.
    #[must_use]
    pub fn status(&self) -> JournalStatus {
        self.ports.maintain.status()
    }

    /// Checks every entry.
    ///
    /// # Errors
    /// [`ReadError`] when the journal cannot be read to its end.
    pub async fn verify(&self, progress: Progress) -> Result<VerifyReport, ReadError> {
        self.ports.maintain.verify(progress).await
    }

    /// Rebuilds every projection from the log; returns the entries folded.
    ///
    /// # Errors
    /// [`RebuildError`]; the old projections stay.
    pub async fn rebuild(&self, progress: Progress) -> Result<u64, RebuildError> {
        self.ports.maintain.rebuild(progress).await
    }

    /// Returns entries from `from` on.
    ///
    /// # Errors
    /// [`ReadError`].
    pub async fn entries(&self, from: Seq, limit: usize) -> Result<Vec<JournalEventRecord>, ReadError> {
        self.ports.maintain.entries(from, limit).await
    }
}
