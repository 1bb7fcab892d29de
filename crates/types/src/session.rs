//! Conversations.

use crate::recall::RecallSwitch;
use crate::surface::Surface;
use crate::{AgentId, PrincipalId, Redacted, RunId, Seq, SessionId, TapeSeq, Timestamp};

/// Names a session: ids given by clients are scoped to their principal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionRef {
    /// Whose it is.
    pub principal: PrincipalId,
    /// Its id, unique for that principal.
    pub id: SessionId,
}

/// A session as stored: a projection of its entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrchestratorSessionRecord {
    /// Which session.
    pub session: SessionRef,
    /// The agent it is bound to.
    pub agent: AgentId,
    /// The client's name for it, unique for the principal.
    pub key: Option<Redacted<String>>,
    /// A title for people.
    pub label: Option<Redacted<String>>,
    /// When it was opened.
    pub created: Timestamp,
    /// When its last entry was written.
    pub updated: Timestamp,
    /// Runs so far.
    pub runs: u64,
    /// The latest run.
    pub last_run: Option<RunId>,
    /// Where the input of its first run came from, which says what kind of conversation it is; `None` before that run.
    pub surface: Option<Surface>,
    /// The entry of the latest reset: history before it is not shown to models.
    pub reset_at: Option<Seq>,
    /// Runs before that reset; zero without one.
    pub runs_before_reset: u64,
    /// Where it branched off another session.
    pub branched_from: Option<BranchPoint>,
    /// When it was archived; an archived session takes no new input.
    pub archived: Option<Timestamp>,
    /// Whether its runs are given items of memory unasked; `None` leaves it to surface, agent and configuration.
    pub recall: Option<RecallSwitch>,
}

/// A place in a session where another one branches off: everything up to it is shared, never copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct BranchPoint {
    /// The session that goes on by itself; of the same principal.
    pub session: SessionId,
    /// The last run that is shared.
    pub run: RunId,
    /// The journal seq of that run's first entry.
    pub run_first_seq: Seq,
    /// The last entry of that run that is shared.
    pub tape_seq: TapeSeq,
    /// The reset in force at that place: nothing before it is shared.
    pub since: Option<Seq>,
}
