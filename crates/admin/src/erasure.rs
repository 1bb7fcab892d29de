//! Erasing content: runs end first, then it goes from the journal, then from what is remembered here.
//!
//! Owns the order of these steps, and what the house needs again when its own names were among the content. Knows no
//! file: what lies on the disk is the journal's. Invariant: nothing that was remembered from before an erasure is read
//! by a run that begins after it. Begin at [`ErasureHandle::erase`].

use std::sync::Arc;

use futures::future::BoxFuture;
use palyra_journal_core::families::runs;
use palyra_journal_core::family::QueryFamilies;
use palyra_ports::maintain_journal::ProgressCallback;
use palyra_ports::{
    AppendError, EraseError, ErasureOrder, ErasurePlan, ErasureReceipt, ErasureSubject, ReadError,
};
use palyra_types::proof::{ErasureReason, SeqRange};
use palyra_types::run::{RunLifecycleState, RunRecord};
use palyra_types::{ErrorCode, PrincipalId, RunId};

use crate::erasure_exclusion::ErasureExclusion;
use crate::erasure_subscriber::ErasureSubscriber;
use crate::error::AdminError;
use crate::kept_erasure::{KeptSelection, selected_kept};
use crate::parts::AdminPorts;

/// Times that runs which began meanwhile are cancelled as well.
const ROUNDS_MAX: u32 = 3;

/// Erases content on behalf of the owner.
#[derive(Clone)]
pub struct ErasureHandle {
    ports: Arc<AdminPorts>,
    runs: Arc<dyn RunStopper>,
    subscribers: Vec<Arc<dyn ErasureSubscriber>>,
    exclusion: ErasureExclusion,
}

/// Ends open runs.
pub trait RunStopper: Send + Sync {
    /// Cancels a run and waits for its end; [`EraseError::OpenRun`] when that takes too long.
    fn stop<'a>(
        &'a self,
        authoriser: PrincipalId,
        run: &'a RunRecord,
    ) -> BoxFuture<'a, Result<(), EraseContentError>>;
}

/// What an erasure did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErasedContent {
    /// What was found.
    pub plan: ErasurePlan,
    /// Runs that were cancelled first.
    pub cancelled: Vec<RunId>,
    /// What the journal says of it.
    pub receipt: ErasureReceipt,
    /// How many kept files were deleted.
    pub kept: usize,
}

/// Why content was not erased, or not completely.
#[derive(Debug, thiserror::Error)]
pub enum EraseContentError {
    /// The journal said so.
    #[error(transparent)]
    Erase(#[from] EraseError),
    /// Kept files could not be deleted, or records not be read.
    #[error(transparent)]
    Request(#[from] AdminError),
    /// A run could not be ended.
    #[error("{what}")]
    Run {
        /// The stable code of the reason.
        code: ErrorCode,
        /// The reason.
        what: String,
    },
}

impl EraseContentError {
    /// Returns the stable code shown to clients.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Erase(error) => error.code(),
            Self::Request(error) => error.code(),
            Self::Run { code, .. } => *code,
        }
    }
}

impl From<ReadError> for EraseContentError {
    fn from(error: ReadError) -> Self {
        Self::Erase(error.into())
    }
}

impl ErasureHandle {
    /// Makes a handle; the subscribers are asked to forget in this order.
    #[must_use]
    pub fn new(
        ports: Arc<AdminPorts>,
        runs: Arc<dyn RunStopper>,
        subscribers: Vec<Arc<dyn ErasureSubscriber>>,
        exclusion: ErasureExclusion,
    ) -> Self {
        Self { ports, runs, subscribers, exclusion }
    }

    /// Returns what an erasure of this subject would touch.
    ///
    /// # Errors
    /// [`ReadError`].
    pub async fn plan(&self, subject: ErasureSubject) -> Result<ErasurePlan, ReadError> {
        self.ports.erasures.find(subject).await
    }

    /// Returns entries whose content holds what the present redactor takes out.
    ///
    /// # Errors
    /// [`ReadError`].
    pub async fn find_secrets(&self, progress: ProgressCallback) -> Result<ErasurePlan, ReadError> {
        self.ports.erasures.find_secrets(Arc::clone(&self.ports.redactor), progress).await
    }

    /// Erases the content of a subject. Its open runs are cancelled, and their ends awaited.
    ///
    /// # Errors
    /// [`EraseError::OpenRun`] when a run does not end in time; [`EraseError::NotOverwritten`] when it is committed but
    /// old bytes are left, where repeating goes on; whatever else [`EraseError`] names.
    pub async fn erase(
        &self,
        authoriser: PrincipalId,
        subject: ErasureSubject,
        reason: ErasureReason,
    ) -> Result<ErasedContent, EraseContentError> {
        let _under_way = self.exclusion.begin().await;
        let mut cancelled = Vec::new();
        for _ in 0..ROUNDS_MAX {
            let plan = self.plan(subject).await?;
            if plan.open_runs.is_empty() {
                let kept = self.delete_kept(KeptSelection::Of(subject)).await?;
                let receipt = self.erase_ranges(authoriser, plan.ranges.clone(), reason).await?;
                return Ok(ErasedContent { plan, cancelled, receipt, kept });
            }
            self.end_runs(authoriser, &plan.open_runs, &mut cancelled).await?;
        }
        let left = self.plan(subject).await?.open_runs;
        Err(EraseError::OpenRun(left.first().copied().unwrap_or(RunId::NIL)).into())
    }

    /// Erases every entry that holds what the present redactor takes out.
    ///
    /// # Errors
    /// As [`ErasureHandle::erase`].
    pub async fn scrub(
        &self,
        authoriser: PrincipalId,
        progress: ProgressCallback,
    ) -> Result<ErasedContent, EraseContentError> {
        let _under_way = self.exclusion.begin().await;
        let plan = self.find_secrets(progress).await?;
        let mut cancelled = Vec::new();
        self.end_runs(authoriser, &plan.open_runs, &mut cancelled).await?;
        let kept = self.delete_kept(KeptSelection::WithSecrets).await?;
        let reason = ErasureReason::LeakedSecret;
        let receipt = self.erase_ranges(authoriser, plan.ranges.clone(), reason).await?;
        Ok(ErasedContent { plan, cancelled, receipt, kept })
    }

    /// Deletes kept files before the journal forgets whose they were; repeating goes on. Returns how many.
    async fn delete_kept(&self, selection: KeptSelection) -> Result<usize, EraseContentError> {
        let files = selected_kept(&self.ports, selection).await?;
        let number = files.len();
        self.ports.kept.remove(files).await.map_err(AdminError::from)?;
        Ok(number)
    }

    async fn erase_ranges(
        &self,
        authoriser: PrincipalId,
        ranges: Vec<SeqRange>,
        reason: ErasureReason,
    ) -> Result<ErasureReceipt, EraseContentError> {
        let erased = self.ports.erasures.erase(ErasureOrder { ranges, authoriser, reason }).await;
        let committed = match &erased {
            Ok(_) | Err(EraseError::NotOverwritten { .. } | EraseError::Write(AppendError::Unknown)) => true,
            Err(
                EraseError::OpenRun(_) | EraseError::Nothing | EraseError::Read(_) | EraseError::Write(_),
            ) => false,
        };
        if committed {
            self.forget().await;
        }
        Ok(erased?)
    }

    /// Asks each subscriber to forget, one after the other.
    async fn forget(&self) {
        for subscriber in &self.subscribers {
            subscriber.forget_erased().await;
        }
    }

    /// Cancels runs and waits for their ends; waiting ones go first, for an end lets the next begin.
    async fn end_runs(
        &self,
        authoriser: PrincipalId,
        runs: &[RunId],
        cancelled: &mut Vec<RunId>,
    ) -> Result<(), EraseContentError> {
        let mut records = Vec::with_capacity(runs.len());
        for run in runs.iter().copied() {
            records.extend(self.ports.families.query(move |rows, _| runs::record(rows, run)).await?);
        }
        records.sort_by_key(|record| record.state != RunLifecycleState::Pending);
        for record in records {
            self.runs.stop(authoriser, &record).await?;
            cancelled.push(record.run);
        }
        Ok(())
    }
}
