//! The workers of the queue: which tasks they are at, and what they report.

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use palyra_ports::Redactor;
use palyra_queue::{AttemptEnd, AttemptReport, QueueTime, QueuedTask, TaskEvent, TaskStage};
use palyra_types::queued_task::TASK_EXPLANATION_BYTES_MAX;
use palyra_types::{Content, LeaseFence, QueuedTaskId, Redacted, Timestamp};
use tokio::sync::{Notify, mpsc};
use tokio::task::AbortHandle;
use tracing::Instrument;

use super::handler::{TaskEnd, TaskHandler, TaskWork};
use super::lease::LeaseBeat;
use super::queue_store::{OwnedTask, TaskEntry};
use super::steady_clock::SteadyClock;
use crate::drain::Working;

/// Reports that wait to be taken; a worker sends one, so there are never so many.
const REPORTS_MAX: usize = 64;
/// Progress of a worker is recorded at most so often.
const PROGRESS_RECORD_SPAN: Duration = Duration::from_secs(60);

/// How an attempt ended, as its worker says.
#[derive(Debug)]
struct WorkerReport {
    task: QueuedTaskId,
    fence: LeaseFence,
    /// `None` when it panicked.
    end: Option<TaskEnd>,
}

/// A task that a worker is at.
struct ActiveTask {
    owned: OwnedTask,
    beat: Arc<LeaseBeat>,
    worker: AbortHandle,
    recorded_marker: u64,
    /// When its progress was recorded, or its lease.
    recorded_at: Timestamp,
    /// While it lives, a drain waits for the worker.
    _working: Working,
}

impl Drop for ActiveTask {
    fn drop(&mut self) {
        self.beat.end();
        self.worker.abort();
    }
}

/// The workers. Bounded by the number of leases that decisions give.
pub(super) struct WorkerSet {
    active: BTreeMap<QueuedTaskId, ActiveTask>,
    /// Ends that were not recorded yet.
    ended: BTreeMap<QueuedTaskId, AttemptReport>,
    reports_tx: mpsc::Sender<WorkerReport>,
    reports_rx: mpsc::Receiver<WorkerReport>,
    signal: Arc<Notify>,
    redactor: Arc<dyn Redactor>,
}

impl WorkerSet {
    /// Makes an empty set, which gives the signal with each report.
    pub(super) fn new(signal: Arc<Notify>, redactor: Arc<dyn Redactor>) -> Self {
        let (reports_tx, reports_rx) = mpsc::channel(REPORTS_MAX);
        Self { active: BTreeMap::new(), ended: BTreeMap::new(), reports_tx, reports_rx, signal, redactor }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.active.is_empty()
    }

    /// Returns the task if a worker is at it.
    pub(super) fn task(&self, task: QueuedTaskId) -> Option<OwnedTask> {
        self.active.get(&task).map(|active| active.owned)
    }

    /// Begins to work at a task, whose lease is recorded.
    pub(super) fn spawn(
        &mut self,
        owned: OwnedTask,
        handler: &Arc<dyn TaskHandler>,
        work: TaskWork,
        working: Working,
        now: QueueTime,
    ) {
        let beat = work.lease.beat();
        let task = work.task;
        let fence = work.lease.fence();
        let kind = owned.task.state().kind;
        let span = tracing::info_span!("queued_task", %task, kind = kind.as_str(), fence = fence.0);
        let handler = Arc::clone(handler);
        let reports_tx = self.reports_tx.clone();
        let signal = Arc::clone(&self.signal);
        let performed = async move {
            let end = AssertUnwindSafe(async move { handler.run(work).await }).catch_unwind().await;
            // The queue takes no reports any more only when the daemon ends.
            drop(reports_tx.send(WorkerReport { task, fence, end: end.ok() }).await);
            signal.notify_one();
        };
        let worker = tokio::spawn(performed.instrument(span)).abort_handle();
        let recorded_at = now.steady;
        let active = ActiveTask { owned, beat, worker, recorded_marker: 0, recorded_at, _working: working };
        self.active.insert(task, active);
    }

    /// Asks the worker of a task to stop.
    pub(super) fn stop(&self, task: QueuedTaskId) {
        if let Some(active) = self.active.get(&task) {
            active.beat.stop();
        }
    }

    /// Ends the attempt of a worker as lost, with the next record; returns false where no worker is at the task.
    pub(super) fn lose(&mut self, task: QueuedTaskId) -> bool {
        let Some(active) = self.active.get(&task) else { return false };
        let fence = active.owned.task.state().fence;
        let explanation = "the worker showed no progress".into();
        let lost = AttemptReport { fence, end: AttemptEnd::NoHeartbeat, explanation };
        self.ended.entry(task).or_insert(lost);
        true
    }

    /// Asks every worker to stop.
    pub(super) fn stop_all(&self) {
        self.active.values().for_each(|active| active.beat.stop());
    }

    /// Drops every worker whose lease is not among these.
    pub(super) fn retain(&mut self, leased: &BTreeMap<QueuedTaskId, LeaseFence>) {
        self.active.retain(|task, active| leased.get(task) == Some(&active.owned.task.state().fence));
    }

    /// Drops every worker; its lease stays in the journal, and the next start takes it over.
    pub(super) fn abandon(&mut self) {
        self.active.clear();
        self.ended.clear();
    }

    /// Takes what workers have reported and shown of themselves since the last time.
    pub(super) fn collect(&mut self, time: &SteadyClock) {
        while let Ok(report) = self.reports_rx.try_recv() {
            let is_current = |active: &ActiveTask| active.owned.task.has_lease(report.fence);
            if self.active.get(&report.task).is_some_and(is_current) {
                let task = report.task;
                let ended = attempt_report(report, &*self.redactor);
                self.ended.insert(task, ended);
            }
        }
        for active in self.active.values_mut() {
            let (marker, at) = active.beat.latest();
            let task = &mut active.owned.task;
            if let Some(beat) = task.heartbeat(task.state().fence, marker, time.at(at)) {
                task.evolve(&beat);
            }
        }
    }

    /// Returns the entries that end attempts, and those that record how far workers are.
    pub(super) fn entries(&self, now: QueueTime) -> Vec<TaskEntry> {
        let mut entries = Vec::new();
        for (id, active) in &self.active {
            let task = &active.owned.task;
            let state = task.state();
            let event = match self.ended.get(id) {
                Some(report) => task.end_attempt(report.clone(), now),
                None => {
                    let is_due = state.progress > active.recorded_marker
                        && now.steady.since(active.recorded_at) >= PROGRESS_RECORD_SPAN;
                    let progressed = TaskEvent::Progressed {
                        task: state.task,
                        fence: state.fence,
                        marker: state.progress,
                        until: state.until,
                    };
                    is_due.then_some(progressed)
                }
            };
            entries.extend(event.map(|event| active.owned.entry(event)));
        }
        entries
    }

    /// Returns the tasks that stay leased once these entries are recorded.
    pub(super) fn leased_after(&self, entries: &[TaskEntry]) -> Vec<QueuedTask> {
        let mut leased = Vec::new();
        for active in self.active.values() {
            let mut task = active.owned.task;
            entries.iter().for_each(|entry| task.evolve(&entry.event));
            if task.state().stage == TaskStage::Leased {
                leased.push(task);
            }
        }
        leased
    }

    /// Takes in an event that is recorded. Returns the task if no worker is at it any more.
    pub(super) fn recorded(&mut self, event: &TaskEvent, now: QueueTime) -> Option<QueuedTask> {
        let id = event.task();
        let active = self.active.get_mut(&id)?;
        active.owned.task.evolve(event);
        if let TaskEvent::Progressed { marker, .. } = event {
            active.recorded_marker = *marker;
            active.recorded_at = now.steady;
        }
        let task = active.owned.task;
        if task.state().stage == TaskStage::Leased {
            return None;
        }
        self.active.remove(&id);
        self.ended.remove(&id);
        Some(task)
    }
}

fn attempt_report(report: WorkerReport, redactor: &dyn Redactor) -> AttemptReport {
    let explained = |text: Content<String>| {
        let cleaned = redactor.redact(text).text;
        cleaned.split_at(TASK_EXPLANATION_BYTES_MAX).0
    };
    let (end, explanation) = match report.end {
        Some(TaskEnd::Completed) => (AttemptEnd::Completed, Redacted::default()),
        Some(TaskEnd::CompletedWith(what)) => (AttemptEnd::Completed, explained(what)),
        Some(TaskEnd::Stopped) => (AttemptEnd::Stopped, Redacted::default()),
        Some(TaskEnd::Failed(why)) => (AttemptEnd::Failed, explained(why)),
        Some(TaskEnd::InDoubt(why)) => (AttemptEnd::InDoubt, explained(why)),
        None => (AttemptEnd::Panicked, "the worker panicked; the log of the daemon says where".into()),
    };
    AttemptReport { fence: report.fence, end, explanation }
}
