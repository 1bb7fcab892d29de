//! Why a backup was not made, not accepted or not put back.

use std::io;
use std::path::{Path, PathBuf};

use palyra_types::ErrorCode;

/// Why work on a backup ended without its result. Files that were written for it are removed.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// The target is there already, or cannot be one.
    #[error("{} cannot be the target: {why}", path.display())]
    TargetRefused {
        /// The target.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// A daemon, or another command, has the state directory.
    #[error("another process{} uses {}", pid.map(|pid| format!(" (pid {pid})")).unwrap_or_default(), dir.display())]
    StateInUse {
        /// The process, where the lock names it.
        pid: Option<u32>,
        /// The state directory.
        dir: PathBuf,
    },
    /// There is nothing to back up.
    #[error("{} holds no journal", dir.display())]
    NoJournal {
        /// The state directory.
        dir: PathBuf,
    },
    /// There is no space.
    #[error("no space left on the disk of {}", path.display())]
    DiskFull {
        /// What could not be written.
        path: PathBuf,
    },
    /// The caller stopped it.
    #[error("it was stopped")]
    Stopped,
    /// A file could not be read or written.
    #[error("{doing} {} failed: {cause}", path.display())]
    File {
        /// The step.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system says.
        cause: io::Error,
    },
    /// An order for the next start could not be written.
    #[error("{} cannot be written: {cause}", path.display())]
    OrderNotLeft {
        /// The file.
        path: PathBuf,
        /// What the system says.
        cause: io::Error,
    },
    /// The database could not be copied.
    #[error("the database could not be copied: {what}")]
    Database {
        /// What SQLite says.
        what: String,
    },
    /// The state directory has more than a backup takes.
    #[error("the state directory has too much for one backup: {what}")]
    TooLarge {
        /// The limit.
        what: String,
    },
    /// The folder is not a backup, or one that this version cannot read.
    #[error("{} is not a backup that this version can read: {what}", path.display())]
    NotABackup {
        /// The folder.
        path: PathBuf,
        /// What does not fit.
        what: String,
    },
    /// The backup does not hold what it names.
    #[error("the backup {} is damaged or was changed: {}", path.display(), findings.join("; "))]
    Damaged {
        /// The folder.
        path: PathBuf,
        /// What was found.
        findings: Vec<String>,
    },
}

impl BackupError {
    /// Returns the stable code shown to clients.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::TargetRefused { .. } => ErrorCode::BackupTargetRefused,
            Self::StateInUse { .. } => ErrorCode::StateDirLocked,
            Self::NoJournal { .. } | Self::OrderNotLeft { .. } => ErrorCode::StateDirUnusable,
            Self::DiskFull { .. } => ErrorCode::DiskFull,
            Self::Stopped | Self::File { .. } | Self::Database { .. } | Self::TooLarge { .. } => {
                ErrorCode::BackupFailed
            }
            Self::NotABackup { .. } | Self::Damaged { .. } => ErrorCode::BackupInvalid,
        }
    }

    /// Returns what turns a failure of the system on a file into an error.
    pub(crate) fn on(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |cause| match cause.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                Self::DiskFull { path: path.to_owned() }
            }
            _ => Self::File { doing, path: path.to_owned(), cause },
        }
    }

    pub(crate) fn refused(path: &Path, why: impl Into<String>) -> Self {
        Self::TargetRefused { path: path.to_owned(), why: why.into() }
    }
}
