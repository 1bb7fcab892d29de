//! Puts a clean-up of sessions into the queue, once a day at most, when retention is due for a session.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_background::queue::{BackgroundQueue, NewTask, TaskQuery};
use palyra_background::{BackgroundTask, NextTick, TickFailure};
use palyra_journal_core::family::{QueryFamilies, ReadFamilies};
use palyra_ports::Clock;
use palyra_types::PrincipalId;
use palyra_types::queued_task::{TaskKey, TaskKind};
use tokio::sync::watch;

use super::due_sessions::{DueQuery, due_sessions};
use super::journal_care::config_changed;
use super::upkeep_rules::HasUpkeepRules;

/// The shortest span between two clean-ups. Spans of retention are whole days, so nothing that is due waits longer.
const CLEANUP_SPAN: Duration = Duration::from_secs(24 * 60 * 60);

/// Puts clean-ups into the queue.
pub struct SessionCleanupTimer<C> {
    families: Arc<dyn ReadFamilies>,
    clock: Arc<dyn Clock>,
    queue: BackgroundQueue,
    config: watch::Receiver<Arc<C>>,
}

impl<C: HasUpkeepRules> SessionCleanupTimer<C> {
    /// Makes the task.
    #[must_use]
    pub fn new(
        families: Arc<dyn ReadFamilies>,
        clock: Arc<dyn Clock>,
        queue: BackgroundQueue,
        config: watch::Receiver<Arc<C>>,
    ) -> Self {
        Self { families, clock, queue, config }
    }

    async fn look(&mut self) -> Result<NextTick, TickFailure> {
        let rules = self.config.borrow_and_update().upkeep().retention;
        if rules.is_off() {
            return Ok(NextTick::OnSignal);
        }
        let unread = |error| TickFailure::new(format_args!("sessions could not be read: {error}"));
        let latest = TaskQuery { kind: Some(TaskKind::SessionCleanup), limit: 1, ..TaskQuery::default() };
        let latest = self.queue.list(latest).await.map_err(unread)?;
        let now = self.clock.wall();
        if let Some(latest) = latest.first() {
            let pause = latest.created.after(CLEANUP_SPAN).since(now);
            if pause > Duration::ZERO {
                return Ok(NextTick::After(pause.min(CLEANUP_SPAN)));
            }
        }
        let query = DueQuery { rules, now, after: None, limit: 1 };
        let found = self.families.query(move |rows, _| due_sessions(rows, &query)).await.map_err(unread)?;
        if !found.due.is_empty() {
            self.queue.enqueue(cleanup_task()).await.map_err(|error| {
                TickFailure::new(format_args!("the clean-up of sessions is not in the queue: {error}"))
            })?;
        }
        Ok(NextTick::After(CLEANUP_SPAN))
    }
}

fn cleanup_task() -> NewTask {
    NewTask {
        kind: TaskKind::SessionCleanup,
        principal: PrincipalId::NIL,
        session: None,
        key: Some(TaskKey([0; 16])),
        due: None,
        payload: "retention".into(),
    }
}

impl<C: HasUpkeepRules> BackgroundTask for SessionCleanupTimer<C> {
    fn name(&self) -> &'static str {
        "session_retention"
    }

    fn tick(&mut self) -> BoxFuture<'_, Result<NextTick, TickFailure>> {
        self.look().boxed()
    }

    fn signal(&self) -> BoxFuture<'static, ()> {
        config_changed(self.config.clone()).boxed()
    }
}
