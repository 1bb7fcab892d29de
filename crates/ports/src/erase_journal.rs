//! Erasing content: the entries stay, what they said goes.

use std::sync::Arc;

use futures::future::BoxFuture;
use palyra_types::proof::{ErasureReason, SeqRange};
use palyra_types::session::SessionRef;
use palyra_types::{ErrorCode, PrincipalId, RunId, Seq};

use crate::append_tape::AppendError;
use crate::maintain_journal::ProgressCallback;
use crate::read_tape::ReadError;
use crate::redactor::Redactor;

/// Finds and erases content.
pub trait EraseJournal: Send + Sync {
    /// Returns what belongs to a subject: entries that still have content, and runs that are not terminal.
    fn find(&self, subject: ErasureSubject) -> BoxFuture<'static, Result<ErasurePlan, ReadError>>;

    /// Returns entries whose content holds something that the redactor takes out now.
    fn find_secrets(
        &self,
        redactor: Arc<dyn Redactor>,
        progress: ProgressCallback,
    ) -> BoxFuture<'static, Result<ErasurePlan, ReadError>>;

    /// Erases the content of these entries: commits one or more `Erased` entries together with the deletes,
    /// clears derived content, destroys keys of subjects without any content left, empties the write-ahead
    /// log, and rewrites or deletes automatic copies. Resolves when nothing of it is on the disk any more.
    fn erase(&self, order: ErasureOrder) -> BoxFuture<'static, Result<ErasureReceipt, EraseError>>;
}

/// Whose or which content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErasureSubject {
    /// One run.
    Run(RunId),
    /// One session with its runs.
    Session(SessionRef),
    /// Everything of one principal, its name included.
    Principal(PrincipalId),
    /// Neighbouring entries.
    Range(SeqRange),
}

/// What an erasure would touch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ErasurePlan {
    /// Entries with content, ascending and apart.
    pub ranges: Vec<SeqRange>,
    /// How many entries that are.
    pub entries: u64,
    /// Runs among them that are not terminal; they are cancelled first.
    pub open_runs: Vec<RunId>,
}

/// What to erase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErasureOrder {
    /// Entries, ascending and apart.
    pub ranges: Vec<SeqRange>,
    /// Who wants it.
    pub authoriser: PrincipalId,
    /// Why.
    pub reason: ErasureReason,
}

/// What was erased.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ErasureReceipt {
    /// The `Erased` entries.
    pub entries: Vec<Seq>,
    /// Entries that lost their content.
    pub erased: u64,
    /// Bytes of content that went.
    pub bytes: u64,
    /// Copies that could not be reached and may still hold it.
    pub unreachable: Vec<String>,
}

/// Why content was not erased.
#[derive(Debug, thiserror::Error)]
pub enum EraseError {
    /// A run among it is not terminal.
    #[error("run {0} is still open")]
    OpenRun(RunId),
    /// There is nothing to erase.
    #[error("there is nothing to erase")]
    Nothing,
    /// The log could not be read.
    #[error("the journal could not be read")]
    Read(#[from] ReadError),
    /// The erasure could not be written; it is all or nothing, but see [`AppendError::Unknown`].
    #[error("the journal could not be written")]
    Write(#[from] AppendError),
    /// It is committed, but old bytes may still lie in the write-ahead log or in copies.
    #[error("the content is erased, but its old bytes could not be overwritten yet: {what}")]
    NotOverwritten {
        /// What stands in the way, without content.
        what: String,
    },
}

impl EraseError {
    /// Returns the stable code shown to clients.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::OpenRun(_) => ErrorCode::ErasureOpenRun,
            Self::Nothing => ErrorCode::ErasureNothing,
            Self::Read(error) => error.code(),
            Self::Write(error) => error.code(),
            Self::NotOverwritten { .. } => ErrorCode::ErasureNotOverwritten,
        }
    }
}
