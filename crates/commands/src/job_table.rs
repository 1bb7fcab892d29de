//! The table of jobs.
//!
//! A job belongs to a session and dies with the daemon. Invariant: at most [`JOBS_MAX`] run, and at most [`KEPT_MAX`]
//! are remembered.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use palyra_ports::{AppendError, Clock, ProcessTier, ProgramEnd, Recorder};
use palyra_types::effect::EffectRecord;
use palyra_types::job::{JobEnd, JobNumber, JobState};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, watch};

use crate::failure::CommandFailure;
use crate::job_log::{JobLog, JobOwner, ReadJobs};
use crate::output_buffer::OutputBuffer;
use crate::protection::ProgramReview;
use crate::reach::EgressDoor;
use crate::running::{GatheredOutput, RunningProgram};

/// Jobs that run at once, of all sessions.
pub(crate) const JOBS_MAX: usize = 16;
/// Jobs that are remembered, ended ones among them.
pub(crate) const KEPT_MAX: usize = 64;

/// The jobs of a daemon. Clones share them.
#[derive(Clone)]
pub struct Jobs(Arc<SharedJobs>);

/// Jobs by number.
struct SharedJobs {
    room: Arc<Semaphore>,
    book: JobLog,
    table: Mutex<BTreeMap<JobNumber, (JobOwner, TrackedJob)>>,
}

/// One job, running or ended.
#[derive(Clone)]
pub(crate) struct TrackedJob {
    pub(crate) tier: ProcessTier,
    pub(crate) output: GatheredOutput<OutputBuffer>,
    pub(crate) door: Option<Arc<EgressDoor>>,
    pub(crate) protection: Option<Arc<ProgramReview>>,
    stop: Arc<Notify>,
    over: watch::Receiver<Option<JobOutcome>>,
}

/// A job's end.
#[derive(Debug, Clone)]
pub(crate) struct JobOutcome {
    pub(crate) ended: ProgramEnd,
    pub(crate) end: JobEnd,
    pub(crate) recorded: Result<(), AppendError>,
}

impl TrackedJob {
    /// Returns how it ended, when it has.
    pub(crate) fn over(&self) -> Option<JobOutcome> {
        self.over.borrow().clone()
    }

    /// Says what it may not leave behind, when there is something.
    pub(crate) fn describe_protection(&self) -> Option<String> {
        self.protection.as_ref()?.describe()
    }

    /// Ends it, and returns once nothing is left of it and that is recorded.
    pub(crate) async fn stop(&mut self) -> Option<JobOutcome> {
        self.stop.notify_one();
        self.over.wait_for(Option::is_some).await.ok().and_then(|over| over.clone())
    }
}

/// Room for one job; given back when its end is recorded.
pub(crate) struct JobPermit(
    #[expect(dead_code, reason = "held for as long as the job runs")] OwnedSemaphorePermit,
);

/// A job whose program runs.
struct StartedJob {
    owner: JobOwner,
    tier: ProcessTier,
    running: RunningProgram<OutputBuffer>,
    room: JobPermit,
}

impl Jobs {
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        let room = Arc::new(Semaphore::new(JOBS_MAX));
        Self(Arc::new(SharedJobs { room, book: JobLog::new(clock), table: Mutex::default() }))
    }

    /// Says where jobs are recorded from now on; the last one counts. Until then they are not.
    pub fn record_in(&self, recorder: Recorder, read: Arc<dyn ReadJobs>) {
        self.0.book.record_in(recorder, read);
    }

    /// Returns how many run, or are about to.
    #[must_use]
    pub fn running(&self) -> usize {
        JOBS_MAX - self.0.room.available_permits()
    }

    fn table(&self) -> MutexGuard<'_, BTreeMap<JobNumber, (JobOwner, TrackedJob)>> {
        self.0.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes room for one more.
    pub(crate) fn room(&self) -> Result<JobPermit, CommandFailure> {
        let full = |_| CommandFailure::TooMany(format!("{JOBS_MAX} jobs run already; end one of them first"));
        Arc::clone(&self.0.room).try_acquire_owned().map(JobPermit).map_err(full)
    }

    /// Starts a job's program between two records: that it is started, and that it could not be. Returns its number.
    pub(crate) async fn start(
        &self,
        owner: JobOwner,
        tier: ProcessTier,
        room: JobPermit,
        starting: impl Future<Output = Result<RunningProgram<OutputBuffer>, CommandFailure>>,
    ) -> Result<JobNumber, CommandFailure> {
        let number = self.0.book.begin(owner).await?;
        match starting.await {
            Ok(running) => {
                self.keep(number, StartedJob { owner, tier, running, room });
                Ok(number)
            }
            Err(failure) => {
                // One that stays open is of a call that failed, which is in no doubt.
                let _ = self.0.book.end(owner, JobEnd::NotStarted).await;
                Err(failure)
            }
        }
    }

    /// Follows a program to its end.
    fn keep(&self, number: JobNumber, StartedJob { owner, tier, running, room }: StartedJob) {
        let (stop, output, door) = (Arc::new(Notify::new()), running.output.clone(), running.door.clone());
        let protection = running.protection.clone();
        let (said, over) = watch::channel(None);
        let (stopped, jobs) = (Arc::clone(&stop), self.clone());
        tokio::spawn(async move {
            let (ended, end) = follow(running, stopped).await;
            let recorded = jobs.0.book.end(owner, end).await;
            drop(room);
            said.send_replace(Some(JobOutcome { ended, end, recorded }));
        });
        let mut table = self.table();
        table.insert(number, (owner, TrackedJob { tier, output, door, protection, stop, over }));
        while table.len() > KEPT_MAX {
            let oldest = table.iter().find(|(_, (_, job))| job.over().is_some());
            let Some(oldest) = oldest.map(|(number, _)| *number) else { break };
            table.remove(&oldest);
        }
    }

    /// Returns a job of the call's session.
    pub(crate) async fn find(&self, call: JobOwner, name: &str) -> Result<TrackedJob, CommandFailure> {
        let unknown = || CommandFailure::JobUnknown(format!("this session has no `{name}`"));
        let number: JobNumber = name.parse().map_err(|_| unknown())?;
        let known = self.table().get(&number).cloned();
        if let Some((_, job)) = known.filter(|(owner, _)| owner.shares_with(call)) {
            return Ok(job);
        }
        let recorded = self.0.book.find(number, call).await.map_err(CommandFailure::Tape)?;
        Err(recorded.map_or_else(unknown, |record| CommandFailure::JobUnknown(describe(number, &record))))
    }
}

/// Says what is recorded of a job that runs no more.
fn describe(number: JobNumber, record: &EffectRecord) -> String {
    let (run, effect) = (record.run, record.effect);
    let call = format!("effect {effect} of run {run}");
    match record.job.map(|job| job.state) {
        None | Some(JobState::Ended) => {
            format!("`{number}` has ended, and what it printed is not kept any more; it was {call}")
        }
        Some(JobState::Running | JobState::InDoubt) => format!(
            "`{number}` ended with the daemon that ran it, and how far it came is not known: {call} is in doubt until a \
             person says what became of it (`palyra runs effects resolve {run} {effect} happened|did-not-happen`)"
        ),
        Some(JobState::Gone) => format!(
            "`{number}` ended with the daemon that ran it, before it was known to have begun; it was {call}"
        ),
        Some(JobState::Settled) => format!(
            "`{number}` ended with the daemon that ran it; a person said since what became of it, which was {call}"
        ),
    }
}

/// Waits for a program's end, or ends it.
async fn follow(mut running: RunningProgram<OutputBuffer>, stop: Arc<Notify>) -> (ProgramEnd, JobEnd) {
    let by_itself = {
        let mut ended = std::pin::pin!(running.end_of_program());
        tokio::select! {
            biased;
            ended = &mut ended => ended,
            () = stop.notified() => None,
        }
    };
    running.process.stop();
    let last = running.wait().await;
    let end = match by_itself {
        None => JobEnd::Stopped,
        Some(ProgramEnd::Exited { code }) => JobEnd::Exited { code },
        Some(ProgramEnd::Signalled { signal }) => JobEnd::Signalled { signal },
        Some(ProgramEnd::OverMemory) => JobEnd::OverMemory,
        Some(ProgramEnd::OverProcesses) => JobEnd::OverProcesses,
        // The journal knows of no further end; its text says which it was.
        Some(ProgramEnd::KeptLost) => JobEnd::Stopped,
        // Nobody said so: what held it is gone.
        Some(ProgramEnd::Stopped) => JobEnd::Lost,
    };
    (by_itself.unwrap_or(last), end)
}
