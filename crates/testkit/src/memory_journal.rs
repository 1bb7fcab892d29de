//! A journal in memory: events as values, records by the families over rows in memory.
//!
//! Makes the four journal ports without SQLite and without stored forms, passes the same conformance suite as
//! the real one, and can be told to fail. Every append is a commit of its own (nothing is grouped), happens
//! when it is called, and counts as one row per entry; kinds and leaves of raw entries are zero.
//! Begin at [`MemoryJournal`].

mod ports;

mod erasure;
mod proofs;

mod state;

mod families;

mod approvals;

mod entry;

mod content;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use palyra_ports::{AppendError, ReadOnlyCause};
use palyra_types::event::{JournalEvent, LogEvent};
use palyra_types::{Epoch, LogId, Seq};

use state::JournalState;

/// The log id of every memory journal.
pub const MEMORY_LOG_ID: LogId = LogId([0x4D; 16]);

/// A handle; clones share the journal and the epoch.
#[derive(Clone)]
pub struct MemoryJournal {
    state: Arc<Mutex<JournalState>>,
    epoch: Epoch,
}

impl MemoryJournal {
    /// Makes a journal that holds what a first start writes: `LogOpened` and `EpochStarted`.
    #[must_use]
    pub fn new() -> Self {
        let journal = Self { state: Arc::default(), epoch: Epoch(1) };
        let opened =
            JournalEvent::Log(LogEvent::Opened { log_id: MEMORY_LOG_ID, nonce: [0; 32], first_key: [0; 32] });
        journal.lock().begin(Epoch(1), vec![opened]);
        journal
    }

    /// Begins a new epoch, as a restart does: this handle and its clones are fenced from now on.
    #[must_use]
    pub fn restarted(&self) -> Self {
        let epoch = self.lock().epoch.next();
        self.lock().begin(epoch, Vec::new());
        Self { state: Arc::clone(&self.state), epoch }
    }

    /// Lets the next append fail with `error`; nothing of it is kept. Several calls queue up.
    pub fn fail_next(&self, error: AppendError) {
        self.lock().failures.push_back(state::AppendFault::Refuse(error));
    }

    /// Makes it read-only, as a start does that finds the log in doubt, until [`MemoryJournal::restarted`].
    pub fn make_read_only(&self, cause: ReadOnlyCause) {
        self.lock().read_only = Some(cause);
    }

    /// Lets the next append take place and its answer say [`AppendError::Unknown`].
    pub fn lose_next_answer(&self) {
        self.lock().failures.push_back(state::AppendFault::LoseAnswer);
    }

    /// Holds appends back: they wait, in order, until [`MemoryJournal::release`].
    pub fn hold(&self) {
        self.lock().hold();
    }

    /// Carries out what was held back, and holds nothing any more.
    pub fn release(&self) {
        self.lock().release();
    }

    /// Returns how many appends are held back.
    #[must_use]
    pub fn held(&self) -> usize {
        self.lock().held()
    }

    /// Erases the content of an entry and of what was derived from it.
    pub fn erase(&self, seq: Seq) {
        self.lock().erase(seq);
    }

    /// Puts an entry of an unknown kind at the end, as a newer version would have written it.
    pub fn append_unknown(&self, like: &palyra_ports::NewEntry, kind: u16) -> Seq {
        self.lock().append_unknown(like, kind)
    }

    /// Returns the bodies of static texts by digest, in order.
    #[must_use]
    pub fn statics(&self) -> Vec<([u8; 32], Arc<str>)> {
        self.lock().statics.iter().map(|(digest, body)| (*digest, Arc::clone(body))).collect()
    }

    fn lock(&self) -> MutexGuard<'_, JournalState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for MemoryJournal {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for MemoryJournal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MemoryJournal").field("entries", &self.lock().entries.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
