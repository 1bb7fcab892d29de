//! Care of the journal: the write-ahead log is cut when it has grown, and every entry is checked again once in a while.
//!
//! The timer looks at counters in memory, so a daemon with nothing to care for writes nothing.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_background::queue::{BackgroundQueue, NewTask, TaskEnd, TaskHandler, TaskLease, TaskWork};
use palyra_background::{BackgroundTask, NextTick, TickFailure};
use palyra_ports::maintain_journal::{JournalHealth, ProgressCallback, WalShrink};
use palyra_ports::{Clock, MaintainJournal};
use palyra_types::queued_task::{TaskKey, TaskKind};
use palyra_types::{BootTime, Content, PrincipalId};
use tokio::sync::watch;

use super::upkeep_rules::{HasUpkeepRules, JournalCareRules};

/// The payload of a task that checks every entry as well.
const CHECK: &str = "check";
/// The payload of a task that only cuts the write-ahead log.
const SHRINK: &str = "shrink";
/// Attempts at a log that readers hold up; the timer tries again later.
const HELD_UP_ATTEMPTS_MAX: u32 = 3;

/// Puts a task into the queue when the journal needs care.
pub struct JournalCareTimer<C> {
    maintain: Arc<dyn MaintainJournal>,
    clock: Arc<dyn Clock>,
    queue: BackgroundQueue,
    config: watch::Receiver<Arc<C>>,
    checked: BootTime,
}

impl<C: HasUpkeepRules> JournalCareTimer<C> {
    /// Makes the task; the start that it belongs to checks every entry.
    #[must_use]
    pub fn new(
        maintain: Arc<dyn MaintainJournal>,
        clock: Arc<dyn Clock>,
        queue: BackgroundQueue,
        config: watch::Receiver<Arc<C>>,
    ) -> Self {
        let checked = clock.boot();
        Self { maintain, clock, queue, config, checked }
    }

    async fn look(&mut self) -> Result<NextTick, TickFailure> {
        let rules = self.config.borrow_and_update().upkeep().journal;
        let Some(rules) = rules else { return Ok(NextTick::OnSignal) };
        let status = self.maintain.status();
        if status.health == JournalHealth::Quarantined {
            return Ok(NextTick::OnSignal);
        }
        let now = self.clock.boot();
        let is_check_due = now.since(self.checked) >= rules.check_every;
        if is_check_due || status.wal_bytes > rules.wal_bytes_max {
            let payload = if is_check_due { CHECK } else { SHRINK };
            let enqueued = self.queue.enqueue(care_task(payload)).await;
            let receipt = enqueued.map_err(|error| {
                TickFailure::new(format_args!("the care of the journal is not in the queue: {error}"))
            })?;
            if is_check_due && receipt.is_new {
                self.checked = now;
            }
        }
        Ok(NextTick::After(rules.look_every))
    }
}

fn care_task(payload: &'static str) -> NewTask {
    NewTask {
        kind: TaskKind::JournalCare,
        principal: PrincipalId::NIL,
        session: None,
        key: Some(TaskKey([0; 16])),
        due: None,
        payload: payload.into(),
    }
}

impl<C: HasUpkeepRules> BackgroundTask for JournalCareTimer<C> {
    fn name(&self) -> &'static str {
        "journal_care"
    }

    fn tick(&mut self) -> BoxFuture<'_, Result<NextTick, TickFailure>> {
        self.look().boxed()
    }

    fn signal(&self) -> BoxFuture<'static, ()> {
        config_changed(self.config.clone()).boxed()
    }
}

/// Completes once the configuration is another one than the receiver has seen.
pub(super) async fn config_changed<C>(mut config: watch::Receiver<Arc<C>>) {
    if config.changed().await.is_err() {
        // It cannot change any more.
        std::future::pending::<()>().await;
    }
}

/// Cares for the journal.
pub struct JournalCareHandler<C> {
    maintain: Arc<dyn MaintainJournal>,
    config: watch::Receiver<Arc<C>>,
}

impl<C: HasUpkeepRules> JournalCareHandler<C> {
    /// Makes a handler.
    #[must_use]
    pub fn new(maintain: Arc<dyn MaintainJournal>, config: watch::Receiver<Arc<C>>) -> Self {
        Self { maintain, config }
    }
}

impl<C: HasUpkeepRules> TaskHandler for JournalCareHandler<C> {
    fn kind(&self) -> TaskKind {
        TaskKind::JournalCare
    }

    fn run(&self, work: TaskWork) -> BoxFuture<'static, TaskEnd> {
        let maintain = Arc::clone(&self.maintain);
        let rules = self.config.borrow().upkeep().journal.unwrap_or(JournalCareRules::USUAL);
        Box::pin(async move {
            tokio::select! {
                biased;
                () = work.lease.stop_requested() => TaskEnd::Stopped,
                end = care(&*maintain, rules, &work) => end,
            }
        })
    }
}

/// Checks first: the check reads one state of the journal, and the write-ahead log cannot be cut during that.
async fn care(maintain: &dyn MaintainJournal, rules: JournalCareRules, work: &TaskWork) -> TaskEnd {
    let mut done = Vec::new();
    if work.payload.expose() == CHECK {
        match maintain.verify(heartbeats(work.lease.clone())).await {
            // `palyra doctor` shows a fault until a later check finds none.
            Ok(report) => done.push(match report.fault {
                None => format!("{} entries hold", report.entries),
                Some((seq, what)) => format!("entry {} does not hold: {what}", seq.0),
            }),
            Err(error) => return TaskEnd::Failed(Content::new(format!("the check was not made: {error}"))),
        }
    }
    let wal_bytes = maintain.status().wal_bytes;
    if wal_bytes > rules.wal_bytes_max {
        match maintain.shrink_wal().await {
            Ok(WalShrink::Done) => done.push(format!("a write-ahead log of {wal_bytes} bytes was cut")),
            Ok(WalShrink::HeldUp) if work.attempt < HELD_UP_ATTEMPTS_MAX => {
                let what = format!("a reader of the journal keeps {wal_bytes} bytes of the write-ahead log");
                return TaskEnd::Failed(Content::new(what));
            }
            Ok(WalShrink::HeldUp) => {
                done.push("readers keep the write-ahead log; it is cut later".to_owned());
            }
            Err(error) => {
                return TaskEnd::Failed(Content::new(format!("the write-ahead log was not cut: {error}")));
            }
        }
    }
    TaskEnd::CompletedWith(Content::new(done.join("; ")))
}

/// Shows how far a check is as heartbeats of its worker.
fn heartbeats(lease: TaskLease) -> ProgressCallback {
    Arc::new(move |entries, _| {
        // A check whose lease is over ends by itself and changes nothing.
        let _ = lease.heartbeat(entries);
    })
}

#[cfg(test)]
mod tests;
