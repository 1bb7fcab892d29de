//! Automatic backups: when one is due, the task that makes it, and the check that finds a late or failed one.
//!
//! The newest task of the queue says when the next one is due, so a restart changes nothing. Begin at [`BackupTimer`].

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_background::queue::{BackgroundQueue, NewTask, TaskEnd, TaskHandler, TaskWork};
use palyra_background::{BackgroundTask, NextTick, TickFailure};
use palyra_journal_core::families::queued_tasks::TaskQuery;
use palyra_ports::{AutomaticBackup, BackupSchedule, Clock, MakeBackups};
use palyra_types::queued_task::{AttemptEnd, OrchestratorBackgroundTaskRecord, TaskKey, TaskKind, TaskStage};
use palyra_types::{Content, PrincipalId, Timestamp};
use tokio::sync::watch;

use crate::health::{CheckLevel, HealthCheck, HealthHandle, ScheduleReader};

/// Tasks that a check looks at.
const TASKS_LOOKED_AT: usize = 20;
/// One automatic backup is open at a time.
const SUBJECT: TaskKey = TaskKey([0; 16]);

/// Where the configuration says when backups are made.
pub struct ScheduleSource<T> {
    config: watch::Receiver<Arc<T>>,
    read: fn(&T) -> Option<BackupSchedule>,
}

impl<T> Clone for ScheduleSource<T> {
    fn clone(&self) -> Self {
        Self { config: self.config.clone(), read: self.read }
    }
}

impl<T: Send + Sync + 'static> ScheduleSource<T> {
    /// Takes a configuration that may change, and the part of it that matters.
    #[must_use]
    pub fn new(config: watch::Receiver<Arc<T>>, read: fn(&T) -> Option<BackupSchedule>) -> Self {
        Self { config, read }
    }

    /// Returns what reads it.
    #[must_use]
    pub fn reader(&self) -> ScheduleReader {
        let source = self.clone();
        Arc::new(move || (source.read)(&source.config.borrow()))
    }
}

/// Puts a backup into the queue when it is due.
pub struct BackupTimer<T> {
    queue: BackgroundQueue,
    clock: Arc<dyn Clock>,
    source: ScheduleSource<T>,
}

impl<T: Send + Sync + 'static> BackupTimer<T> {
    /// Makes the timer.
    #[must_use]
    pub fn new(queue: BackgroundQueue, clock: Arc<dyn Clock>, source: ScheduleSource<T>) -> Self {
        Self { queue, clock, source }
    }

    async fn put_due(&mut self) -> Result<NextTick, TickFailure> {
        let schedule = (self.source.read)(&self.source.config.borrow_and_update());
        let Some(BackupSchedule { every, .. }) = schedule else { return Ok(NextTick::OnSignal) };
        let query = TaskQuery { kind: Some(TaskKind::Backup), limit: 1, ..TaskQuery::default() };
        let newest = self.queue.list(query).await.map_err(TickFailure::new)?;
        if let Some(wait) = newest.first().and_then(|task| wait_after(task.created, every, self.clock.wall()))
        {
            return Ok(NextTick::After(wait));
        }
        let task = NewTask {
            kind: TaskKind::Backup,
            principal: PrincipalId::NIL,
            session: None,
            key: Some(SUBJECT),
            due: None,
            payload: "automatic".into(),
        };
        self.queue.enqueue(task).await.map_err(TickFailure::new)?;
        Ok(NextTick::After(every))
    }
}

/// Returns how long the next backup is to be waited for; `None` when it is due. A clock that was set back does not put it
/// off by more than one interval.
fn wait_after(newest: Timestamp, every: Duration, now: Timestamp) -> Option<Duration> {
    let left = newest.after(every).0.saturating_sub(now.0);
    let left = Duration::from_micros(u64::try_from(left).ok().filter(|left| *left > 0)?);
    Some(left.min(every))
}

impl<T: Send + Sync + 'static> BackgroundTask for BackupTimer<T> {
    fn name(&self) -> &'static str {
        "backup_timer"
    }

    fn tick(&mut self) -> BoxFuture<'_, Result<NextTick, TickFailure>> {
        self.put_due().boxed()
    }

    fn signal(&self) -> BoxFuture<'static, ()> {
        let mut config = self.source.config.clone();
        async move {
            if config.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
        .boxed()
    }
}

/// Makes automatic backups as tasks of the queue.
pub struct BackupHandler {
    backups: Arc<dyn MakeBackups>,
    schedule: ScheduleReader,
}

impl BackupHandler {
    /// Makes a handler.
    #[must_use]
    pub fn new(backups: Arc<dyn MakeBackups>, schedule: ScheduleReader) -> Self {
        Self { backups, schedule }
    }
}

impl TaskHandler for BackupHandler {
    fn kind(&self) -> TaskKind {
        TaskKind::Backup
    }

    fn run(&self, work: TaskWork) -> BoxFuture<'static, TaskEnd> {
        let backups = Arc::clone(&self.backups);
        let schedule = (self.schedule)();
        async move {
            // Switched off since the task was put into the queue.
            let Some(BackupSchedule { folder, keep, .. }) = schedule else { return TaskEnd::Completed };
            let order = AutomaticBackup { folder, keep, task: work.task, created: work.created };
            let lease = work.lease.clone();
            let progress = Arc::new(move |done, _| {
                // A lease that is over ends this future, and with it the work.
                let _ = lease.heartbeat(done);
            });
            tokio::select! {
                biased;
                () = work.lease.stop_requested() => TaskEnd::Stopped,
                made = backups.create_automatic(order, progress) => match made {
                    Ok(_) => TaskEnd::Completed,
                    Err(error) => TaskEnd::Failed(Content::new(error.to_string())),
                },
            }
        }
        .boxed()
    }
}

impl HealthHandle {
    /// Also checks automatic backups.
    #[must_use]
    pub fn with_backups(mut self, schedule: ScheduleReader) -> Self {
        self.backups = Some(schedule);
        self
    }

    /// Says when the last automatic backup was made, where there are to be any.
    pub(crate) async fn automatic_backups(&self) -> Option<HealthCheck> {
        let schedule = self.backups.as_ref()?()?;
        let query =
            TaskQuery { kind: Some(TaskKind::Backup), limit: TASKS_LOOKED_AT, ..TaskQuery::default() };
        let tasks = self.queue.list(query).await.ok()?;
        Some(check_of(&tasks, schedule.every, self.now()))
    }
}

/// Judges the tasks of backups, the newest first.
fn check_of(tasks: &[OrchestratorBackgroundTaskRecord], every: Duration, now: Timestamp) -> HealthCheck {
    let check = |level, found: String, mend| HealthCheck { name: "automatic_backups", level, found, mend };
    let done = tasks.iter().find(|task| task.stage == TaskStage::Done);
    let last = match done {
        Some(task) => format!("the last one was made {} hours ago", hours_between(task.changed, now)),
        None => "none was made yet".to_owned(),
    };
    if let Some(task) = tasks.first().filter(|task| has_failed(task)) {
        let mend = if task.stage.needs_person() {
            "`palyra admin tasks list --kind backup` says why; mend the cause, then `palyra admin tasks retry TASK`"
        } else {
            "`palyra admin tasks list --kind backup` says why; mend the cause, then `palyra admin tasks run-now TASK`"
        };
        return check(CheckLevel::Warning, format!("the latest one failed; {last}"), mend);
    }
    let since = done.map(|task| task.changed).or_else(|| tasks.last().map(|task| task.created));
    let late = since.is_some_and(|since| since.after(every * 2) < now);
    let mend =
        "backups are made while the daemon runs: keep it running, or make one with `palyra backup create`";
    if late { check(CheckLevel::Warning, last, mend) } else { check(CheckLevel::Ok, last, "") }
}

fn has_failed(task: &OrchestratorBackgroundTaskRecord) -> bool {
    let failed =
        matches!(task.last_end, Some(AttemptEnd::Failed | AttemptEnd::InDoubt | AttemptEnd::Panicked));
    task.stage.needs_person() || (task.stage.is_open() && failed)
}

fn hours_between(then: Timestamp, now: Timestamp) -> i64 {
    const MICROS_PER_HOUR: i64 = 3_600_000_000;
    now.0.saturating_sub(then.0).max(0) / MICROS_PER_HOUR
}

#[cfg(test)]
mod tests;
