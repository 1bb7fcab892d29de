//! Erasing content: runs end first, then it goes from the journal, then from what is remembered here.
//!
//! Owns the order of these steps, and what the house needs again when its own names were among the content. Knows no
//! file: what lies on the disk is the journal's. Invariant: nothing that was remembered from before an erasure is read
//! by a run that begins after it. Begin at [`ErasureHandle::erase`].

use std::sync::Arc;
use std::time::Duration;

use palyra_ports::maintain_journal::Progress;
use palyra_ports::{
    AppendError, EraseError, ErasureOrder, ErasurePlan, ErasureReceipt, ErasureSubject, ReadError,
};
use palyra_run_core::RunInput;
use palyra_types::proof::{ErasureReason, SeqRange};
use palyra_types::run::{CancelReason, RunLifecycleState, RunRecord};
use palyra_types::session::SessionRef;
use palyra_types::{ErrorCode, PrincipalId, RunId};

use crate::access::AccessHandle;
use crate::agents::AgentRegistry;
use crate::caller::Caller;
use crate::error::RequestError;
use crate::kept_erasure::{KeptSelection, selected_kept};
use crate::parts::RuntimePorts;
use crate::session::SessionsHandle;
use crate::tape::TapeHandle;

/// How long a cancelled run may take to its end; tools have their own, shorter grace.
const ENDING_SPAN_MAX: Duration = Duration::from_secs(60);
/// Times that runs which began meanwhile are cancelled as well.
const ROUNDS_MAX: u32 = 3;

/// Erases content on behalf of the owner.
#[derive(Clone)]
pub struct ErasureHandle {
    ports: Arc<RuntimePorts>,
    sessions: SessionsHandle,
    tapes: TapeHandle,
    agents: AgentRegistry,
    access: AccessHandle,
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
    /// A run could not be ended.
    #[error(transparent)]
    Request(#[from] RequestError),
}

impl EraseContentError {
    /// Returns the stable code shown to clients.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Erase(error) => error.code(),
            Self::Request(error) => error.code(),
        }
    }
}

impl From<ReadError> for EraseContentError {
    fn from(error: ReadError) -> Self {
        Self::Erase(error.into())
    }
}

impl ErasureHandle {
    pub(crate) fn new(
        ports: Arc<RuntimePorts>,
        (sessions, tapes): (SessionsHandle, TapeHandle),
        (agents, access): (AgentRegistry, AccessHandle),
    ) -> Self {
        Self { ports, sessions, tapes, agents, access }
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
    pub async fn find_secrets(&self, progress: Progress) -> Result<ErasurePlan, ReadError> {
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
        progress: Progress,
    ) -> Result<ErasedContent, EraseContentError> {
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
        self.ports.kept.remove(files).await.map_err(RequestError::from)?;
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
            self.forget().await?;
        }
        Ok(erased?)
    }

    /// Drops what is remembered of content, and gives back their names to those without whom nothing works.
    async fn forget(&self) -> Result<(), EraseContentError> {
        self.sessions.forget().await;
        let restored = async {
            self.access.reload().await?;
            self.agents.reload(self.access.local_principal()).await
        };
        // The next start does the same; the erasure is done.
        if let Err(error) = restored.await {
            tracing::error!(%error, "names could not be read again after an erasure");
        }
        Ok(())
    }

    /// Cancels runs and waits for their ends; waiting ones go first, for an end lets the next begin.
    async fn end_runs(
        &self,
        authoriser: PrincipalId,
        runs: &[RunId],
        cancelled: &mut Vec<RunId>,
    ) -> Result<(), EraseContentError> {
        let mut records = Vec::with_capacity(runs.len());
        for run in runs {
            records.extend(self.ports.records.run(*run).await?);
        }
        records.sort_by_key(|record| record.state != RunLifecycleState::Pending);
        for record in records {
            self.end_run(authoriser, &record).await?;
            cancelled.push(record.run);
        }
        Ok(())
    }

    async fn end_run(&self, authoriser: PrincipalId, record: &RunRecord) -> Result<(), EraseContentError> {
        let run = record.run;
        let caller = Caller { principal: record.principal, surface: palyra_types::run::Surface::LocalSocket };
        let mut follower = self.tapes.follow(caller, run, record.last_tape_seq).await?;
        let session = SessionRef { principal: record.principal, id: record.session };
        let cancel = RunInput::Cancel { actor: authoriser, reason: CancelReason::User };
        match self.sessions.deliver(session, run, cancel, Vec::new()).await {
            Ok(_) | Err(RequestError::RunFinished) => {}
            Err(error) => return Err(error.into()),
        }
        let clock = &self.ports.clock;
        let too_late = clock.sleep_until(clock.boot().after(ENDING_SPAN_MAX));
        let over = async {
            while follower.next().await?.is_some() {}
            Ok::<(), RequestError>(())
        };
        tokio::select! {
            over = over => Ok(over?),
            () = too_late => Err(EraseError::OpenRun(run).into()),
        }
    }
}
