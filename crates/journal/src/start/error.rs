//! Why a journal cannot be opened.

use std::io;

use palyra_types::ErrorCode;

use crate::connection::{self, Failure};
use crate::fault::ReadFault;

/// Why the journal was not opened. Nothing was lost.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// SQLite's locks cannot be trusted there.
    #[error("the state directory is on a network file system ({file_system})")]
    NetworkFilesystem {
        /// Its kind.
        file_system: &'static str,
    },
    /// The folder or a file in it cannot be used.
    #[error("the state directory cannot be used: {doing}")]
    StateDir {
        /// What was tried.
        doing: &'static str,
        /// Why it failed.
        #[source]
        cause: io::Error,
    },
    /// Written by a newer version.
    #[error("the journal has format {found}, this version knows formats up to {known}")]
    Newer {
        /// Its format.
        found: i32,
        /// Our newest.
        known: i32,
    },
    /// The file is something else.
    #[error("the file journal.db is not a journal")]
    NotAJournal,
    /// There is no journal, and there was one.
    #[error(
        "journal.db is missing or empty, and there was a journal here: {traces}; no new one is begun in its place"
    )]
    Missing {
        /// What tells of it.
        traces: String,
    },
    /// An entry is not what it should be.
    #[error("the journal does not verify at seq {seq}")]
    Corrupt {
        /// The first bad entry.
        seq: u64,
    },
    /// Acknowledged entries lie in the write-ahead log behind a damaged place.
    #[error(
        "the write-ahead log journal.db-wal is damaged at byte {byte}: {commits_behind} commits behind it cannot be read"
    )]
    WalDamaged {
        /// Where the damage begins.
        byte: u64,
        /// How many commits it cuts off.
        commits_behind: u64,
    },
    /// No space to bring an older format up to the present one; nothing was changed.
    #[error("upgrading the journal needs {needed_bytes} bytes of free space, and {free_bytes} are free")]
    NoSpaceToUpgrade {
        /// What the copy and the tree need.
        needed_bytes: u64,
        /// What is free.
        free_bytes: u64,
    },
    /// The keys of sealed payloads cannot be used.
    #[error("the keys of sealed payloads cannot be used: {what}")]
    Keys {
        /// What is wrong with them.
        what: String,
    },
    /// No space for the first entries.
    #[error("the disk is too full to open the journal")]
    DiskFull,
    /// Another daemon took the journal over in this moment.
    #[error("another daemon has taken over this journal")]
    Fenced,
    /// SQLite failed.
    #[error("the journal could not be opened: {what}")]
    Store {
        /// What SQLite said.
        what: String,
    },
}

impl OpenError {
    /// Returns the stable code shown to clients.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::NetworkFilesystem { .. } => ErrorCode::NetworkFilesystem,
            Self::StateDir { .. } | Self::Keys { .. } => ErrorCode::StateDirUnusable,
            Self::Newer { .. } => ErrorCode::JournalNewer,
            Self::Missing { .. } => ErrorCode::JournalMissing,
            Self::NotAJournal | Self::Corrupt { .. } | Self::WalDamaged { .. } | Self::Store { .. } => {
                ErrorCode::JournalCorrupt
            }
            Self::DiskFull | Self::NoSpaceToUpgrade { .. } => ErrorCode::DiskFull,
            Self::Fenced => ErrorCode::Fenced,
        }
    }

    pub(super) fn doing(doing: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |cause| match cause.kind() {
            io::ErrorKind::StorageFull => Self::DiskFull,
            _ => Self::StateDir { doing, cause },
        }
    }

    /// Returns whether copying the files might help: what was read is damaged.
    pub(super) fn is_damage(&self) -> bool {
        matches!(self, Self::Corrupt { .. } | Self::Store { .. })
    }
}

impl From<rusqlite::Error> for OpenError {
    fn from(error: rusqlite::Error) -> Self {
        if error.sqlite_error_code() == Some(rusqlite::ErrorCode::NotADatabase) {
            return Self::NotAJournal;
        }
        match connection::classify(&error) {
            Failure::Full => Self::DiskFull,
            Failure::Constraint | Failure::Busy | Failure::Interrupted | Failure::Storage => {
                Self::Store { what: connection::describe(&error) }
            }
        }
    }
}

impl From<ReadFault> for OpenError {
    fn from(fault: ReadFault) -> Self {
        match fault {
            ReadFault::Entry { seq, .. } => Self::Corrupt { seq: seq.0 },
            ReadFault::Store(error) => error.into(),
        }
    }
}
