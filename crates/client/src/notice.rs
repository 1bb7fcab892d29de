//! What a person may want to know while a client finds, starts or waits for the daemon.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use palyra_types::LogId;

/// Something that happened on the way, not an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// No daemon serves; one is being started.
    Starting {
        /// For which state directory.
        state_dir: PathBuf,
    },
    /// The daemon is ready.
    Started {
        /// Its default model.
        model: String,
        /// How long that took.
        took: Duration,
    },
    /// The process that holds the lock says nothing; it is waited for.
    NotAnswering {
        /// Its number.
        pid: u32,
    },
    /// The running daemon is of another build, is idle, and makes room for this one.
    ReplacingOtherBuild,
    /// The daemon's journal is another log than the one that it served last.
    OtherLog {
        /// The log that it served.
        before: LogId,
        /// The log that it serves.
        now: LogId,
        /// Entries that were seen of the former.
        entries: u64,
    },
    /// The newest head of the journal could not be kept: a rollback may go unnoticed next time.
    HeadNotKept {
        /// What stands in the way.
        cause: String,
    },
    /// The running daemon is of another build and has open runs: it is used as it is.
    OtherBuildKept {
        /// How many runs are open there; `None` when it did not say.
        open_runs: Option<u64>,
    },
}

/// Takes notices; called from within client calls, so it must not block for long.
pub type NoticeSink = Arc<dyn Fn(Notice) + Send + Sync>;
