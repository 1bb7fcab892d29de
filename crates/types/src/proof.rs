//! What proves that the journal says what it said before: signed heads, proofs, erasures.
//!
//! Owns values only; making and checking them is the ledger's. Formats: docs/journal-format.md.

use std::sync::Arc;

use crate::{LogId, Seq};

/// Bytes of a checkpoint's note, at most.
pub const CHECKPOINT_NOTE_BYTES_MAX: usize = 4_096;

/// Ranges of one erasure entry, at most: its facts have to fit into an envelope.
pub const ERASURE_RANGES_MAX: usize = 128;

/// How many entries a log had, and the root of the tree over them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TreeHead {
    /// Number of entries.
    pub size: u64,
    /// RFC 6962 root.
    pub root: [u8; 32],
}

/// A head that the log's own key has signed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedCheckpoint {
    /// Which log.
    pub log_id: LogId,
    /// What is signed.
    pub head: TreeHead,
    /// The C2SP note, at most [`CHECKPOINT_NOTE_BYTES_MAX`].
    pub note: Arc<str>,
}

/// Neighbouring entries, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct SeqRange {
    /// The first one.
    pub first: Seq,
    /// The last one, not before the first.
    pub last: Seq,
}

impl SeqRange {
    /// Returns whether an entry lies in it.
    #[must_use]
    pub fn holds(self, seq: Seq) -> bool {
        self.first <= seq && seq <= self.last
    }
}

/// Why content was erased.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErasureReason {
    /// Somebody asked for it.
    Request,
    /// Its time was over.
    Retention,
    /// It held a secret.
    LeakedSecret,
}

/// Why a log was ended and another begun over the same entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReopenReason {
    /// An operator accepted that the log is older than its last known head.
    RollbackAccepted,
    /// It was restored from a backup.
    Restored,
    /// The key that should have signed it is gone.
    KeyLost,
}
