//! What a person may want to know while a client finds, starts or waits for the daemon.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use palyra_types::LogId;

/// Something that happened on the way, not an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DaemonNotice {
    /// No daemon serves; one is being started.
    Starting {
        /// For which state directory.
        state_dir: PathBuf,
    },
    /// The daemon makes the records of its journal again before it serves.
    Rebuilding {
        /// Entries that were read.
        done: u64,
        /// Entries there are.
        total: u64,
    },
    /// The daemon is ready.
    Started {
        /// Its default model.
        model: String,
        /// How long that took.
        took: Duration,
    },
    /// The daemon that was started denies every call of a tool: its policies cannot be used.
    DeniesAll {
        /// Why, with the file and the place in it.
        why: String,
    },
    /// The process that holds the lock says nothing; it is waited for.
    NotAnswering {
        /// Its number.
        pid: u32,
    },
    /// The running daemon is of another build, is idle, and makes room for this one.
    ReplacingOtherBuild,
    /// The idle daemon uses another model than this environment selects, and makes room.
    ReplacingOtherModel {
        /// The model in force.
        in_force: String,
        /// The model of the daemon that comes.
        own: String,
    },
    /// The daemon came back with another model than this environment selects, while a run is followed.
    OtherModel {
        /// The model in force.
        in_force: String,
        /// The model that this environment selects.
        own: String,
    },
    /// The configuration names the model; variables of this environment that select one are not used.
    VariablesNotUsed {
        /// Their names.
        variables: Vec<&'static str>,
        /// The model in force.
        in_force: String,
        /// What names it; empty for the built-in model.
        place: String,
    },
    /// The daemon's journal is another log than the one that it served last.
    OtherLog {
        /// The log that it served.
        before: LogId,
        /// The log that it serves.
        now: LogId,
        /// Entries that were seen of the former.
        entries: u64,
        /// How much of it is part of the latter.
        kept: KeptEntries,
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

/// How much of a log that was seen is part of another one in its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeptEntries {
    /// All of them: it proves that it continues what was seen, as after a restore of a backup that is not older.
    All,
    /// Not all: it is older than what was seen, or of another history.
    NotAll,
}

/// Takes notices; called from within client calls, so it must not block for long.
pub type NoticeSink = Arc<dyn Fn(DaemonNotice) + Send + Sync>;
