//! Puts sessions whose runs were completed into the queue.
//!
//! Invariant: a session that was noted is looked at after that: its note stays until a task is in the queue that began
//! waiting behind it. Notes of several runs are one task, and none of them costs an entry before the cooldown is over. Notes do
//! not outlive the process: the runs of a session that it had are looked at with its next one.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use palyra_background::queue::{BackgroundQueue, NewTask, QueueError};
use palyra_background::{BackgroundTask, NextTick, TickFailure};
use palyra_learning::LearningRuntimeConfig;
use palyra_ports::Clock;
use palyra_types::BootTime;
use palyra_types::queued_task::{TaskKey, TaskKind};
use palyra_types::session::SessionRef;
use tokio::sync::Notify;

/// How long after a run its session is looked at; further runs in between are looked at together with it.
pub const REFLECTION_COOLDOWN: Duration = Duration::from_secs(5 * 60);
/// How long a note waits whose session has an open task, which may have looked at the runs already.
const ANOTHER_LOOK: Duration = Duration::from_secs(60);
/// Sessions that are noted, at most; beyond it the one that rested longest is forgotten until its next run.
const NOTED_MAX: usize = 1_000;

/// Returns the settings in force.
pub type LearningConfigNow = Arc<dyn Fn() -> LearningRuntimeConfig + Send + Sync>;

/// Sessions with completed runs that are in no task yet. Clones share them.
#[derive(Clone, Default)]
pub struct ReflectionWatch {
    noted: Arc<Mutex<BTreeMap<SessionRef, NotedSession>>>,
    signal: Arc<Notify>,
}

/// A session with completed runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct NotedSession {
    /// When the first of its noted runs ended.
    first: BootTime,
    /// When its latest run ended.
    ended: BootTime,
}

/// Puts a look at the finished runs of a session into the queue. Returns whether the task is new: an open one of the session takes
/// the new run along, unless it is at work already.
///
/// # Errors
/// [`QueueError`].
pub async fn schedule_post_run_reflection(
    queue: &BackgroundQueue,
    session: SessionRef,
) -> Result<bool, QueueError> {
    let task = NewTask {
        kind: TaskKind::Reflection,
        principal: session.principal,
        session: Some(session.id),
        key: Some(TaskKey(session.id.to_bytes())),
        due: None,
        // A task whose payload was erased with its session is cancelled.
        payload: "reflect".into(),
    };
    Ok(queue.enqueue(task).await?.is_new)
}

impl ReflectionWatch {
    /// Takes note of a run that was completed.
    pub fn note(&self, session: SessionRef, now: BootTime) {
        let mut noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        let first = noted.get(&session).map_or(now, |noted| noted.first);
        noted.insert(session, NotedSession { first, ended: now });
        if noted.len() > NOTED_MAX {
            let oldest = noted.iter().min_by_key(|(_, noted)| noted.ended).map(|(session, _)| *session);
            if let Some(oldest) = oldest {
                noted.remove(&oldest);
            }
        }
        drop(noted);
        self.signal.notify_one();
    }

    /// Makes the task that puts noted sessions into the queue, each a cooldown after the first of its noted runs.
    #[must_use]
    pub fn task(
        &self,
        queue: BackgroundQueue,
        config: LearningConfigNow,
        clock: Arc<dyn Clock>,
    ) -> impl BackgroundTask + use<> {
        ReflectionScheduling { watch: self.clone(), queue, config, clock }
    }

    fn all(&self) -> Vec<(SessionRef, NotedSession)> {
        let noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        noted.iter().map(|(session, noted)| (*session, *noted)).collect()
    }

    /// Removes a note, unless another run has ended since.
    fn settle(&self, session: SessionRef, enqueued: NotedSession) {
        let mut noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        if noted.get(&session) == Some(&enqueued) {
            noted.remove(&session);
        }
    }
}

struct ReflectionScheduling {
    watch: ReflectionWatch,
    queue: BackgroundQueue,
    config: LearningConfigNow,
    clock: Arc<dyn Clock>,
}

impl ReflectionScheduling {
    async fn enqueue_noted(&self) -> Result<NextTick, TickFailure> {
        let mut next: Option<Duration> = None;
        let is_enabled = (self.config)().is_enabled;
        let now = self.clock.boot();
        for (session, noted) in self.watch.all() {
            if !is_enabled {
                self.watch.settle(session, noted);
                continue;
            }
            let left = REFLECTION_COOLDOWN.saturating_sub(now.since(noted.first));
            if left > Duration::ZERO {
                next = Some(next.map_or(left, |next| next.min(left)));
                continue;
            }
            let is_new = match schedule_post_run_reflection(&self.queue, session).await {
                Ok(is_new) => is_new,
                Err(QueueError::Refused(_)) => false,
                Err(QueueError::NoHandler { kind: _ }) => true,
                Err(error) => return Err(TickFailure::new(error)),
            };
            if is_new {
                self.watch.settle(session, noted);
            } else {
                next = Some(next.map_or(ANOTHER_LOOK, |next| next.min(ANOTHER_LOOK)));
            }
        }
        Ok(next.map_or(NextTick::OnSignal, NextTick::After))
    }
}

impl BackgroundTask for ReflectionScheduling {
    fn name(&self) -> &'static str {
        "reflection"
    }

    fn tick(&mut self) -> BoxFuture<'_, Result<NextTick, TickFailure>> {
        Box::pin(self.enqueue_noted())
    }

    fn signal(&self) -> BoxFuture<'static, ()> {
        let signal = Arc::clone(&self.watch.signal);
        Box::pin(async move { signal.notified().await })
    }
}
