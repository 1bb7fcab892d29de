//! Making backups of the state directory.

use std::path::PathBuf;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_types::{ErrorCode, QueuedTaskId, Timestamp};

use crate::maintain_journal::ProgressCallback;

/// Makes backups while the daemon serves. Work whose future is dropped stops and removes what it has begun.
pub trait MakeBackups: Send + Sync {
    /// Makes one at a place that a person names.
    fn create(
        &self,
        order: BackupOrder,
        progress: ProgressCallback,
    ) -> BoxFuture<'static, Result<BackupSummary, MakeBackupError>>;

    /// Makes and checks one in the folder of automatic backups, then removes the oldest ones. One of the same task that is
    /// there already is checked and kept.
    fn create_automatic(
        &self,
        order: AutomaticBackup,
        progress: ProgressCallback,
    ) -> BoxFuture<'static, Result<BackupSummary, MakeBackupError>>;
}

/// A backup at a place that a person names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackupOrder {
    /// The folder that is to be the backup.
    pub target: PathBuf,
    /// Whether the files of root keys belong to it.
    pub keys: BackupKeys,
}

/// Whether a backup holds the files of root keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BackupKeys {
    /// It does not.
    LeftOut,
    /// It does.
    Included,
}

/// A backup of the background queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AutomaticBackup {
    /// The folder of automatic backups.
    pub folder: PathBuf,
    /// How many are kept.
    pub keep: usize,
    /// The task, which names it.
    pub task: QueuedTaskId,
    /// When the task was put into the queue.
    pub created: Timestamp,
}

/// When backups are made without being asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackupSchedule {
    /// Where they are put.
    pub folder: PathBuf,
    /// The time from one to the next.
    pub every: Duration,
    /// How many are kept.
    pub keep: usize,
}

/// A backup that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackupSummary {
    /// Its folder.
    pub folder: PathBuf,
    /// Bytes of its files.
    pub bytes: u64,
    /// Entries of its journal.
    pub entries: u64,
}

/// Why a backup was not made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct MakeBackupError {
    /// The stable code.
    pub code: ErrorCode,
    /// What failed, and why.
    pub what: String,
}

/// A house without a state directory: it makes none.
#[derive(Debug, Clone, Copy)]
pub struct NoBackups;

impl NoBackups {
    fn refused() -> BoxFuture<'static, Result<BackupSummary, MakeBackupError>> {
        let what = "this daemon has no state directory".to_owned();
        async { Err(MakeBackupError { code: ErrorCode::BackupFailed, what }) }.boxed()
    }
}

impl MakeBackups for NoBackups {
    fn create(
        &self,
        _order: BackupOrder,
        _progress: ProgressCallback,
    ) -> BoxFuture<'static, Result<BackupSummary, MakeBackupError>> {
        Self::refused()
    }

    fn create_automatic(
        &self,
        _order: AutomaticBackup,
        _progress: ProgressCallback,
    ) -> BoxFuture<'static, Result<BackupSummary, MakeBackupError>> {
        Self::refused()
    }
}
