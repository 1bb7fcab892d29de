//! How much can still be written, and what is admitted of it.
//!
//! Owns the reserve: while headroom is below it, only endings are admitted. Invariant: it is looked at before
//! each commit that could fall short and never polled, so that full service is back with the first append after space returned.

use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::connection::WAL_RESERVE_BYTES;
use crate::counters::{WorkKinds, WriterCounters};

/// Below this much headroom new work is refused.
pub(crate) const RESERVE_BYTES_MIN: u64 = 1024 * 1024;

/// What each running tool's outcome may need of the reserve.
pub(crate) const RESERVE_BYTES_PER_TOOL: u64 = 16 * 1024;

/// Tells how many bytes are free on the journal's file system.
pub type FreeSpace = Arc<dyn Fn() -> io::Result<u64> + Send + Sync>;

/// Returns a probe of the file system that holds `folder`.
pub(crate) fn free_space_of(folder: &Path) -> FreeSpace {
    let folder = folder.to_owned();
    Arc::new(move || {
        let found = rustix::fs::statvfs(&folder)?;
        Ok(found.f_bavail.saturating_mul(found.f_frsize))
    })
}

/// Measures the room for new entries.
#[derive(Clone)]
pub(crate) struct DiskHeadroom {
    free_space: FreeSpace,
}

impl DiskHeadroom {
    pub(crate) fn new(free_space: FreeSpace) -> Self {
        Self { free_space }
    }

    /// Returns what fits, given how much of the WAL is in use and how many tools run.
    pub(crate) fn admitted(&self, counters: &WriterCounters) -> WorkKinds {
        let wal_bytes_used = WriterCounters::get(&counters.wal_bytes_used);
        let tools_running = WriterCounters::get(&counters.tools_running);
        let prewritten = WAL_RESERVE_BYTES.saturating_sub(wal_bytes_used);
        let reserve = RESERVE_BYTES_MIN.max(RESERVE_BYTES_PER_TOOL.saturating_mul(tools_running));
        // As a rule what is written already is enough, and the file system need not be asked.
        if prewritten >= reserve {
            return WorkKinds::Everything;
        }
        // A probe that fails says nothing about space; if there is none, the commit itself will tell.
        let Ok(free) = (self.free_space)() else { return WorkKinds::Everything };
        if free.saturating_add(prewritten) >= reserve { WorkKinds::Everything } else { WorkKinds::Endings }
    }
}
