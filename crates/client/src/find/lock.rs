//! Reads what the lock file says. Never takes the lock.

use std::fs;
use std::path::Path;

use palyra_types::daemon_lock::{DaemonLockRecord, LOCK_FILE_NAME};

/// A lock file is a few hundred bytes; more is somebody else's file.
const LOCK_BYTES_MAX: u64 = 64 * 1024;

/// Returns the record in a state directory's lock file, stale or not; `None` when there is none to be read.
#[must_use]
pub fn read_lock_record(state_dir: &Path) -> Option<DaemonLockRecord> {
    let path = state_dir.join(LOCK_FILE_NAME);
    let meta = fs::metadata(&path).ok()?;
    if !meta.is_file() || meta.len() > LOCK_BYTES_MAX {
        return None;
    }
    // A daemon writes in place, so half a record may be seen; the next change of the file brings the rest.
    serde_json::from_slice(&fs::read(&path).ok()?).ok()
}
