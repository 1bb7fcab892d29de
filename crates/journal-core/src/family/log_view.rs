//! The log as queries see it: a row names entries, and a record says what these hold.

use palyra_types::event::JournalEvent;
use palyra_types::{PrincipalId, RunId, Seq, SessionId, TapeSeq, Timestamp};

use super::row_store::StoreFault;

/// An entry that a row names.
#[derive(Debug, Clone)]
pub struct LoggedEntry {
    /// When it was written.
    pub time: Timestamp,
    /// Who caused it.
    pub principal: PrincipalId,
    /// The session that it belongs to.
    pub session: Option<SessionId>,
    /// The tape that it is on, and its number there.
    pub run: Option<(RunId, TapeSeq)>,
    /// What happened, without content where that was erased.
    pub event: JournalEvent,
}

/// Entries by number, in the snapshot of the rows.
pub trait LogView {
    /// Returns an entry.
    ///
    /// # Errors
    /// [`StoreFault::Failed`] where there is none or it cannot be read.
    fn entry(&mut self, seq: Seq) -> Result<LoggedEntry, StoreFault>;
}
