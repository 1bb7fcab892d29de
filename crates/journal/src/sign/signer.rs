//! The signing thread: signs the newest committed head when it is due, and keeps the anchor.
//!
//! Owns the waiting. Invariant: with nothing new it sleeps without a deadline.

use std::sync::{Arc, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::anchor::Anchor;
use super::signer_state::{SharedHeads, SignerEnd, SignerSleep, SignerState};

/// Pause between two writings of the anchor's file.
const ANCHOR_PAUSE: Duration = Duration::from_secs(10);

/// The thread, from the side of who ends it.
pub(crate) struct Signer {
    slot: Arc<SharedHeads>,
    thread: Option<JoinHandle<()>>,
}

/// Lets the writer know that a head waits in vain for a transaction that takes it along.
pub(crate) type AskToStore = Box<dyn Fn() + Send>;

/// Starts the thread.
pub(crate) fn spawn(
    slot: Arc<SharedHeads>,
    ask_to_store: AskToStore,
    anchor: Option<Anchor>,
) -> std::io::Result<Signer> {
    let shared = Arc::clone(&slot);
    let keeper = HeadKeeper { anchor, size: 0, at: None };
    let work = move || run(&shared, &ask_to_store, keeper);
    let thread = std::thread::Builder::new().name("journal-signer".to_owned()).spawn(work)?;
    Ok(Signer { slot, thread: Some(thread) })
}

impl Signer {
    pub(crate) fn slot(&self) -> &SharedHeads {
        &self.slot
    }

    /// Ends the thread after the newest head is in the anchor.
    pub(crate) fn end_in_order(mut self) {
        self.end(SignerEnd::InOrder);
    }

    fn end(&mut self, ended: SignerEnd) {
        self.slot.end(ended);
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

impl Drop for Signer {
    fn drop(&mut self) {
        self.end(SignerEnd::Broken);
    }
}

fn run(slot: &SharedHeads, ask_to_store: &AskToStore, mut keeper: HeadKeeper) {
    let mut state = slot.lock();
    loop {
        if state.ended != SignerEnd::No {
            let last = (state.ended == SignerEnd::InOrder).then(|| state.newest.clone()).flatten();
            drop(state);
            if let Some(signed) = last {
                keeper.keep(signed.size(), &signed.checkpoint.note);
            }
            return;
        }
        let now = Instant::now();
        let next_signature = match SharedHeads::take_due(&mut state, now) {
            Ok((head, key)) => {
                drop(state);
                slot.tell(slot.sign(head, &key));
                state = slot.lock();
                continue;
            }
            Err(due) => due,
        };
        let next_store = SharedHeads::store_due(&state);
        if next_store.is_some_and(|due| due <= now) {
            SharedHeads::defer_store(&mut state);
            drop(state);
            ask_to_store();
            state = slot.lock();
            continue;
        }
        let next_anchor = keeper.due(&state, now);
        if next_anchor.is_some_and(|due| due <= now)
            && let Some(signed) = state.newest.clone()
        {
            drop(state);
            keeper.keep(signed.size(), &signed.checkpoint.note);
            state = slot.lock();
            continue;
        }
        let next = [next_signature, next_store, next_anchor].into_iter().flatten().min();
        state.asleep = next.map_or(SignerSleep::ForGood, SignerSleep::Until);
        state = match next {
            Some(due) => {
                let span = due.saturating_duration_since(now);
                slot.changed.wait_timeout(state, span).unwrap_or_else(PoisonError::into_inner).0
            }
            None => slot.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
        };
        state.asleep = SignerSleep::No;
    }
}

/// Knows what the anchor's file says.
struct HeadKeeper {
    anchor: Option<Anchor>,
    size: u64,
    at: Option<Instant>,
}

impl HeadKeeper {
    /// Returns when the file is to be written; `None` while it says all there is.
    ///
    /// Takes the caller's `now`: one that was looked up later would never be due.
    fn due(&self, state: &SignerState, now: Instant) -> Option<Instant> {
        let newer = state.newest.as_ref().is_some_and(|signed| signed.size() > self.size);
        let due = self.at.map_or(now, |at| at + ANCHOR_PAUSE);
        (self.anchor.is_some() && newer).then_some(due)
    }

    fn keep(&mut self, size: u64, note: &str) {
        let Some(anchor) = &self.anchor else { return };
        if size <= self.size {
            return;
        }
        // One that failed is not tried again before there is a newer head.
        if let Err(error) = anchor.write(note) {
            tracing::warn!(%error, "the anchor could not be written");
        }
        self.size = size;
        self.at = Some(Instant::now());
    }
}

#[cfg(test)]
mod tests {
    use palyra_ledger::EpochKey;
    use palyra_testkit::FakeClock;
    use palyra_types::proof::TreeHead;
    use palyra_types::{LogId, Timestamp};

    use super::super::signed::sign;
    use super::super::signer_state::SignDelay;
    use super::*;

    #[test]
    fn the_first_head_is_anchored_at_once_and_the_next_after_a_pause() {
        let folder = tempfile::tempdir().unwrap();
        let log_id = LogId([1; 16]);
        let key = EpochKey::from_entropy([2; 32]);
        let signed = |size| sign(log_id, TreeHead { size, root: [3; 32] }, &[&key], Timestamp(0));
        let anchor = Some(Anchor::of(folder.path(), log_id));
        let mut keeper = HeadKeeper { anchor, size: 0, at: None };
        let slot =
            SharedHeads::new(log_id, Arc::new(FakeClock::new()), EpochKey::from_entropy([2; 32]), signed(1));
        let now = Instant::now();
        assert_eq!(keeper.due(&slot.lock(), now), Some(now), "or the thread would spin and never write");
        keeper.keep(1, &signed(1).checkpoint.note);
        assert_eq!(keeper.due(&slot.lock(), now), None);
        slot.tell(signed(2));
        assert!(keeper.due(&slot.lock(), now).is_some_and(|due| due > now));
    }

    #[test]
    fn who_asks_for_a_committed_head_has_it_signed_without_the_thread() {
        let (log_id, key) = (LogId([1; 16]), || EpochKey::from_entropy([2; 32]));
        let head = |size| TreeHead { size, root: [3; 32] };
        let first = sign(log_id, head(1), &[&key()], Timestamp(0));
        let slot = SharedHeads::new(log_id, Arc::new(FakeClock::new()), key(), first);
        slot.committed(head(5), SignDelay::Soon);
        let mut later = slot.covering(6).unwrap();
        let signed = slot.covering(5).unwrap().try_recv().unwrap();
        assert_eq!(signed.map(|signed| signed.head), Some(head(5)));
        assert_eq!(SharedHeads::take_due(&mut slot.lock(), Instant::now()).err(), Some(None), "it is signed");
        assert_eq!(later.try_recv().unwrap(), None, "that head is still to come");
        slot.end(SignerEnd::Broken);
        slot.committed(head(9), SignDelay::Soon);
        assert!(slot.covering(9).is_none(), "nothing may be signed any more");
    }
}
