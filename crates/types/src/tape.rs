//! Entries as read back from the journal.

use crate::access::ActorIdentity;
use crate::event::{JournalEvent, TapeEvent};
use crate::{Epoch, PrincipalId, RunId, Seq, SessionId, TapeSeq, Timestamp};

/// Whether an entry still has its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ContentState {
    /// It has what it was written with (which may be nothing).
    Present,
    /// It was erased: content fields are empty.
    Erased,
}

/// One entry of a run's tape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrchestratorTapeRecord {
    /// Its place in the journal.
    pub seq: Seq,
    /// Its run.
    pub run: RunId,
    /// Its session.
    pub session: SessionId,
    /// Its principal.
    pub principal: PrincipalId,
    /// Its place on the tape.
    pub tape_seq: TapeSeq,
    /// When it was written.
    pub time: Timestamp,
    /// Whether the content is there.
    pub content: ContentState,
    /// Who acted, where a person or a program of theirs did.
    pub actor: Option<ActorIdentity>,
    /// What happened.
    pub event: TapeEvent,
}

/// One entry of the journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalEventRecord {
    /// Its place in the journal.
    pub seq: Seq,
    /// The start that wrote it.
    pub epoch: Epoch,
    /// When it was written.
    pub time: Timestamp,
    /// On whose behalf; nil for the daemon itself.
    pub principal: PrincipalId,
    /// Its session, if any.
    pub session: Option<SessionId>,
    /// Its run and place on the tape, if any.
    pub run: Option<(RunId, TapeSeq)>,
    /// Its number in the registry of kinds.
    pub kind: u16,
    /// RFC 6962 leaf hash of its envelope.
    pub leaf: [u8; 32],
    /// Whether the content is there.
    pub content: ContentState,
    /// Who acted, where a person or a program of theirs did.
    pub actor: Option<ActorIdentity>,
    /// What happened.
    pub event: JournalEvent,
}
