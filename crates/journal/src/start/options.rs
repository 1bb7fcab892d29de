//! What a journal is opened with.

use std::path::PathBuf;
use std::sync::Arc;

use palyra_ports::maintain_journal::ProgressCallback;
use palyra_ports::{Clock, Entropy};
use palyra_types::proof::ReopenReason;

use crate::refold;
use crate::seal::PayloadSealing;
use crate::write::{FreeSpace, free_space_of};

/// What a start does with the tables that are derived from the log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Derived {
    /// They are rebuilt where they do not fit.
    #[default]
    Checked,
    /// They are rebuilt in any case.
    Rebuilt,
}

/// Where the journal lies and what it is given. The caller holds the state directory's lock.
#[derive(Clone)]
pub struct OpenOptions {
    /// The state directory; made when missing.
    pub state_dir: PathBuf,
    /// Tells the time of the journal's own entries.
    pub clock: Arc<dyn Clock>,
    /// Makes keys and salts.
    pub entropy: Arc<dyn Entropy>,
    /// Tells the free space; `None` asks the file system.
    pub free_space: Option<FreeSpace>,
    /// Where the newest signed head of each log is kept besides: outside of the state directory, so that it is
    /// not copied and put back with it. `None` keeps none.
    pub anchor_dir: Option<PathBuf>,
    /// Begins a new log over what is left when the log cannot go on: shorter than its anchor, contradicting its
    /// signed heads, or without its key. For a log that can go on it is ignored, except for a restored one.
    pub reopen: Option<ReopenReason>,
    /// Whether new payloads are sealed; what was sealed before is read in any case.
    pub sealing: PayloadSealing,
    /// Whether derived tables that fit are kept.
    pub derived: Derived,
    /// Receives counts of entries while what is derived from the log is made again.
    pub rebuild_progress: Option<ProgressCallback>,
    /// Cap on the database's size in pages of 4,096 bytes; `None` for SQLite's own.
    pub database_pages_max: Option<u32>,
}

impl OpenOptions {
    /// Takes the ports; everything else as usual.
    #[must_use]
    pub fn new(state_dir: PathBuf, clock: Arc<dyn Clock>, entropy: Arc<dyn Entropy>) -> Self {
        let (free_space, database_pages_max, anchor_dir, reopen) = (None, None, None, None);
        let sealing = PayloadSealing::Off;
        let derived = Derived::default();
        Self {
            state_dir,
            clock,
            entropy,
            free_space,
            anchor_dir,
            reopen,
            sealing,
            derived,
            rebuild_progress: None,
            database_pages_max,
        }
    }

    /// Writes progress to the log, and hands it on.
    pub(crate) fn report_rebuild(&self, done: u64, total: u64) {
        refold::log_progress(done, total);
        if let Some(progress) = &self.rebuild_progress {
            progress(done, total);
        }
    }

    /// Returns what tells the free space.
    pub(crate) fn free_space(&self) -> FreeSpace {
        self.free_space.clone().unwrap_or_else(|| free_space_of(&self.state_dir))
    }
}
