//! Rebuilding the projections while the journal is in service.

use palyra_ports::AppendError;
use palyra_ports::maintain_journal::{ProgressCallback, RebuildError};

use super::log_writer::LogWriter;
use crate::connection::{self, Failure};
use crate::counters::WriterCounters;
use crate::fault::ReadFault;

/// Folds the log anew on the writer's own connection.
pub(crate) fn rebuild(
    log: &mut LogWriter,
    counters: &WriterCounters,
    progress: &ProgressCallback,
) -> Result<u64, RebuildError> {
    if counters.is_quarantined() {
        return Err(AppendError::Quarantined.into());
    }
    match log.rebuild(progress.as_ref()) {
        Ok(Some(entries)) => Ok(entries),
        Ok(None) => Err(AppendError::Fenced.into()),
        Err(ReadFault::Store(error)) if connection::classify(&error) == Failure::Full => {
            Err(AppendError::DiskFull.into())
        }
        Err(fault) => Err(RebuildError::Read(fault.into())),
    }
}
