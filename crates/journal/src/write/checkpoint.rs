//! Moving the WAL into the database: when it is due, and what its result means.

use std::time::Duration;

use palyra_ports::maintain_journal::WalShrink;
use rusqlite::Connection;

use crate::erase::{WipeError, checkpoint};

/// Size of the WAL from which an idle writer checkpoints.
pub(crate) const CHECKPOINT_WAL_BYTES: u64 = 4 * 1024 * 1024;

/// Size of the WAL from which the writer checkpoints even when busy.
pub(crate) const CHECKPOINT_WAL_BYTES_FORCED: u64 = 16 * 1024 * 1024;

/// After a checkpoint that readers held up: how much the WAL grows before the next try.
const RETRY_AFTER_WAL_BYTES: u64 = 1024 * 1024;

/// How long a forced checkpoint waits for readers. A backup reads for as long as it takes, and appends wait with it.
const READERS_WAIT_MAX: Duration = Duration::from_millis(8);

/// Bytes of the WAL per frame: a page of 4,096 bytes and its header.
pub(crate) const WAL_FRAME_BYTES: u64 = 4_096 + 24;

/// Decides when to checkpoint.
#[derive(Debug, Default)]
pub(super) struct Checkpoints {
    not_before_wal_bytes: u64,
}

/// The writer as checkpoints see it: with nothing waiting, or with work waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Waiting {
    Nothing,
    Appends,
}

impl Checkpoints {
    /// Returns whether it is time, `wal_bytes` being those in use.
    pub(super) fn is_due(&self, wal_bytes: u64, waiting: Waiting) -> bool {
        let from = match waiting {
            Waiting::Nothing => CHECKPOINT_WAL_BYTES,
            Waiting::Appends => CHECKPOINT_WAL_BYTES_FORCED,
        };
        wal_bytes >= from.max(self.not_before_wal_bytes)
    }

    /// Copies what the WAL holds into the database and syncs it.
    ///
    /// # Errors
    /// An I/O error other than a full disk: the handle is not to be trusted any more.
    pub(super) fn run(&mut self, connection: &Connection, wal_bytes: u64) -> rusqlite::Result<WalShrink> {
        let forced = wal_bytes >= CHECKPOINT_WAL_BYTES_FORCED;
        let sql = if forced { "PRAGMA wal_checkpoint(RESTART)" } else { "PRAGMA wal_checkpoint(PASSIVE)" };
        let done = match checkpoint(connection, sql, READERS_WAIT_MAX) {
            Ok(()) => WalShrink::Done,
            Err(WipeError::Transient(_)) => WalShrink::HeldUp,
            Err(WipeError::Broken(error)) => return Err(error),
        };
        self.not_before_wal_bytes = match done {
            WalShrink::Done => 0,
            WalShrink::HeldUp => wal_bytes + RETRY_AFTER_WAL_BYTES,
        };
        Ok(done)
    }
}
