//! Reading tapes.

use futures::future::BoxFuture;
use palyra_types::attachment::{Blob, BlobRef};
use palyra_types::session::SessionRef;
use palyra_types::tape::OrchestratorTapeRecord;
use palyra_types::{ErrorCode, RunId, Seq, TapeSeq};

/// Entries of one page, at most.
pub const MAX_TAPE_ENTRIES_PER_RESPONSE: usize = 1_000;

/// Content bytes of one page, at most; a page holds at least one entry.
pub const TAPE_PAGE_BYTES_MAX: usize = 2 * 1024 * 1024;

/// Reads committed tape entries, in order, without gaps.
pub trait ReadTape: Send + Sync {
    /// Returns the entries of `run` after `after`, at most `limit` (capped at [`MAX_TAPE_ENTRIES_PER_RESPONSE`])
    /// and [`TAPE_PAGE_BYTES_MAX`] of content.
    fn tape(
        &self,
        run: RunId,
        after: TapeSeq,
        limit: usize,
    ) -> BoxFuture<'static, Result<TapePage, ReadError>>;

    /// Returns the tape entries of a session after `after` in the journal's order, with the same limits.
    fn session_tape(
        &self,
        session: SessionRef,
        after: Option<Seq>,
        limit: usize,
    ) -> BoxFuture<'static, Result<TapePage, ReadError>>;

    /// Returns the bytes of a file that an entry brought along; `None` when there is no such entry or blob, or
    /// its content was erased. Callers check the principal.
    fn blob(&self, place: BlobRef) -> BoxFuture<'static, Result<Option<Blob>, ReadError>>;
}

/// Some entries in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TapePage {
    /// The entries.
    pub entries: Vec<OrchestratorTapeRecord>,
    /// Whether more were committed when the page was read.
    pub more: MoreEntries,
}

/// Whether a page is the last one for now.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MoreEntries {
    /// Nothing more for now.
    #[default]
    None,
    /// Ask again with the last number of this page.
    Some,
}

/// Why a read failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// An entry cannot be decoded or contradicts its envelope.
    #[error("the journal does not verify at seq {seq}")]
    Corrupt {
        /// The first bad entry.
        seq: u64,
    },
    /// The read took longer than its deadline, or no reader was free.
    #[error("the journal did not answer in time")]
    Busy,
    /// The store failed.
    #[error("the journal could not be read: {what}")]
    Storage {
        /// What the store said, without content.
        what: String,
    },
}

impl ReadError {
    /// Returns the stable code shown to clients.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Corrupt { .. } => ErrorCode::JournalCorrupt,
            Self::Busy => ErrorCode::JournalBusy,
            Self::Storage { .. } => ErrorCode::JournalCorrupt,
        }
    }
}
