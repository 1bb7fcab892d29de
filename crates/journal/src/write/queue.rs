//! What waits for the writer: bounded by appends' entries and bytes, in order of arrival.
//!
//! Invariant: a full queue refuses, it never blocks a caller; a closed one hands out what it holds and then
//! says that nothing will follow.

use std::collections::VecDeque;
use std::sync::PoisonError;
use std::time::Duration;

use futures::channel::oneshot;
use palyra_ports::maintain_journal::{ProgressCallback, RebuildError, WalShrink};
use palyra_ports::{AppendError, CommitReceipt, KeyChoice, ProofError};
use palyra_types::proof::SignedCheckpoint;

use super::erasure::PendingErasure;
use super::prepare::PreparedAppend;
use super::sync::{Condvar, Mutex, MutexGuard};

/// Entries that wait, at most.
pub(crate) const QUEUE_ENTRIES_MAX: usize = 8_192;

/// Content bytes that wait, at most; one append always fits.
pub(crate) const QUEUE_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Rebuilds, erasures and wishes for signed heads that wait, at most.
pub(crate) const QUEUE_ORDERS_MAX: usize = 64;

/// Entries of one commit, at most (unless a single append has more).
pub(crate) const GROUP_ENTRIES_MAX: usize = 256;

/// An append and the one who waits for it.
#[derive(Debug)]
pub(crate) struct PendingAppend {
    pub(crate) append: PreparedAppend,
    pub(crate) answer: oneshot::Sender<Result<CommitReceipt, AppendError>>,
}

/// A rebuild and the one who waits for it.
pub(crate) struct PendingRebuild {
    pub(crate) progress: ProgressCallback,
    pub(crate) answer: oneshot::Sender<Result<u64, RebuildError>>,
}

/// A wish for a signed head and the one who waits for it.
pub(crate) struct PendingHead {
    pub(crate) key: KeyChoice,
    pub(crate) answer: oneshot::Sender<Result<SignedCheckpoint, ProofError>>,
}

/// The one who waits for a cut of the write-ahead log.
pub(crate) type PendingShrink = oneshot::Sender<Result<WalShrink, AppendError>>;

/// What the writer does next.
pub(crate) enum WriterWork {
    /// Commit these together.
    Group(Vec<PendingAppend>),
    /// Fold the log anew.
    Rebuild(PendingRebuild),
    /// Erase content.
    Erase(PendingErasure),
    /// Sign what is committed, and store it.
    Sign(PendingHead),
    /// Cut the write-ahead log back to its usual size.
    Shrink(PendingShrink),
    /// Store the newest signed head, for which no transaction came.
    Store,
    /// Give back what is only kept for the next work, which has not come for a while.
    Rest,
    /// Nothing will follow.
    End,
}

/// Why something was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum QueueRefusal {
    /// No room.
    Full,
    /// The writer has ended or is about to.
    Closed,
}

impl From<QueueRefusal> for AppendError {
    fn from(refusal: QueueRefusal) -> Self {
        match refusal {
            QueueRefusal::Full => Self::Busy,
            QueueRefusal::Closed => Self::Closed,
        }
    }
}

enum Waiting {
    Append(PendingAppend),
    Order(WriterWork),
}

#[derive(Default)]
struct QueueState {
    waiting: VecDeque<Waiting>,
    entries: usize,
    bytes: usize,
    /// Whatever waits and is no append.
    orders: usize,
    is_closed: bool,
}

/// The queue; shared by callers and the writer.
#[derive(Default)]
pub(crate) struct Queue {
    state: Mutex<QueueState>,
    arrived: Condvar,
}

impl Queue {
    /// Puts an append at the end.
    pub(crate) fn push(&self, pending: PendingAppend) -> Result<(), QueueRefusal> {
        let mut state = self.lock();
        if state.is_closed {
            return Err(QueueRefusal::Closed);
        }
        let entries = state.entries + pending.append.entries.len();
        let bytes = state.bytes + pending.append.payload_bytes;
        if !state.waiting.is_empty() && (entries > QUEUE_ENTRIES_MAX || bytes > QUEUE_BYTES_MAX) {
            return Err(QueueRefusal::Full);
        }
        (state.entries, state.bytes) = (entries, bytes);
        state.waiting.push_back(Waiting::Append(pending));
        drop(state);
        self.arrived.notify_one();
        Ok(())
    }

    /// Puts a rebuild at the end.
    pub(crate) fn push_rebuild(&self, rebuild: PendingRebuild) -> Result<(), QueueRefusal> {
        self.put(WriterWork::Rebuild(rebuild))
    }

    /// Puts an erasure at the end.
    pub(crate) fn push_erasure(&self, erasing: PendingErasure) -> Result<(), QueueRefusal> {
        self.put(WriterWork::Erase(erasing))
    }

    /// Puts a wish for a signed head at the end.
    pub(crate) fn push_head(&self, head: PendingHead) -> Result<(), QueueRefusal> {
        self.put(WriterWork::Sign(head))
    }

    /// Puts a cut of the write-ahead log at the end.
    pub(crate) fn push_shrink(&self, answer: PendingShrink) -> Result<(), QueueRefusal> {
        self.put(WriterWork::Shrink(answer))
    }

    /// Lets the writer store the newest signed head. Where that is refused it is stored later or at the end.
    pub(crate) fn push_store(&self) {
        let _ = self.put(WriterWork::Store);
    }

    /// Puts an order that is no append at the end.
    fn put(&self, order: WriterWork) -> Result<(), QueueRefusal> {
        let mut state = self.lock();
        if state.is_closed {
            return Err(QueueRefusal::Closed);
        }
        if state.orders >= QUEUE_ORDERS_MAX {
            return Err(QueueRefusal::Full);
        }
        state.orders += 1;
        state.waiting.push_back(Waiting::Order(order));
        drop(state);
        self.arrived.notify_one();
        Ok(())
    }

    /// Waits for work and takes as much as belongs into one commit; without any within `patience`, it is time to rest.
    pub(crate) fn take(&self, patience: Option<Duration>) -> WriterWork {
        let mut state = self.lock();
        loop {
            let next = state.waiting.pop_front();
            if next.as_ref().is_some_and(|next| !matches!(next, Waiting::Append(_))) {
                state.orders -= 1;
            }
            match next {
                Some(Waiting::Append(first)) => return WriterWork::Group(take_group(&mut state, first)),
                Some(Waiting::Order(order)) => return order,
                None if state.is_closed => return WriterWork::End,
                None => {}
            }
            let Some(span) = patience else {
                state = self.arrived.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let (woken, timer) =
                self.arrived.wait_timeout(state, span).unwrap_or_else(PoisonError::into_inner);
            state = woken;
            if timer.timed_out() && state.waiting.is_empty() && !state.is_closed {
                return WriterWork::Rest;
            }
        }
    }

    /// Refuses everything from now on; what waits is still done.
    pub(crate) fn close(&self) {
        self.lock().is_closed = true;
        self.arrived.notify_all();
    }

    /// Refuses everything from now on and drops what waits: the writer is gone.
    pub(crate) fn abandon(&self) {
        let mut state = self.lock();
        state.is_closed = true;
        state.waiting.clear();
        state.orders = 0;
    }

    /// Returns whether nothing waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.lock().waiting.is_empty()
    }

    fn lock(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn take_group(state: &mut QueueState, first: PendingAppend) -> Vec<PendingAppend> {
    let mut group = Vec::new();
    let mut entries = 0;
    let mut next = Some(first);
    while let Some(pending) = next.take() {
        entries += pending.append.entries.len();
        state.entries -= pending.append.entries.len();
        state.bytes -= pending.append.payload_bytes;
        group.push(pending);
        let fits = |waiting: &Waiting| match waiting {
            Waiting::Append(append) => entries + append.append.entries.len() <= GROUP_ENTRIES_MAX,
            Waiting::Order(_) => false,
        };
        if state.waiting.front().is_some_and(fits)
            && let Some(Waiting::Append(pending)) = state.waiting.pop_front()
        {
            next = Some(pending);
        }
    }
    group
}
