//! Looking after the journal: status, verification, rebuild, raw entries.

use std::sync::Arc;

use futures::future::BoxFuture;
use palyra_types::tape::JournalEventRecord;
use palyra_types::{Epoch, LogId, RunId, Seq};

use crate::append_tape::AppendError;
use crate::read_tape::ReadError;

/// Receives (done, total) counts of entries while long work goes on.
pub type ProgressCallback = Arc<dyn Fn(u64, u64) + Send + Sync>;

/// Operations that look at the journal as a whole.
pub trait MaintainJournal: Send + Sync {
    /// Returns the journal's state and counters, from memory.
    fn status(&self) -> JournalStatus;

    /// Checks every entry: numbering, chain, commitments, columns, tapes. Reads a consistent snapshot.
    fn verify(&self, progress: ProgressCallback) -> BoxFuture<'static, Result<VerifyReport, ReadError>>;

    /// Empties every projection and folds the log into it again, as one transaction of the writer.
    fn rebuild(&self, progress: ProgressCallback) -> BoxFuture<'static, Result<u64, RebuildError>>;

    /// Moves the write-ahead log into the database and cuts its file back to the usual size. Repeating it changes nothing.
    fn shrink_wal(&self) -> BoxFuture<'static, Result<WalShrink, AppendError>>;

    /// Returns entries from `from` on, at most `limit` (capped at 1,000).
    fn entries(
        &self,
        from: Seq,
        limit: usize,
    ) -> BoxFuture<'static, Result<Vec<JournalEventRecord>, ReadError>>;
}

/// What a cut of the write-ahead log did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WalShrink {
    /// Its file has the usual size.
    Done,
    /// A reader or a full disk delays it, and nothing was cut.
    HeldUp,
}

/// Whether the journal takes entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JournalHealth {
    /// It does.
    Writable,
    /// Space is low: endings only.
    EndingsOnly,
    /// Read-only, for one of the [`ReadOnlyCause`]s.
    Quarantined,
}

/// Why the journal is read-only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadOnlyCause {
    /// An I/O error; a restart repairs what can be repaired.
    IoError,
    /// A newer version wrote entries that this one must not go on without.
    NewerEntries,
    /// The end of the log, its tree or its newest signed head contradict each other.
    TailDisagrees,
    /// The log is shorter than a head of it that is kept elsewhere, or has another history.
    BehindAnchor {
        /// Entries of that head.
        anchored: u64,
    },
    /// The key that should sign is gone.
    KeyLost,
    /// A file of the journal was removed, replaced or cut while it was in use.
    FilesGone,
}

/// What the last check of the whole log found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Integrity {
    /// It was not checked since the daemon started.
    #[default]
    NotChecked,
    /// It held, up to this many entries.
    Holds {
        /// How many.
        entries: u64,
    },
    /// It did not, and no later check says otherwise.
    Faulty {
        /// The first bad entry.
        seq: Seq,
        /// What is wrong with it.
        what: String,
        /// The run that it belongs to.
        run: Option<RunId>,
    },
    /// Every entry held, but a derived table is not what they say; a rebuild makes it anew.
    TableDiffers {
        /// Which table.
        table: String,
    },
}

/// The journal's state and counters since it was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalStatus {
    /// Which log.
    pub log_id: LogId,
    /// This start's number.
    pub epoch: Epoch,
    /// Whether it takes entries.
    pub health: JournalHealth,
    /// Why it is read-only, if it is.
    pub cause: Option<ReadOnlyCause>,
    /// What the last check of all entries found.
    pub integrity: Integrity,
    /// Entries in the log.
    pub entries: u64,
    /// Commits since it was opened.
    pub commits: u64,
    /// Row writes of those commits: inserts, updates and deletes in all tables.
    pub rows: u64,
    /// Bytes of envelopes, payloads and chunks written since it was opened.
    pub bytes: u64,
    /// Size of the database file.
    pub database_bytes: u64,
    /// Size of the write-ahead log.
    pub wal_bytes: u64,
}

/// The result of a verification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifyReport {
    /// Entries looked at.
    pub entries: u64,
    /// Leaf hash of the last one.
    pub head: [u8; 32],
    /// The first bad entry and what is wrong with it.
    pub fault: Option<(Seq, String)>,
    /// Signed heads that were compared with the entries.
    pub signed_heads: u64,
    /// Entries that the newest of them covers.
    pub signed_entries: u64,
}

/// Why a rebuild did not happen.
#[derive(Debug, thiserror::Error)]
pub enum RebuildError {
    /// The log cannot be read.
    #[error("the log could not be read")]
    Read(#[from] ReadError),
    /// The result cannot be stored.
    #[error("the projections could not be stored")]
    Write(#[from] AppendError),
}
