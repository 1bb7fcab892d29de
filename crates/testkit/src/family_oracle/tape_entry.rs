//! An entry of a tape, with its place.

use palyra_types::event::{JournalEvent, TapeEvent};
use palyra_types::tape::JournalEventRecord;
use palyra_types::{PrincipalId, RunId, Seq, SessionId, TapeSeq, Timestamp};

/// An entry of a tape, with its place.
pub(super) struct TapeEntry<'a> {
    pub(super) run: RunId,
    pub(super) session: SessionId,
    pub(super) principal: PrincipalId,
    pub(super) tape_seq: TapeSeq,
    pub(super) seq: Seq,
    pub(super) time: Timestamp,
    pub(super) event: &'a TapeEvent,
}

/// Returns an entry with its place where it is on a tape.
pub(super) fn on_tape(entry: &JournalEventRecord) -> Option<TapeEntry<'_>> {
    let JournalEvent::Tape(event) = &entry.event else { return None };
    let ((run, tape_seq), session) = (entry.run?, entry.session?);
    let (principal, seq, time) = (entry.principal, entry.seq, entry.time);
    Some(TapeEntry { run, session, principal, tape_seq, seq, time, event })
}
