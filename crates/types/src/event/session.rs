//! Events of conversations.
//!
//! Owns the variants and their fields; stored numbers are in the registry of kinds, not here.

use crate::compaction::SessionCompaction;
use crate::content_walk::ContentClass::{Identity, Prose};
use crate::content_walk::content_rows;
use crate::recall::RecallSwitch;
use crate::session::BranchPoint;
use crate::{AgentId, Redacted, RunId, Seq, SessionId, TapeSeq};

/// Conversations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionEvent {
    /// A conversation began.
    Opened {
        /// Its id (also in the envelope).
        session: SessionId,
        /// The agent it is bound to.
        agent: AgentId,
        /// The client's name for it.
        key: Option<Redacted<String>>,
        /// A title.
        label: Option<Redacted<String>>,
        /// Where it branched off another one.
        branched_from: Option<BranchPoint>,
    },
    /// A conversation got another title.
    Renamed {
        /// Its id (also in the envelope).
        session: SessionId,
        /// The title; `None` for none.
        label: Option<Redacted<String>>,
    },
    /// A conversation is put away: it takes no new input.
    Archived {
        /// Its id (also in the envelope).
        session: SessionId,
    },
    /// A conversation is taken up again.
    Restored {
        /// Its id (also in the envelope).
        session: SessionId,
    },
    /// A conversation starts afresh; history before this entry is not shown to models.
    Reset {
        /// Its id (also in the envelope).
        session: SessionId,
    },
    /// A conversation says itself whether its runs are given items of memory unasked, or leaves it to wider levels.
    RecallSet {
        /// Its id (also in the envelope).
        session: SessionId,
        /// What it says; `None` for nothing.
        recall: Option<RecallSwitch>,
    },
    /// A place in a tape of the conversation got a name.
    BookmarkPlaced(Bookmark),
    /// The bookmark of an entry was removed.
    BookmarkRemoved(Seq),
    /// Older runs of the conversation were summed up.
    Compacted(Box<SessionCompaction>),
    /// The compaction of an entry is not read any more.
    CompactionReverted(Seq),
    /// The response that a run made for a client is no longer found by its id; the run stays.
    ResponseDeleted {
        /// The run.
        run: RunId,
    },
}

/// A name of a place in a tape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bookmark {
    /// The run.
    pub run: RunId,
    /// The last entry before the place.
    pub tape_seq: TapeSeq,
    /// The name; empty when it was erased.
    pub name: Redacted<String>,
}

content_rows! {
    fn session_event(walk, event: SessionEvent) {
        match event {
            SessionEvent::Opened { session: _, agent: _, key, label, branched_from: _ } => {
                walk.maybe(key, |walk, key| walk.text(Identity, "key", key));
                walk.maybe(label, |walk, label| walk.text(Prose, "label", label));
            }
            SessionEvent::Renamed { session: _, label } => {
                walk.maybe(label, |walk, label| walk.text(Prose, "label", label));
            }
            SessionEvent::Archived { session: _ }
            | SessionEvent::Restored { session: _ }
            | SessionEvent::Reset { session: _ }
            | SessionEvent::RecallSet { session: _, recall: _ }
            | SessionEvent::BookmarkRemoved(_)
            | SessionEvent::CompactionReverted(_)
            | SessionEvent::ResponseDeleted { run: _ } => {}
            SessionEvent::BookmarkPlaced(Bookmark { run: _, tape_seq: _, name }) => walk.text(Prose, "name", name),
            SessionEvent::Compacted(made) => walk.compaction(made),
        }
    }
}
