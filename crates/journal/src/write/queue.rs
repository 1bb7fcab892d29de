//! What waits for the writer: bounded by appends' entries and bytes, in order of arrival.
//!
//! Invariant: a full queue refuses, it never blocks a caller; a closed one hands out what it holds and then
//! says that nothing will follow.

use std::collections::VecDeque;
use std::sync::PoisonError;
use std::time::Duration;

use futures::channel::oneshot;
use palyra_ports::maintain_journal::{ProgressCallback, RebuildError};
use palyra_ports::{AppendError, CommitReceipt, KeyChoice, ProofError};
use palyra_types::proof::SignedCheckpoint;

use super::erasure::Erasing;
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
pub(crate) struct Pending {
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

/// What the writer does next.
pub(crate) enum Work {
    /// Commit these together.
    Group(Vec<Pending>),
    /// Fold the log anew.
    Rebuild(PendingRebuild),
    /// Erase content.
    Erase(Erasing),
    /// Sign what is committed, and store it.
    Sign(PendingHead),
    /// Store the newest signed head, for which no transaction came.
    Store,
    /// Give back what is only kept for the next work, which has not come for a while.
    Rest,
    /// Nothing will follow.
    End,
}

/// Why something was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refused {
    /// No room.
    Full,
    /// The writer has ended or is about to.
    Closed,
}

enum Waiting {
    Append(Pending),
    Rebuild(PendingRebuild),
    Erase(Erasing),
    Sign(PendingHead),
    Store,
}

#[derive(Default)]
struct State {
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
    state: Mutex<State>,
    arrived: Condvar,
}

impl Queue {
    /// Puts an append at the end.
    pub(crate) fn push(&self, pending: Pending) -> Result<(), Refused> {
        let mut state = self.lock();
        if state.is_closed {
            return Err(Refused::Closed);
        }
        let entries = state.entries + pending.append.entries.len();
        let bytes = state.bytes + pending.append.payload_bytes;
        if !state.waiting.is_empty() && (entries > QUEUE_ENTRIES_MAX || bytes > QUEUE_BYTES_MAX) {
            return Err(Refused::Full);
        }
        (state.entries, state.bytes) = (entries, bytes);
        state.waiting.push_back(Waiting::Append(pending));
        drop(state);
        self.arrived.notify_one();
        Ok(())
    }

    /// Puts a rebuild at the end.
    pub(crate) fn push_rebuild(&self, rebuild: PendingRebuild) -> Result<(), Refused> {
        self.put(Waiting::Rebuild(rebuild))
    }

    /// Puts an erasure at the end.
    pub(crate) fn push_erasure(&self, erasing: Erasing) -> Result<(), Refused> {
        self.put(Waiting::Erase(erasing))
    }

    /// Puts a wish for a signed head at the end.
    pub(crate) fn push_head(&self, head: PendingHead) -> Result<(), Refused> {
        self.put(Waiting::Sign(head))
    }

    /// Lets the writer store the newest signed head. Where that is refused it is stored later or at the end.
    pub(crate) fn push_store(&self) {
        let _ = self.put(Waiting::Store);
    }

    /// Puts an order that is no append at the end.
    fn put(&self, order: Waiting) -> Result<(), Refused> {
        let mut state = self.lock();
        if state.is_closed {
            return Err(Refused::Closed);
        }
        if state.orders >= QUEUE_ORDERS_MAX {
            return Err(Refused::Full);
        }
        state.orders += 1;
        state.waiting.push_back(order);
        drop(state);
        self.arrived.notify_one();
        Ok(())
    }

    /// Waits for work and takes as much as belongs into one commit; without any within `patience`, it is time to rest.
    pub(crate) fn take(&self, patience: Option<Duration>) -> Work {
        let mut state = self.lock();
        loop {
            let next = state.waiting.pop_front();
            if next.as_ref().is_some_and(|next| !matches!(next, Waiting::Append(_))) {
                state.orders -= 1;
            }
            match next {
                Some(Waiting::Append(first)) => return Work::Group(take_group(&mut state, first)),
                Some(Waiting::Rebuild(rebuild)) => return Work::Rebuild(rebuild),
                Some(Waiting::Erase(erasing)) => return Work::Erase(erasing),
                Some(Waiting::Sign(head)) => return Work::Sign(head),
                Some(Waiting::Store) => return Work::Store,
                None if state.is_closed => return Work::End,
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
                return Work::Rest;
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

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn take_group(state: &mut State, first: Pending) -> Vec<Pending> {
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
            Waiting::Rebuild(_) | Waiting::Erase(_) | Waiting::Sign(_) | Waiting::Store => false,
        };
        if state.waiting.front().is_some_and(fits)
            && let Some(Waiting::Append(pending)) = state.waiting.pop_front()
        {
            next = Some(pending);
        }
    }
    group
}
