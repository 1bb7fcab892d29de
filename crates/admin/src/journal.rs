//! The journal as a whole, for those who may see it.

use std::sync::Arc;
use std::time::Duration;

use palyra_ports::maintain_journal::{ProgressCallback, RebuildError};
use palyra_ports::{
    BackupOrder, BackupSummary, ConsistencyProof, Export, ExportSink, InclusionProof, JournalStatus,
    KeyChoice, MaintainJournal, MakeBackupError, MakeBackups, ProofError, ProveJournal, ReadError,
    VerifyReport,
};
use palyra_types::Seq;
use palyra_types::proof::SignedCheckpoint;
use palyra_types::tape::JournalEventRecord;

/// Status, verification, rebuild, raw entries, proofs.
#[derive(Clone)]
pub struct JournalHandle {
    maintain: Arc<dyn MaintainJournal>,
    proofs: Arc<dyn ProveJournal>,
    backups: Arc<dyn MakeBackups>,
}

impl JournalHandle {
    /// Makes a handle.
    #[must_use]
    pub fn new(
        maintain: &Arc<dyn MaintainJournal>,
        proofs: &Arc<dyn ProveJournal>,
        backups: &Arc<dyn MakeBackups>,
    ) -> Self {
        Self { maintain: Arc::clone(maintain), proofs: Arc::clone(proofs), backups: Arc::clone(backups) }
    }

    /// Makes a backup.
    ///
    /// # Errors
    /// [`MakeBackupError`]; what was written is removed.
    pub async fn back_up(
        &self,
        order: BackupOrder,
        progress: ProgressCallback,
    ) -> Result<BackupSummary, MakeBackupError> {
        self.backups.create(order, progress).await
    }

    /// Returns the journal's state and counters.
    #[must_use]
    pub fn status(&self) -> JournalStatus {
        self.maintain.status()
    }

    /// Checks every entry.
    ///
    /// # Errors
    /// [`ReadError`] when the journal cannot be read to its end.
    pub async fn verify(&self, progress: ProgressCallback) -> Result<VerifyReport, ReadError> {
        self.maintain.verify(progress).await
    }

    /// Rebuilds every projection from the log; returns the entries folded.
    ///
    /// # Errors
    /// [`RebuildError`]; the old projections stay.
    pub async fn rebuild(&self, progress: ProgressCallback) -> Result<u64, RebuildError> {
        self.maintain.rebuild(progress).await
    }

    /// Returns entries from `from` on.
    ///
    /// # Errors
    /// [`ReadError`].
    pub async fn entries(&self, from: Seq, limit: usize) -> Result<Vec<JournalEventRecord>, ReadError> {
        self.maintain.entries(from, limit).await
    }

    /// Returns the newest signed head, if there is one yet.
    #[must_use]
    pub fn newest_checkpoint(&self) -> Option<SignedCheckpoint> {
        self.proofs.newest_checkpoint()
    }

    /// Returns the first signed head that covers an entry; the newest when none does within `span`.
    pub async fn checkpoint_over(&self, seq: Seq, span: Duration) -> Option<SignedCheckpoint> {
        let covering = tokio::time::timeout(span, self.proofs.checkpoint_over(seq)).await;
        covering.ok().flatten().or_else(|| self.newest_checkpoint())
    }

    /// Signs what is committed now.
    ///
    /// # Errors
    /// [`ProofError`].
    pub async fn sign_checkpoint(&self, key: KeyChoice) -> Result<SignedCheckpoint, ProofError> {
        self.proofs.sign_checkpoint(key).await
    }

    /// Proves that an entry belongs to a tree of `size` entries.
    ///
    /// # Errors
    /// [`ProofError`].
    pub async fn inclusion(&self, seq: Seq, size: u64) -> Result<InclusionProof, ProofError> {
        self.proofs.inclusion(seq, size).await
    }

    /// Proves that a tree of `new` entries continues one of `old`.
    ///
    /// # Errors
    /// [`ProofError`].
    pub async fn consistency(&self, old: u64, new: u64) -> Result<ConsistencyProof, ProofError> {
        self.proofs.consistency(old, new).await
    }

    /// Writes a bundle into `sink`.
    ///
    /// # Errors
    /// [`ProofError`]; what the sink was given is then no bundle.
    pub async fn export(&self, what: Export, sink: ExportSink) -> Result<(), ProofError> {
        self.proofs.export(what, sink).await
    }
}
