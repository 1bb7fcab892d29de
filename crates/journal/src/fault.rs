//! What can be wrong with what is read.

use palyra_ports::ReadError;
use palyra_types::Seq;

use crate::connection::{self, Failure};

/// What is wrong with an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum EntryFault {
    #[error("it cannot be read: its page in the database is damaged")]
    Unreadable,
    #[error("the envelope is malformed")]
    Envelope,
    #[error("the columns contradict the envelope")]
    Columns,
    #[error("the facts are malformed")]
    Facts,
    #[error("the payload does not match its commitment")]
    Payload,
    #[error("the payload does not open with the keys that are there")]
    Sealed,
    #[error("the payload is marked as sealed, and its epoch seals nothing")]
    SealedInClear,
    #[error("the payload is missing")]
    PayloadMissing,
    #[error("it has content that was erased")]
    PayloadBack,
    #[error("a payload belongs to no entry")]
    PayloadUnowned,
    #[error("a static text that it names was changed")]
    Static,
    #[error("a row that is derived from it contradicts it")]
    Row,
    #[error("the kind does not belong in this place")]
    Place,
    #[error("the tape is not dense")]
    Tape,
    #[error("the entry's number is not the next one")]
    Numbering,
    #[error("the envelope is not the one that the next entry names")]
    Leaf,
    #[error("the entry does not name the leaf before it")]
    Chain,
    #[error("the entry belongs to another log")]
    Log,
    #[error("the epoch falls or was never started")]
    Epoch,
    #[error("the log's keys do not follow from each other")]
    Keys,
    #[error("a tile of the tree is not the one of the entries")]
    Tile,
    #[error("the tree's frontier is not the one of the entries")]
    Frontier,
    #[error("entries that were signed or are in the tree are missing from here on")]
    Truncated,
    #[error("the file's format number or the columns of one of its tables are not those of a journal")]
    Shape,
    #[error("runs began, and no signed head is stored")]
    Unsigned,
    #[error("a signed head is malformed")]
    Head,
    #[error("a signed head is one of another history")]
    Forked,
    #[error("a signed head has a wrong signature or an unknown key")]
    Signature,
}

impl EntryFault {
    /// Names the entry it concerns.
    pub(crate) fn at(self, seq: Seq) -> ReadFault {
        ReadFault::at(seq, self)
    }
}

/// Why reading did not yield an entry.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReadFault {
    /// The entry is not what it should be.
    #[error("seq {seq}: {fault}")]
    Entry { seq: Seq, fault: EntryFault },
    /// SQLite failed.
    #[error("the store failed")]
    Store(#[from] rusqlite::Error),
}

impl ReadFault {
    pub(crate) fn at(seq: Seq, fault: EntryFault) -> Self {
        Self::Entry { seq, fault }
    }

    /// Names the entry that was being read when damage was met.
    pub(crate) fn located(self, seq: Seq) -> Self {
        if self.is_damage() { EntryFault::Unreadable.at(seq) } else { self }
    }

    /// Returns whether SQLite found the file damaged.
    pub(crate) fn is_damage(&self) -> bool {
        match self {
            Self::Entry { .. } => false,
            Self::Store(error) => connection::is_damage(error),
        }
    }
}

impl From<rusqlite::types::FromSqlError> for ReadFault {
    fn from(error: rusqlite::types::FromSqlError) -> Self {
        Self::Store(rusqlite::Error::from(error))
    }
}

impl From<ReadFault> for ReadError {
    fn from(fault: ReadFault) -> Self {
        match fault {
            ReadFault::Entry { seq, .. } => Self::Corrupt { seq: seq.0 },
            ReadFault::Store(error) => match connection::classify(&error) {
                Failure::Interrupted | Failure::Busy => Self::Busy,
                Failure::Full | Failure::Constraint | Failure::Storage => {
                    Self::Storage { what: connection::describe(&error) }
                }
            },
        }
    }
}
