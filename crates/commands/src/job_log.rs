//! The journal's record of jobs: that one is started, and how it ended.
//!
//! Invariant: a job's program runs only once its start is recorded, and what is said of its end is said after that is. A
//! job whose end is not recorded is in doubt from the next start of the daemon on.

use std::sync::{Arc, Mutex, PoisonError};

use futures::future::BoxFuture;
use palyra_ports::{AppendClass, AppendError, Clock, CredentialUser, NewEntry, ReadError, Recorder};
use palyra_types::effect::EffectRecord;
use palyra_types::event::JournalEvent;
use palyra_types::job::{JobEnd, JobEvent, JobNumber};
use palyra_types::{PrincipalId, SessionId};

use crate::failure::CommandFailure;

/// Reads what the journal knows of jobs.
pub trait ReadJobs: Send + Sync {
    /// Returns the number of the latest job; zero when there was none.
    fn last_job(&self) -> BoxFuture<'static, Result<JobNumber, ReadError>>;

    /// Returns the effect that started a job of a principal's.
    fn job(
        &self,
        principal: PrincipalId,
        job: JobNumber,
    ) -> BoxFuture<'static, Result<Option<EffectRecord>, ReadError>>;
}

/// Where jobs are recorded; tools are made before the journal is open.
pub(crate) struct JobLog {
    journal: Mutex<Option<Journal>>,
    /// The number given last, once it is known.
    last: tokio::sync::Mutex<Option<JobNumber>>,
    clock: Arc<dyn Clock>,
}

#[derive(Clone)]
struct Journal {
    recorder: Recorder,
    read: Arc<dyn ReadJobs>,
}

/// Whose job it is, and which call started it; or the call that asks for one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct JobOwner {
    pub(crate) session: SessionId,
    pub(crate) used_by: CredentialUser,
}

impl JobOwner {
    /// Returns whether a call may know of this owner's jobs: those of its conversation.
    pub(crate) fn shares_with(&self, call: Self) -> bool {
        self.session == call.session
    }
}

impl JobLog {
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        Self { journal: Mutex::default(), last: tokio::sync::Mutex::default(), clock }
    }

    pub(crate) fn record_in(&self, recorder: Recorder, read: Arc<dyn ReadJobs>) {
        let journal = Journal { recorder, read };
        *self.journal.lock().unwrap_or_else(PoisonError::into_inner) = Some(journal);
    }

    fn journal(&self) -> Option<Journal> {
        self.journal.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Records that a job is about to be started, and returns the number that is its own from now on.
    pub(crate) async fn begin(&self, owner: JobOwner) -> Result<JobNumber, CommandFailure> {
        let job = self.next_number().await?;
        let (run, effect) = (owner.used_by.run, owner.used_by.effect);
        let started = JobEvent::Started { job, run, effect };
        self.append(owner, started, AppendClass::Normal).await.map_err(CommandFailure::NotRecorded)?;
        Ok(job)
    }

    async fn next_number(&self) -> Result<JobNumber, CommandFailure> {
        let mut last = self.last.lock().await;
        let before = match (*last, self.journal()) {
            (Some(before), _) => before,
            (None, Some(journal)) => journal.read.last_job().await.map_err(CommandFailure::Tape)?,
            (None, None) => JobNumber::default(),
        };
        let next = before.0.checked_add(1).map(JobNumber);
        let next =
            next.ok_or_else(|| CommandFailure::TooMany("there are no more numbers for jobs".to_owned()))?;
        *last = Some(next);
        Ok(next)
    }

    /// Records how a job ended.
    pub(crate) async fn end(&self, owner: JobOwner, end: JobEnd) -> Result<(), AppendError> {
        let (run, effect) = (owner.used_by.run, owner.used_by.effect);
        self.append(owner, JobEvent::Ended { run, effect, end }, AppendClass::Ending).await
    }

    async fn append(&self, owner: JobOwner, event: JobEvent, class: AppendClass) -> Result<(), AppendError> {
        let Some(journal) = self.journal() else { return Ok(()) };
        let entry = NewEntry {
            time: self.clock.wall(),
            principal: owner.used_by.principal,
            session: Some(owner.session),
            run: None,
            event: JournalEvent::Job(event),
        };
        journal.recorder.record(vec![entry], class, Vec::new()).await?;
        Ok(())
    }

    /// Returns what is recorded of a job that nobody remembers any more, where a call may know of it.
    pub(crate) async fn find(
        &self,
        job: JobNumber,
        call: JobOwner,
    ) -> Result<Option<EffectRecord>, ReadError> {
        let Some(journal) = self.journal() else { return Ok(None) };
        let found = journal.read.job(call.used_by.principal, job).await?;
        Ok(found.filter(|record| record.session == call.session))
    }
}
