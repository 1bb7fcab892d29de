//! What the writer, the signing thread and those who ask share: the newest committed and signed heads.
//!
//! Owns when a signature is due. Knows no thread. Invariant: a place holds one head, the newest: nothing queues
//! up, and whoever is slow signs less often. Only committed heads come in.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures::channel::oneshot;
use palyra_ledger::EpochKey;
use palyra_ports::Clock;
use palyra_types::LogId;
use palyra_types::proof::{SignedCheckpoint, TreeHead};

use super::signed::{SignedHead, sign};

/// Those who wait for a head, at most.
const WAITERS_MAX: usize = 4_096;

/// How long entries wait for a signature while no run ends.
const SIGN_PAUSE: Duration = Duration::from_secs(1);

/// Pause between signatures when runs end and nobody waits for them.
const SIGN_PAUSE_AT_RUN_END: Duration = Duration::from_millis(20);

/// Pause between stored heads that ride along, and how long one waits to ride along.
const STORE_PAUSE: Duration = Duration::from_secs(1);

/// How soon a committed head is to be signed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SignDelay {
    /// There is nothing to sign.
    #[default]
    NotAtAll,
    /// Entries came.
    WithinASecond,
    /// A run ended.
    Soon,
    /// Somebody waits.
    Now,
}

/// Whether signatures go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SignerEnd {
    No,
    /// The log was closed in order: its newest head belongs into the anchor.
    InOrder,
    /// Nothing may be signed any more.
    Broken,
}

pub(super) struct SignerState {
    key: Arc<EpochKey>,
    unsigned: Option<TreeHead>,
    unsigned_since: Option<Instant>,
    wanted: SignDelay,
    pub(super) newest: Option<SignedHead>,
    signed_at: Option<Instant>,
    /// The newest signed head, until it is stored; since when one waits; whether the writer was told.
    unstored: Option<SignedHead>,
    unstored_since: Option<Instant>,
    stored_at: Option<Instant>,
    waiters: Vec<(u64, oneshot::Sender<SignedCheckpoint>)>,
    pub(super) ended: SignerEnd,
    pub(super) asleep: SignerSleep,
}

/// Whether the signing thread sleeps, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SignerSleep {
    /// It looks at everything once more before it sleeps.
    No,
    Until(Instant),
    ForGood,
}

/// Where heads are left and picked up.
pub(crate) struct SharedHeads {
    log_id: LogId,
    clock: Arc<dyn Clock>,
    state: Mutex<SignerState>,
    pub(super) changed: Condvar,
}

impl SharedHeads {
    /// Begins with the key in use and the head that is stored already.
    pub(crate) fn new(log_id: LogId, clock: Arc<dyn Clock>, key: EpochKey, first: SignedHead) -> Self {
        let state = SignerState {
            key: Arc::new(key),
            unsigned: None,
            unsigned_since: None,
            wanted: SignDelay::NotAtAll,
            newest: Some(first),
            signed_at: None,
            unstored: None,
            unstored_since: None,
            stored_at: Some(Instant::now()),
            waiters: Vec::new(),
            ended: SignerEnd::No,
            asleep: SignerSleep::No,
        };
        Self { log_id, clock, state: Mutex::new(state), changed: Condvar::new() }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, SignerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Leaves a head that was just committed.
    pub(crate) fn committed(&self, head: TreeHead, wanted: SignDelay) {
        let mut state = self.lock();
        let awaited = state.waiters.iter().any(|(size, _)| *size <= head.size);
        let wanted = if awaited { SignDelay::Now } else { wanted };
        state.unsigned = Some(head);
        state.unsigned_since.get_or_insert_with(Instant::now);
        self.want(&mut state, wanted);
    }

    fn want(&self, state: &mut SignerState, wanted: SignDelay) {
        if wanted > state.wanted {
            state.wanted = wanted;
            let now = Instant::now();
            self.wake_by(state, Self::signature_due(state, now));
        }
    }

    /// Wakes the signing thread, unless it wakes early enough by itself.
    fn wake_by(&self, state: &SignerState, due: Option<Instant>) {
        let late = match (state.asleep, due) {
            (SignerSleep::No, _) | (_, None) => false,
            (SignerSleep::Until(at), Some(due)) => due < at,
            (SignerSleep::ForGood, Some(_)) => true,
        };
        if late {
            self.changed.notify_one();
        }
    }

    /// Returns when the committed head is to be signed.
    fn signature_due(state: &SignerState, now: Instant) -> Option<Instant> {
        match state.wanted {
            SignDelay::NotAtAll => None,
            SignDelay::WithinASecond => Some(state.unsigned_since.map_or(now, |since| since + SIGN_PAUSE)),
            SignDelay::Soon => Some(state.signed_at.map_or(now, |at| at + SIGN_PAUSE_AT_RUN_END)),
            SignDelay::Now => Some(now),
        }
    }

    /// Returns the newest signed head.
    pub(crate) fn newest(&self) -> Option<SignedCheckpoint> {
        self.lock().newest.as_ref().map(|signed| signed.checkpoint.clone())
    }

    /// Returns the newest head if it has so many entries, or a place to wait for one; `None` when none will come.
    ///
    /// A head that is committed and not signed yet is signed in the caller's time: it takes less than waking a thread.
    pub(crate) fn covering(&self, size: u64) -> Option<oneshot::Receiver<SignedCheckpoint>> {
        let mut state = self.lock();
        let (answer, answered) = oneshot::channel();
        if let Some(signed) = state.newest.as_ref().filter(|signed| signed.size() >= size) {
            drop(answer.send(signed.checkpoint.clone()));
            return Some(answered);
        }
        state.waiters.retain(|(_, waiter)| !waiter.is_canceled());
        if state.ended != SignerEnd::No || state.waiters.len() >= WAITERS_MAX {
            return None;
        }
        state.waiters.push((size, answer));
        if state.unsigned.is_some_and(|head| head.size >= size)
            && let Some((head, key)) = Self::take(&mut state, Instant::now())
        {
            drop(state);
            self.tell(self.sign(head, &key));
        }
        Some(answered)
    }

    /// Signs a committed head in the caller's time.
    pub(crate) fn sign_now(&self, head: TreeHead) -> SignedHead {
        if let Some(signed) = self.lock().newest.as_ref().filter(|signed| signed.checkpoint.head == head) {
            return signed.clone();
        }
        let key = Arc::clone(&self.lock().key);
        let signed = sign(self.log_id, head, &[&key], self.clock.wall());
        self.tell(signed.clone());
        signed
    }

    /// Signs a committed head with the key in use and the next one; the caller stores it, then changes keys.
    pub(crate) fn sign_handover(&self, head: TreeHead, next: &EpochKey) -> SignedHead {
        let key = Arc::clone(&self.lock().key);
        sign(self.log_id, head, &[&key, next], self.clock.wall())
    }

    /// Takes the next key into use, which a stored handover vouches for.
    pub(crate) fn change_keys(&self, next: EpochKey, handover: SignedHead) {
        self.lock().key = Arc::new(next);
        let size = handover.size();
        self.tell(handover);
        self.stored(size);
    }

    /// Takes the head that is due, for signing outside of the lock; else returns when one will be.
    pub(super) fn take_due(
        state: &mut SignerState,
        now: Instant,
    ) -> Result<(TreeHead, Arc<EpochKey>), Option<Instant>> {
        match Self::signature_due(state, now) {
            None => Err(None),
            Some(due) if due > now => Err(Some(due)),
            Some(_) => Self::take(state, now).ok_or(None),
        }
    }

    fn take(state: &mut SignerState, now: Instant) -> Option<(TreeHead, Arc<EpochKey>)> {
        (state.wanted, state.unsigned_since, state.signed_at) = (SignDelay::NotAtAll, None, Some(now));
        state.unsigned.take().map(|head| (head, Arc::clone(&state.key)))
    }

    pub(super) fn sign(&self, head: TreeHead, key: &EpochKey) -> SignedHead {
        sign(self.log_id, head, &[key], self.clock.wall())
    }

    /// Hands a signed head to all who wait for it.
    pub(super) fn tell(&self, signed: SignedHead) {
        let mut state = self.lock();
        let is_newest = state.newest.as_ref().is_none_or(|newest| newest.size() < signed.size());
        if is_newest {
            let waiters = std::mem::take(&mut state.waiters);
            let (served, waiting): (Vec<_>, Vec<_>) =
                waiters.into_iter().partition(|(size, _)| *size <= signed.size());
            state.waiters = waiting;
            for (_, answer) in served {
                drop(answer.send(signed.checkpoint.clone()));
            }
            if state.unsigned.is_some_and(|head| head.size <= signed.size()) {
                (state.unsigned, state.unsigned_since, state.wanted) = (None, None, SignDelay::NotAtAll);
            }
            state.unstored_since.get_or_insert_with(Instant::now);
            state.unstored = Some(signed.clone());
            state.newest = Some(signed);
            self.wake_by(&state, Self::store_due(&state));
        }
    }

    /// Returns the head that the next transaction takes along, if it is time.
    pub(crate) fn to_ride_along(&self) -> Option<SignedHead> {
        let state = self.lock();
        let paused = state.stored_at.is_none_or(|at| at.elapsed() >= STORE_PAUSE);
        if paused { state.unstored.clone() } else { None }
    }

    /// Returns the head that is not stored yet.
    pub(crate) fn unstored(&self) -> Option<SignedHead> {
        self.lock().unstored.clone()
    }

    /// Takes note that a head is stored.
    pub(crate) fn stored(&self, size: u64) {
        let mut state = self.lock();
        state.stored_at = Some(Instant::now());
        state.unstored = state.unstored.take().filter(|signed| signed.size() > size);
        state.unstored_since = state.unstored.as_ref().map(|_| Instant::now());
    }

    /// Returns when the writer has to be told that a head waits in vain for a transaction; `None` for never.
    pub(super) fn store_due(state: &SignerState) -> Option<Instant> {
        state.unstored_since.map(|since| since + STORE_PAUSE)
    }

    /// The writer was told: it will not be told again for this head.
    pub(super) fn defer_store(state: &mut SignerState) {
        state.unstored_since = None;
    }

    /// Ends the signing: after a close in order, or because nothing may be written any more.
    pub(super) fn end(&self, ended: SignerEnd) {
        let mut state = self.lock();
        if state.ended == SignerEnd::No {
            state.ended = ended;
        }
        state.waiters.clear();
        self.changed.notify_all();
    }
}
