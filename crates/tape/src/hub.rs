//! Where committed entries are published for followers.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_admin::ErasureSubscriber;
use palyra_admin::healing::RunBoard;
use palyra_ports::AppendError;
use palyra_types::RunId;
use palyra_types::tape::OrchestratorTapeRecord;
use tokio::sync::{broadcast, watch};
use tokio_util::sync::CancellationToken;

/// Live entries kept for a follower before it has to read from the journal.
const LIVE_ENTRIES_MAX: usize = 256;

pub(crate) type SharedEntry = Arc<OrchestratorTapeRecord>;

/// Where run actors publish committed entries.
#[derive(Clone, Default)]
pub struct TapeHub {
    live: Arc<Mutex<BTreeMap<RunId, broadcast::Sender<SharedEntry>>>>,
    pub(crate) closed: Arc<TapeClosure>,
    /// How far runs are beside their tapes.
    pub board: RunBoard,
    /// Counts commits after which something else may wait for a person.
    pub(crate) attention: Arc<watch::Sender<u64>>,
}

/// Why no entry will come any more, on any tape. Tells followers in the order in which they came, which a watch
/// channel does not.
#[derive(Default)]
pub(crate) struct TapeClosure {
    why: OnceLock<AppendError>,
    said: CancellationToken,
}

impl TapeClosure {
    /// Returns once it is so.
    pub(crate) async fn wait(&self) -> AppendError {
        self.said.cancelled().await;
        self.why.get().cloned().unwrap_or(AppendError::Closed)
    }
}

impl ErasureSubscriber for TapeHub {
    /// Sends every follower back to the journal, where content may have been erased.
    fn forget_erased(&self) -> BoxFuture<'_, ()> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner).clear();
        std::future::ready(()).boxed()
    }
}

impl TapeHub {
    /// Shows committed entries to the followers of the run.
    pub fn publish(&self, run: RunId, entries: Vec<OrchestratorTapeRecord>) {
        if entries.iter().any(|entry| entry.event.may_end_or_begin_a_wait()) {
            self.attention_changed();
        }
        let live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sender) = live.get(&run) {
            for entry in entries {
                // Fails only when the last follower just left.
                let _ = sender.send(Arc::new(entry));
            }
        }
    }

    /// Sends the followers of the run back to the journal, which may hold what was never published.
    pub fn invalidate(&self, run: RunId) {
        let mut live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        live.remove(&run);
        self.attention_changed();
    }

    /// Returns whether a client follows the tape of a run.
    #[must_use]
    pub fn is_followed(&self, run: RunId) -> bool {
        let live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        live.get(&run).is_some_and(|sender| sender.receiver_count() > 0)
    }

    /// Says that something else may wait for a person.
    pub fn attention_changed(&self) {
        self.attention.send_modify(|commits| *commits += 1);
    }

    /// Tells all followers, now and later, when the journal takes no entry of ours any more.
    pub fn close_on_fatal(&self, error: &AppendError) {
        let for_good = matches!(error, AppendError::Quarantined | AppendError::Fenced | AppendError::Closed);
        if for_good && self.closed.why.set(error.clone()).is_ok() {
            self.closed.said.cancel();
        }
    }

    pub(crate) fn subscribe(&self, run: RunId) -> broadcast::Receiver<SharedEntry> {
        let mut live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        live.entry(run).or_insert_with(|| broadcast::channel(LIVE_ENTRIES_MAX).0).subscribe()
    }

    /// Takes a follower's end back; the last one takes the channel with it.
    pub(crate) fn leave(&self, run: RunId, receiver: broadcast::Receiver<SharedEntry>) {
        let mut live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        // Dropped under the lock, so that of two that leave at once one is the last.
        drop(receiver);
        if live.get(&run).is_some_and(|sender| sender.receiver_count() == 0) {
            live.remove(&run);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_followers_that_leave_at_once_the_last_takes_the_channel_with_it() {
        let hub = TapeHub::default();
        let run = RunId::from_parts(1, 1);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..5_000 {
                        let receiver = hub.subscribe(run);
                        hub.leave(run, receiver);
                    }
                });
            }
        });
        assert!(hub.live.lock().unwrap().is_empty());
    }
}
