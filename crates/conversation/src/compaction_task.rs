//! Decides which sessions are summed up without a request of a person: when a request filled most of the window, and after
//! a rest.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use palyra_admin::AdminError;
use palyra_background::queue::BackgroundQueue;
use palyra_background::{BackgroundTask, NextTick, TickFailure};
use palyra_context::prompt::request_tokens_max;
use palyra_context::session_history::{HISTORY_BYTES_MAX, HISTORY_RUNS_MAX, SUMMARY_RUNS_MIN};
use palyra_journal_core::families::runs;
use palyra_journal_core::family::QueryFamilies;
use palyra_ports::read_records::{RunFilter, RunQuery};
use palyra_types::BootTime;
use palyra_types::compaction::CompactionCause;
use palyra_types::model::BYTES_PER_TOKEN_ESTIMATED;
use palyra_types::session::SessionRef;
use tokio::sync::Notify;

use crate::compaction_handler::{compaction_task, runs_without_summary};
use crate::conversations::ConversationsHandle;
use crate::past_run::{AskedModel, read_run};

/// A session is summed up when a request needed more than so many hundredths of what one may have in the model's window.
const WINDOW_PERCENT: u64 = 80;
/// The same for so many runs that no summary covers: of more than [`HISTORY_RUNS_MAX`] later runs read the latest only.
const FULL_HISTORY_RUNS: usize = HISTORY_RUNS_MAX / 4 * 3;
/// A session that rested for so long is summed up, if it has [`SUMMARY_RUNS_MIN`] runs that no summary covers.
const REST: Duration = Duration::from_secs(30 * 60);
/// Sessions that are watched, at most; beyond it the one that rested longest is forgotten.
const WATCHED_MAX: usize = 1_000;

/// The sessions whose runs ended lately. Clones share them.
#[derive(Clone, Default)]
pub struct CompactionWatch {
    watched: Arc<Mutex<BTreeMap<SessionRef, WatchedSession>>>,
    signal: Arc<Notify>,
}

/// A session whose latest run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct WatchedSession {
    ended: BootTime,
    /// Whether the run was looked at.
    seen: bool,
}

impl CompactionWatch {
    /// Takes note of the end of a run.
    pub fn note(&self, session: SessionRef, now: BootTime) {
        let mut watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        watched.insert(session, WatchedSession { ended: now, seen: false });
        if watched.len() > WATCHED_MAX {
            let oldest = watched.iter().min_by_key(|(_, watched)| watched.ended).map(|(session, _)| *session);
            if let Some(oldest) = oldest {
                watched.remove(&oldest);
            }
        }
        self.signal.notify_one();
    }

    /// Makes the task that looks at them and puts their summaries into the queue.
    #[must_use]
    pub fn task(
        &self,
        conversations: ConversationsHandle,
        queue: BackgroundQueue,
    ) -> impl BackgroundTask + use<> {
        CompactionTask { watch: self.clone(), conversations, queue }
    }

    fn all(&self) -> Vec<(SessionRef, WatchedSession)> {
        let watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        watched.iter().map(|(session, watched)| (*session, *watched)).collect()
    }

    /// Notes what was looked at, unless another run has ended since.
    fn seen(&self, session: SessionRef, looked_at: WatchedSession, stays: bool) {
        let mut watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        if watched.get(&session) != Some(&looked_at) {
            return;
        }
        if stays {
            watched.insert(session, WatchedSession { seen: true, ..looked_at });
        } else {
            watched.remove(&session);
        }
    }
}

struct CompactionTask {
    watch: CompactionWatch,
    conversations: ConversationsHandle,
    queue: BackgroundQueue,
}

impl CompactionTask {
    async fn look(&self) -> Result<NextTick, TickFailure> {
        let now = self.conversations.ports().clock.boot();
        let mut next: Option<Duration> = None;
        for (session, watched) in self.watch.all() {
            let rested = now.since(watched.ended);
            if !watched.seen
                && let Some(cause) = self.filled(session).await.map_err(TickFailure::new)?
            {
                self.enqueue(session, cause).await?;
            }
            if rested >= REST {
                let count = runs_without_summary(&self.conversations, session).await;
                if count.map_err(TickFailure::new)? >= SUMMARY_RUNS_MIN {
                    self.enqueue(session, CompactionCause::Idle).await?;
                }
                self.watch.seen(session, watched, false);
            } else {
                self.watch.seen(session, watched, true);
                let left = REST.saturating_sub(rested);
                next = Some(next.map_or(left, |next| next.min(left)));
            }
        }
        Ok(next.map_or(NextTick::OnSignal, NextTick::After))
    }

    /// Puts a summary into the queue.
    async fn enqueue(&self, session: SessionRef, cause: CompactionCause) -> Result<(), TickFailure> {
        let enqueued = self.queue.enqueue(compaction_task(session, cause)).await;
        enqueued.map(|_| ()).map_err(TickFailure::new)
    }

    /// Returns why the latest run of a session calls for a summary, if it does.
    async fn filled(&self, session: SessionRef) -> Result<Option<CompactionCause>, AdminError> {
        let ports = self.conversations.ports();
        let query = RunQuery {
            principal: session.principal,
            session: Some(session.id),
            only: RunFilter::Finished,
            before: None,
            limit: 1,
        };
        let latest = ports.families.query(move |rows, _| runs::records(rows, &query)).await?;
        let Some(latest) = latest.first() else { return Ok(None) };
        let Some(asked) = read_run(ports, latest.run, None).await?.asked else { return Ok(None) };
        let AskedModel { model, tokens, earlier_messages, refused } = asked;
        let model = model.unwrap_or_else(|| ports.models.borrow().default_model().clone());
        let room = request_tokens_max(self.conversations.window_tokens(&model));
        let room = room.min(HISTORY_BYTES_MAX as u64 / BYTES_PER_TOKEN_ESTIMATED);
        let is_filled = tokens.saturating_mul(100) >= room.saturating_mul(WINDOW_PERCENT);
        // Each run has a message, so fewer messages need no count of runs.
        let has_many_runs = !is_filled
            && earlier_messages >= FULL_HISTORY_RUNS
            && runs_without_summary(&self.conversations, session).await? >= FULL_HISTORY_RUNS;
        Ok(match (refused, is_filled || has_many_runs) {
            (true, _) => Some(CompactionCause::Refused),
            (false, true) => Some(CompactionCause::Window),
            (false, false) => None,
        })
    }
}

impl BackgroundTask for CompactionTask {
    fn name(&self) -> &'static str {
        "compaction"
    }

    fn tick(&mut self) -> BoxFuture<'_, Result<NextTick, TickFailure>> {
        Box::pin(self.look())
    }

    fn signal(&self) -> BoxFuture<'static, ()> {
        let signal = Arc::clone(&self.watch.signal);
        Box::pin(async move { signal.notified().await })
    }
}
