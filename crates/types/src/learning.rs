//! Learning: what was concluded from conversations of a principal, as recorded facts and as records.
//!
//! Owns the values. Invariant: a candidate belongs to one principal, that of its entry, and names the entries of tapes that it
//! was concluded from. Begin at [`LearningEvent`].

use crate::content_walk::ContentClass::Prose;
use crate::content_walk::content_rows;
use crate::surface::Surface;
use crate::tool::Taints;
use crate::{CandidateId, MemoryId, PrincipalId, Redacted, RunId, Seq, SessionId, TapeSeq, Timestamp};

/// Bytes of the text of a candidate, at most.
pub const CANDIDATE_TEXT_BYTES_MAX: usize = 8 * 1024;
/// Entries of tapes that a candidate names, at most.
pub const CANDIDATE_EVIDENCE_MAX: usize = 16;

/// Something was concluded, or it was decided what becomes of it; on whose behalf is in the envelope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LearningEvent {
    /// A candidate was found, and perhaps applied.
    Proposed(Box<CandidateProposed>),
    /// A candidate is in another state from here on.
    Changed(CandidateChanged),
}

/// A candidate, as it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CandidateProposed {
    /// Its id.
    pub candidate: CandidateId,
    /// What it is.
    pub kind: CandidateKind,
    /// How sure it is, in basis points, at the time of this entry.
    pub confidence_bps: u32,
    /// Whether it was applied at once or waits for a person.
    pub state: CandidateState,
    /// Why it was not applied at once.
    pub held_back: Option<HoldReason>,
    /// Who found it.
    pub author: CandidateAuthor,
    /// What it was concluded from, the entry that has its words first.
    pub evidence: Vec<CitedEntry>,
    /// What the cited entries are marked with.
    pub taints: Taints,
    /// The surface of the first cited entry.
    pub via: Surface,
    /// The item of memory that it became.
    pub memory: Option<MemoryId>,
    /// The candidate that it takes the place of.
    pub supersedes: Option<CandidateId>,
    /// What was concluded; of a procedure the draft of its file. Empty once erased.
    pub text: Redacted<String>,
}

/// What becomes of a candidate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CandidateChanged {
    /// Which.
    pub candidate: CandidateId,
    /// Its state from here on.
    pub state: CandidateState,
    /// The item of memory that it is from here on.
    pub memory: Option<MemoryId>,
    /// The text that a person put in place of its own; empty where there is none.
    pub text: Redacted<String>,
}

/// What a candidate is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CandidateKind {
    /// Something that is so, for memory.
    Fact,
    /// How the person wants things done.
    Preference,
    /// A sequence of calls that was useful several times.
    Procedure,
}

/// Where a candidate is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CandidateState {
    /// It was found; nothing was decided.
    Proposed,
    /// It waits for a person.
    PendingReview,
    /// It is in use, because it was sure enough.
    Applied,
    /// It is in use, because a person accepted it.
    Accepted,
    /// It is in use, in the words of a person.
    Edited,
    /// A person refused it.
    Rejected,
    /// Another one took its place.
    Superseded,
    /// It was in use, and a person took it back.
    Undone,
}

/// Why a candidate is not applied without a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HoldReason {
    /// It is not sure enough.
    Unsure,
    /// The run had read what others wrote.
    Tainted,
    /// It may be a secret.
    Sensitive,
    /// Its kind is never applied without a person.
    ByKind,
}

/// Who found a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CandidateAuthor {
    /// Rules of the daemon.
    Rules,
    /// A model, whose citations were checked.
    Model,
}

/// An entry of a tape that a candidate was concluded from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CitedEntry {
    /// The run.
    pub run: RunId,
    /// The entry.
    pub tape_seq: TapeSeq,
}

/// A candidate, as lists show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CandidateRecord {
    /// As it was found; the text is the one in force.
    pub proposed: CandidateProposed,
    /// Its state.
    pub state: CandidateState,
    /// The item of memory that it is.
    pub memory: Option<MemoryId>,
    /// Whose it is.
    pub principal: PrincipalId,
    /// The conversation that it was found in.
    pub session: Option<SessionId>,
    /// The entry that proposed it.
    pub seq: Seq,
    /// When.
    pub created: Timestamp,
    /// When its state changed last.
    pub updated: Timestamp,
}

impl CandidateKind {
    /// Every kind with its word.
    pub const ALL: [(Self, &'static str); 3] =
        [(Self::Fact, "fact"), (Self::Preference, "preference"), (Self::Procedure, "procedure")];

    /// Returns its word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Fact => "fact",
            Self::Preference => "preference",
            Self::Procedure => "procedure",
        }
    }
}

impl CandidateState {
    /// Every state.
    pub const ALL: [Self; 8] = [
        Self::Proposed,
        Self::PendingReview,
        Self::Applied,
        Self::Accepted,
        Self::Edited,
        Self::Rejected,
        Self::Superseded,
        Self::Undone,
    ];

    /// Returns whether it is in use.
    #[must_use]
    pub const fn is_in_use(self) -> bool {
        matches!(self, Self::Applied | Self::Accepted | Self::Edited)
    }

    /// Returns whether a person has to decide.
    #[must_use]
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Proposed | Self::PendingReview)
    }
}

content_rows! {
    fn learning_event(walk, event: LearningEvent) {
        match event {
            LearningEvent::Proposed(proposed) => walk.candidate_proposed(proposed),
            LearningEvent::Changed(changed) => {
                let CandidateChanged { candidate: _, state: _, memory: _, text } = changed;
                walk.text(Prose, "text", text);
            }
        }
    }

    fn candidate_proposed(walk, proposed: CandidateProposed) {
        let CandidateProposed {
            candidate: _, kind: _, confidence_bps: _, state: _, held_back: _, author: _, evidence: _, taints: _,
            via: _, memory: _, supersedes: _, text,
        } = proposed;
        walk.text(Prose, "text", text);
    }
}
