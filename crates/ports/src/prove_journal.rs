//! Proving what the journal holds: signed heads, proofs, whole runs to take away.

use std::sync::Arc;

use futures::future::BoxFuture;
use palyra_types::event::JournalEvent;
use palyra_types::proof::SignedCheckpoint;
use palyra_types::{ErrorCode, RunId, Seq};

use crate::append_tape::AppendError;
use crate::read_tape::ReadError;

/// Hashes of one proof, at most: twice the levels of a tree of 2^63 entries.
pub const PROOF_HASHES_MAX: usize = 126;

/// Signed heads and proofs of one log.
pub trait ProveJournal: Send + Sync {
    /// Returns the newest signed head, from memory; `None` before the first one of this start.
    fn newest_checkpoint(&self) -> Option<SignedCheckpoint>;

    /// Resolves with the first head that covers an entry; at once when the newest does. `None` when nobody
    /// signs any more. Callers bound their waiting.
    fn checkpoint_over(&self, seq: Seq) -> BoxFuture<'static, Option<SignedCheckpoint>>;

    /// Signs what is committed now, stores it, and resolves once it is durable.
    fn sign_checkpoint(&self, key: KeyChoice) -> BoxFuture<'static, Result<SignedCheckpoint, ProofError>>;

    /// Returns that an entry belongs to a tree of `size` entries.
    fn inclusion(&self, seq: Seq, size: u64) -> BoxFuture<'static, Result<InclusionProof, ProofError>>;

    /// Returns that a tree of `new` entries continues one of `old`.
    fn consistency(&self, old: u64, new: u64) -> BoxFuture<'static, Result<ConsistencyProof, ProofError>>;

    /// Writes a bundle, part by part, into `sink`; stops when that returns false.
    fn export(&self, what: Export, sink: ExportSink) -> BoxFuture<'static, Result<(), ProofError>>;
}

/// Receives the parts of a bundle, in order; a file's parts are neighbours. Called on a thread that may block.
pub type ExportSink = Arc<dyn Fn(ExportPart) -> bool + Send + Sync>;

/// Some bytes of a file of a bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportPart {
    /// The file, as a relative path with `/`.
    pub path: Arc<str>,
    /// Its next bytes.
    pub data: Vec<u8>,
}

/// What to export. Formats: docs/journal-format.md, section 7.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Export {
    /// What proves one run.
    Run(RunId),
    /// The whole log as static tiles.
    Tiles,
}

/// Which key signs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyChoice {
    /// The one in use.
    Current,
    /// A new one: a new epoch begins and the old key is destroyed.
    Rotate,
}

/// An entry with what proves it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InclusionProof {
    /// The entry.
    pub seq: Seq,
    /// The size of the tree.
    pub size: u64,
    /// The tree's root.
    pub root: [u8; 32],
    /// The entry's envelope, as hashed.
    pub envelope: Vec<u8>,
    /// RFC 6962 audit path, from the leaf up; at most [`PROOF_HASHES_MAX`].
    pub hashes: Vec<[u8; 32]>,
    /// What the envelope says.
    pub event: JournalEvent,
}

/// That one tree continues another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsistencyProof {
    /// The root of the smaller tree.
    pub old_root: [u8; 32],
    /// The root of the larger tree.
    pub new_root: [u8; 32],
    /// RFC 6962 consistency proof; at most [`PROOF_HASHES_MAX`].
    pub hashes: Vec<[u8; 32]>,
}

/// Why there is no proof.
#[derive(Debug, thiserror::Error)]
pub enum ProofError {
    /// The log has no such entry, size or run.
    #[error("the journal has only {entries} entries")]
    OutOfRange {
        /// Entries that it has.
        entries: u64,
    },
    /// The run does not exist.
    #[error("there is no such run")]
    NoSuchRun,
    /// Nothing can be signed: the journal is read-only, or its key is gone.
    #[error("the journal cannot sign: {why}")]
    CannotSign {
        /// What stands in the way.
        why: &'static str,
    },
    /// The log could not be read.
    #[error("the journal could not be read")]
    Read(#[from] ReadError),
    /// The result could not be stored.
    #[error("the journal could not be written")]
    Write(#[from] AppendError),
}

impl ProofError {
    /// Returns the stable code shown to clients.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::OutOfRange { .. } => ErrorCode::JournalRange,
            Self::NoSuchRun => ErrorCode::RunNotFound,
            Self::CannotSign { .. } => ErrorCode::JournalQuarantined,
            Self::Read(error) => error.code(),
            Self::Write(error) => error.code(),
        }
    }
}
