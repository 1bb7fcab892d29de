//! Numbers and states that are read without asking the writer.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use palyra_ports::maintain_journal::{JournalHealth, ReadOnlyCause};

/// What there is room for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WorkKinds {
    /// New work too.
    Everything,
    /// Outcomes, cancels, ends and erasures.
    Endings,
}

/// What the writer has done since the journal was opened, and how it is.
#[derive(Debug, Default)]
pub(crate) struct WriterCounters {
    pub(crate) entries: AtomicU64,
    /// The epoch that is being written.
    pub(crate) epoch: AtomicU64,
    pub(crate) commits: AtomicU64,
    pub(crate) rows: AtomicU64,
    pub(crate) bytes: AtomicU64,
    /// Bytes of the WAL that hold frames of this round.
    pub(crate) wal_bytes_used: AtomicU64,
    pub(crate) tools_running: AtomicU64,
    /// Whether the file of the WAL is to be emptied.
    pub(crate) wants_empty_wal: AtomicBool,
    /// Why nothing is written any more; the first cause stays.
    read_only: OnceLock<ReadOnlyCause>,
}

impl WriterCounters {
    pub(crate) fn add(counter: &AtomicU64, more: u64) {
        counter.fetch_add(more, Ordering::Relaxed);
    }

    pub(crate) fn get(counter: &AtomicU64) -> u64 {
        counter.load(Ordering::Relaxed)
    }

    pub(crate) fn set(counter: &AtomicU64, value: u64) {
        counter.store(value, Ordering::Relaxed);
    }

    /// Sets to zero what the start itself has written.
    pub(crate) fn forget_start(&self) {
        [&self.commits, &self.rows, &self.bytes].iter().for_each(|counter| Self::set(counter, 0));
    }

    pub(crate) fn is_quarantined(&self) -> bool {
        self.read_only.get().is_some()
    }

    pub(crate) fn read_only_cause(&self) -> Option<ReadOnlyCause> {
        self.read_only.get().copied()
    }

    pub(crate) fn quarantine(&self, cause: ReadOnlyCause) {
        let _ = self.read_only.set(cause);
    }

    /// Returns the health, given what there is room for.
    pub(crate) fn health(&self, admitted: WorkKinds) -> JournalHealth {
        match admitted {
            _ if self.is_quarantined() => JournalHealth::Quarantined,
            WorkKinds::Everything => JournalHealth::Writable,
            WorkKinds::Endings => JournalHealth::EndingsOnly,
        }
    }
}
