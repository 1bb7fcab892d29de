//! An entry as folds see it: its place and what happened, nothing of how it is stored.

use palyra_types::event::JournalEvent;
use palyra_types::{PrincipalId, RunId, Seq, SessionId, TapeSeq, Timestamp};

/// An entry as folds see it.
#[derive(Debug, Clone, Copy)]
pub struct FoldedEntry<'a> {
    /// Its number in the log.
    pub seq: Seq,
    /// The number of its kind.
    pub kind: u16,
    /// When it was written.
    pub time: Timestamp,
    /// Who caused it.
    pub principal: PrincipalId,
    /// The session that it belongs to.
    pub session: Option<SessionId>,
    /// The tape that it is on, and its number there.
    pub run: Option<(RunId, TapeSeq)>,
    /// What happened, without content where that was erased.
    pub event: &'a JournalEvent,
}
