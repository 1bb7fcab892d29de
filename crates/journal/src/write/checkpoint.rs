//! Moving the WAL into the database: when it is due, and what its result means.

use std::time::Duration;

use rusqlite::Connection;

use crate::connection::{self, Failure, LOCK_WAIT_MAX};

/// Size of the WAL from which an idle writer checkpoints.
pub(crate) const CHECKPOINT_WAL_BYTES: u64 = 4 * 1024 * 1024;

/// Size of the WAL from which the writer checkpoints even when busy.
pub(crate) const CHECKPOINT_WAL_BYTES_FORCED: u64 = 16 * 1024 * 1024;

/// After a checkpoint that readers held up: how much the WAL grows before the next try.
const RETRY_AFTER_WAL_BYTES: u64 = 1024 * 1024;

/// How long a forced checkpoint waits for readers.
const READERS_WAIT_MAX: Duration = Duration::from_millis(50);

/// Bytes of the WAL per frame: a page of 4,096 bytes and its header.
pub(crate) const WAL_FRAME_BYTES: u64 = 4_096 + 24;

/// Decides when to checkpoint.
#[derive(Debug, Default)]
pub(super) struct Checkpoints {
    not_before_wal_bytes: u64,
}

/// What a checkpoint did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CheckpointOutcome {
    /// Everything is in the database; the next commit begins the WAL anew.
    All,
    /// Readers or a lack of space held it up: later again.
    HeldUp,
}

/// What a checkpoint is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CheckpointGoal {
    /// Room in the WAL.
    Room,
    /// A file of the WAL without bytes.
    EmptyFile,
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
    pub(super) fn run(
        &mut self,
        connection: &Connection,
        wal_bytes: u64,
        goal: CheckpointGoal,
    ) -> rusqlite::Result<CheckpointOutcome> {
        let forced = wal_bytes >= CHECKPOINT_WAL_BYTES_FORCED;
        let sql = match goal {
            CheckpointGoal::EmptyFile => "PRAGMA wal_checkpoint(TRUNCATE)",
            CheckpointGoal::Room if forced => "PRAGMA wal_checkpoint(RESTART)",
            CheckpointGoal::Room => "PRAGMA wal_checkpoint(PASSIVE)",
        };
        let read = |row: &rusqlite::Row<'_>| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, row.get::<_, i64>(2)?))
        };
        connection.busy_timeout(READERS_WAIT_MAX)?;
        let checkpointed = connection.query_row(sql, [], read);
        connection.busy_timeout(LOCK_WAIT_MAX)?;
        let done = match checkpointed {
            Ok((0, frames, copied)) if frames == copied => CheckpointOutcome::All,
            Ok(_) => CheckpointOutcome::HeldUp,
            Err(error) => match connection::classify(&error) {
                Failure::Full | Failure::Busy => CheckpointOutcome::HeldUp,
                Failure::Constraint | Failure::Interrupted | Failure::Storage => return Err(error),
            },
        };
        self.not_before_wal_bytes = match done {
            CheckpointOutcome::All => 0,
            CheckpointOutcome::HeldUp => wal_bytes + RETRY_AFTER_WAL_BYTES,
        };
        Ok(done)
    }
}
