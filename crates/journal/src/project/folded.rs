//! An entry as folds see it: where it stands and what happened, nothing of how it is stored.

use palyra_types::event::JournalEvent;
use palyra_types::{PrincipalId, RunId, Seq, SessionId, TapeSeq, Timestamp};

/// An entry as folds see it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Folded<'a> {
    pub(crate) seq: Seq,
    pub(crate) kind: u16,
    pub(crate) time: Timestamp,
    pub(crate) principal: PrincipalId,
    pub(crate) session: Option<SessionId>,
    pub(crate) run: Option<(RunId, TapeSeq)>,
    pub(crate) event: &'a JournalEvent,
}
