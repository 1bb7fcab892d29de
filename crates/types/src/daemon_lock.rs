//! What the daemon's lock file says: the only place where a client looks for a daemon.

use serde::{Deserialize, Serialize};

/// File name of the lock, below the state directory.
pub const LOCK_FILE_NAME: &str = "lock";

/// The contents of the lock file, as JSON.
///
/// The lock itself is `flock`; the contents are for messages and for clients, and may be stale after a kill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DaemonLockRecord {
    /// Process id of the holder.
    pub pid: u32,
    /// When it started, in microseconds since the Unix epoch.
    pub started_unix_us: i64,
    /// The kernel's boot id, so that a pid of an earlier boot is known as stale.
    pub boot_id: String,
    /// Path of the Unix socket it serves; empty until it serves.
    pub socket: String,
    /// Identifies the build: version and a digest of the executable's identity.
    pub build_id: String,
    /// The default model it started with, such as `demo` (informative).
    pub model: String,
}
