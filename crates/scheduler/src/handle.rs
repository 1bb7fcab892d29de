//! Schedules, for callers, and how their loop is started.

use std::sync::Arc;

use jiff::tz::TimeZoneDatabase;
use palyra_admin::Caller;
use palyra_background::BackgroundDriver;
use palyra_background::queue::BackgroundQueue;
use palyra_types::schedule::PauseScope;
use palyra_types::{ScheduleId, Timestamp};
use tokio::sync::{Notify, mpsc, oneshot, watch};

use crate::command::{CommandReceipt, ScheduleCommand, ScheduleRequest, ScheduleRequester};
use crate::draft::{CheckedDraft, ScheduleDraft, SchedulePreview};
use crate::error::ScheduleError;
use crate::listing::{self, ListedSchedule, ScheduleDetails};
use crate::open_schedules;
use crate::ports::SchedulePorts;
use crate::run_handler::{ReportSender, ScheduledRunHandler};
use crate::schedule_loop::{LoopInputs, ScheduleLoop};
use crate::scheduled_run::StartScheduledRuns;

/// Commands that wait in the mailbox of the loop; callers beyond that wait.
const COMMANDS_MAX: usize = 256;
/// Reports that wait; those who report wait beyond that.
const REPORTS_MAX: usize = 256;

/// Makes, changes and starts schedules. Clones share the loop.
///
/// Every call takes the caller and is about the schedules of that principal only; the id of another one's behaves like an
/// unknown one.
#[derive(Clone)]
pub struct SchedulesHandle {
    pub(crate) ports: SchedulePorts,
    pub(crate) zones: TimeZoneDatabase,
    commands_tx: mpsc::Sender<ScheduleCommand>,
    signal: Arc<Notify>,
    changes_rx: watch::Receiver<u64>,
}

/// What is made before the queue and used after it: the queue takes the handler, and the loop takes the queue.
pub struct SchedulesStart {
    ports: SchedulePorts,
    runs: Arc<dyn StartScheduledRuns>,
    reports: ReportSender,
    commands_tx: mpsc::Sender<ScheduleCommand>,
    inputs: LoopInputs,
}

impl SchedulesStart {
    /// Prepares schedules whose runs are started by `runs`.
    #[must_use]
    pub fn new(ports: SchedulePorts, runs: Arc<dyn StartScheduledRuns>) -> Self {
        let (commands_tx, commands_rx) = mpsc::channel(COMMANDS_MAX);
        let (reports_tx, reports_rx) = mpsc::channel(REPORTS_MAX);
        let signal = Arc::new(Notify::new());
        let reports = ReportSender { reports_tx, signal: Arc::clone(&signal) };
        let changes_tx = watch::Sender::new(0);
        let inputs = LoopInputs { commands_rx, reports_rx, signal, changes_tx };
        Self { ports, runs, reports, commands_tx, inputs }
    }

    /// Returns the handler that the queue performs tasks of the kind `scheduled_run` with.
    #[must_use]
    pub fn handler(&self) -> ScheduledRunHandler {
        ScheduledRunHandler {
            ports: self.ports.clone(),
            runs: Arc::clone(&self.runs),
            reports: self.reports.clone(),
        }
    }

    /// Starts the loop as a task of the driver: it reads the plan, repeats what a crash may have prevented, and then waits for
    /// the next time, a caller, a report, or a wall clock that is set.
    #[must_use]
    pub fn spawn(self, driver: &BackgroundDriver, queue: BackgroundQueue) -> SchedulesHandle {
        let Self { ports, runs, reports: _, commands_tx, inputs } = self;
        let signal = Arc::clone(&inputs.signal);
        let changes_rx = inputs.changes_tx.subscribe();
        driver.spawn(ScheduleLoop::new(ports.clone(), queue, runs, inputs));
        SchedulesHandle { ports, zones: TimeZoneDatabase::bundled(), commands_tx, signal, changes_rx }
    }
}

impl SchedulesHandle {
    /// Says what a draft means: the cron line, the next five times, and what changes of the local clock do to them. Records
    /// nothing.
    ///
    /// # Errors
    /// [`ScheduleError::Words`]; [`ScheduleError::Invalid`].
    pub fn preview(&self, caller: Caller, draft: &ScheduleDraft) -> Result<SchedulePreview, ScheduleError> {
        let checked = CheckedDraft::new(&self.ports, &self.zones, caller.actor.principal, draft)?;
        Ok(checked.preview(self.ports.clock.wall()))
    }

    /// Makes a schedule. Returns its id after the commit.
    ///
    /// # Errors
    /// Those of [`preview`](Self::preview); [`ScheduleError::TooMany`]; [`ScheduleError::Admin`]; [`ScheduleError::Stopped`].
    pub async fn create(&self, caller: Caller, draft: ScheduleDraft) -> Result<ScheduleId, ScheduleError> {
        let receipt = self.send(caller, ScheduleRequest::Create(Box::new(draft))).await?;
        receipt.schedule.ok_or(ScheduleError::Stopped)
    }

    /// Replaces what a schedule is, which is a new approval: occurrences that wait are skipped, failures are forgotten, and a
    /// pause that waited for this ends.
    ///
    /// # Errors
    /// Those of [`create`](Self::create); [`ScheduleError::NotFound`].
    pub async fn edit(
        &self,
        caller: Caller,
        schedule: ScheduleId,
        draft: ScheduleDraft,
    ) -> Result<(), ScheduleError> {
        let draft = Box::new(draft);
        self.send(caller, ScheduleRequest::Edit { schedule, draft }).await.map(|_| ())
    }

    /// Pauses a schedule; a running occurrence goes on, and one that waits is skipped.
    ///
    /// # Errors
    /// [`ScheduleError::NotFound`]; [`ScheduleError::Admin`]; [`ScheduleError::Stopped`].
    pub async fn pause(&self, caller: Caller, schedule: ScheduleId) -> Result<(), ScheduleError> {
        self.send(caller, ScheduleRequest::Pause(schedule)).await.map(|_| ())
    }

    /// Lets a schedule go on with the occurrences that are planned later than now. For a reminder that was delivered it says
    /// that a person has seen it.
    ///
    /// # Errors
    /// Those of [`pause`](Self::pause).
    pub async fn resume(&self, caller: Caller, schedule: ScheduleId) -> Result<(), ScheduleError> {
        self.send(caller, ScheduleRequest::Resume(schedule)).await.map(|_| ())
    }

    /// Pauses all schedules of the caller.
    ///
    /// # Errors
    /// [`ScheduleError::Admin`]; [`ScheduleError::Stopped`].
    pub async fn pause_all(&self, caller: Caller) -> Result<(), ScheduleError> {
        let scope = PauseScope::Principal(caller.actor.principal);
        self.send(caller, ScheduleRequest::PauseMany(scope)).await.map(|_| ())
    }

    /// Lets all schedules of the caller go on that were not paused one by one.
    ///
    /// # Errors
    /// Those of [`pause_all`](Self::pause_all).
    pub async fn resume_all(&self, caller: Caller) -> Result<(), ScheduleError> {
        let scope = PauseScope::Principal(caller.actor.principal);
        self.send(caller, ScheduleRequest::ResumeMany(scope)).await.map(|_| ())
    }

    /// Removes a schedule; a running occurrence goes on.
    ///
    /// # Errors
    /// Those of [`pause`](Self::pause).
    pub async fn remove(&self, caller: Caller, schedule: ScheduleId) -> Result<(), ScheduleError> {
        self.send(caller, ScheduleRequest::Remove(schedule)).await.map(|_| ())
    }

    /// Starts an occurrence now, also while the schedule is paused. Returns its planned instant, which names it.
    ///
    /// # Errors
    /// Those of [`pause`](Self::pause); [`ScheduleError::NotStarted`].
    pub async fn run_now(&self, caller: Caller, schedule: ScheduleId) -> Result<Timestamp, ScheduleError> {
        let receipt = self.send(caller, ScheduleRequest::RunNow(schedule)).await?;
        receipt.planned.ok_or(ScheduleError::Stopped)
    }

    /// Lists the schedules of the caller, the newest first.
    ///
    /// # Errors
    /// [`ScheduleError::Admin`].
    pub async fn list(&self, caller: Caller) -> Result<Vec<ListedSchedule>, ScheduleError> {
        listing::list(&self.ports, &self.zones, caller.actor.principal).await
    }

    /// Returns a schedule of the caller with its next and latest ten occurrences.
    ///
    /// # Errors
    /// [`ScheduleError::NotFound`]; [`ScheduleError::Admin`].
    pub async fn get(&self, caller: Caller, schedule: ScheduleId) -> Result<ScheduleDetails, ScheduleError> {
        listing::details(&self.ports, &self.zones, caller.actor.principal, schedule).await
    }

    async fn send(&self, caller: Caller, request: ScheduleRequest) -> Result<CommandReceipt, ScheduleError> {
        self.send_as(ScheduleRequester::Caller(caller.actor), request).await
    }

    /// Returns whether a schedule of any principal has a time to come, or a reminder that no person has acted on. Paused
    /// schedules do not count.
    ///
    /// # Errors
    /// [`ScheduleError::Admin`].
    pub async fn has_open_schedules(&self) -> Result<bool, ScheduleError> {
        open_schedules::exist(&self.ports, &self.zones).await
    }

    /// Returns what changes with each append about schedules.
    #[must_use]
    pub fn watch_changes(&self) -> watch::Receiver<u64> {
        self.changes_rx.clone()
    }

    pub(crate) async fn send_as(
        &self,
        requester: ScheduleRequester,
        request: ScheduleRequest,
    ) -> Result<CommandReceipt, ScheduleError> {
        let (reply_tx, reply_rx) = oneshot::channel();
        let command = ScheduleCommand { requester, request, reply_tx };
        self.commands_tx.send(command).await.map_err(|_| ScheduleError::Stopped)?;
        self.signal.notify_one();
        reply_rx.await.map_err(|_| ScheduleError::Stopped)?
    }
}
