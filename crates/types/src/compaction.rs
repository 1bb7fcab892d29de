//! Compaction: a summary of the older runs of a conversation, as recorded facts and as records.
//!
//! Owns the values. Invariant: a compaction names every run that it was made from by session and place in the journal, and
//! carries the labels of all of them. Begin at [`SessionCompaction`].

use crate::content_walk::ContentClass::{Fixed, Identity, Prose};
use crate::content_walk::content_rows;
use crate::digest::ContentDigest;
use crate::model::ModelRef;
use crate::session::SessionRef;
use crate::tool::Taints;
use crate::{PrincipalId, Redacted, RunId, Seq, SessionId, Timestamp};

/// Bytes of a summary, at most.
pub const SUMMARY_BYTES_MAX: usize = 24 * 1024;

/// The older runs of a conversation were summed up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionCompaction {
    /// The conversation.
    pub session: SessionId,
    /// What it was made from, in the order of the conversation; a branch begins with spans of the conversation that it left.
    pub spans: Vec<CompactedSpan>,
    /// The first run that it covers.
    pub first_run: RunId,
    /// The last run that it covers.
    pub last_run: RunId,
    /// Runs that it covers.
    pub runs: u32,
    /// The compaction that it covers and takes the place of.
    pub replaces: Option<Seq>,
    /// What the covered runs had read.
    pub taints: Taints,
    /// Who wrote the summary.
    pub author: SummaryAuthor,
    /// Why the summary of a model was not taken.
    pub refused: Option<SummaryRefusal>,
    /// Why it was made.
    pub cause: CompactionCause,
    /// Bytes of what it was made from, as a model reads it.
    pub source_bytes: u64,
    /// Bytes of the summary.
    pub summary_bytes: u64,
    /// Digest of what it was made from, under the salt.
    pub source_digest: ContentDigest,
    /// The model that was asked; `None` where none was, and once erased.
    pub model: Redacted<Option<ModelRef>>,
    /// Key of the digest; zero once erased.
    pub salt: Redacted<[u8; 32]>,
    /// The summary; empty once erased.
    pub summary: Redacted<String>,
}

/// Runs of one conversation that follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CompactedSpan {
    /// The conversation.
    pub session: SessionId,
    /// The first entry of the run that was accepted first.
    pub first: Seq,
    /// The last entry of the run that ended last.
    pub last: Seq,
}

/// Who wrote a summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SummaryAuthor {
    /// A model.
    Model,
    /// The daemon, by rule.
    Fallback,
}

/// Why the summary of a model was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SummaryRefusal {
    /// The model gave no complete answer in time.
    NoAnswer,
    /// The lists are not there, or something is beside them.
    NotInForm,
    /// It is longer than half of what it was made from, or than there is room for.
    TooLong,
    /// A marked place is missing.
    PinMissing,
    /// A call that has no known outcome is missing.
    OpenCallMissing,
    /// An item of a plan that is not done is missing.
    PlanItemMissing,
    /// A path or a number of a decision is missing.
    DecisionMissing,
    /// A decision has a path or a number that the source does not have.
    DecisionInvented,
    /// What it is to be made from is larger than the model's window.
    SourceTooLarge,
    /// A budget does not allow the request, so no model was asked.
    OverBudget,
}

impl SummaryRefusal {
    /// Returns the reason in words.
    #[must_use]
    pub fn in_words(self) -> &'static str {
        match self {
            Self::NoAnswer => "the model gave no complete answer in time",
            Self::NotInForm => "the model's summary does not have the lists that were asked for",
            Self::TooLong => "the model's summary is too long",
            Self::PinMissing => "the model's summary lacks a bookmarked entry",
            Self::OpenCallMissing => "the model's summary lacks a call without a known outcome",
            Self::PlanItemMissing => "the model's summary lacks an item of a plan that is not done",
            Self::DecisionMissing => "the model's summary lacks a path or a number of a decision",
            Self::DecisionInvented => {
                "the model's summary has a path or a number that its source does not have"
            }
            Self::SourceTooLarge => "the runs are larger than the model's window",
            Self::OverBudget => {
                "no model was asked, because a budget does not allow the request; `palyra budget` shows which"
            }
        }
    }
}

/// Why a compaction was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CompactionCause {
    /// A person asked for it.
    Person,
    /// A request filled most of the model's window.
    Window,
    /// The provider refused a request as larger than the model's window.
    Refused,
    /// The conversation rested after many runs.
    Idle,
}

/// The compaction that a run reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CompactionRead {
    /// Its entry.
    pub compaction: Seq,
    /// The last entry of the last run that it covers: the history of the run begins behind it.
    pub upto: Seq,
}

/// A compaction, as lists show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrchestratorCompactionArtifactRecord {
    /// What was recorded.
    pub made: SessionCompaction,
    /// Whose it is.
    pub principal: PrincipalId,
    /// The entry that recorded it.
    pub seq: Seq,
    /// When.
    pub created: Timestamp,
    /// Since when it is not used any more.
    pub reverted: Option<Timestamp>,
}

impl SessionCompaction {
    /// Returns the last entry of the last run that it covers.
    #[must_use]
    pub fn upto(&self) -> Seq {
        self.spans.iter().map(|span| span.last).max().unwrap_or_default()
    }

    /// Returns the first entry of the first run that it covers.
    #[must_use]
    pub fn from(&self) -> Seq {
        self.spans.iter().map(|span| span.first).min().unwrap_or_default()
    }
}

impl CompactedSpan {
    /// Returns whether a run of a conversation, by its first entry, is among the covered ones.
    #[must_use]
    pub fn covers(&self, session: SessionId, first_seq: Seq) -> bool {
        self.session == session && self.first <= first_seq && first_seq <= self.last
    }
}

impl OrchestratorCompactionArtifactRecord {
    /// Returns whether runs that begin now may read it: neither reverted nor erased, and with nothing from before a reset.
    #[must_use]
    pub fn is_usable(&self, since: Option<Seq>) -> bool {
        let is_after = since.is_none_or(|since| self.made.from() > since);
        self.reverted.is_none() && is_after && !self.made.summary.expose().is_empty()
    }

    /// Returns the session.
    #[must_use]
    pub fn session(&self) -> SessionRef {
        SessionRef { principal: self.principal, id: self.made.session }
    }
}

content_rows! {
    fn compaction(walk, made: SessionCompaction) {
        let SessionCompaction {
            session: _, spans: _, first_run: _, last_run: _, runs: _, replaces: _, taints: _, author: _, refused: _,
            cause: _, source_bytes: _, summary_bytes: _, source_digest: _, model, salt, summary,
        } = made;
        walk.within(model, |walk, model| {
            walk.maybe(model, |walk, model| walk.model(Identity, "model", model));
        });
        walk.within(salt, |walk, salt| walk.opaque(Fixed, "salt", salt));
        walk.text(Prose, "summary", summary);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(summary: &'static str, reverted: Option<i64>) -> OrchestratorCompactionArtifactRecord {
        let session = SessionId::from_parts(1, 1);
        let span = |first, last| CompactedSpan { session, first: Seq(first), last: Seq(last) };
        let made = SessionCompaction {
            session,
            spans: vec![span(5, 9), span(10, 30)],
            first_run: RunId::from_parts(1, 1),
            last_run: RunId::from_parts(1, 2),
            runs: 2,
            replaces: None,
            taints: Taints::NONE,
            author: SummaryAuthor::Fallback,
            refused: None,
            cause: CompactionCause::Person,
            source_bytes: 100,
            summary_bytes: 10,
            source_digest: ContentDigest([1; 32]),
            model: None.into(),
            salt: [2; 32].into(),
            summary: summary.into(),
        };
        OrchestratorCompactionArtifactRecord {
            made,
            principal: PrincipalId::from_parts(1, 1),
            seq: Seq(40),
            created: Timestamp(1),
            reverted: reverted.map(Timestamp),
        }
    }

    #[test]
    fn a_compaction_is_read_until_it_is_reverted_or_erased_or_the_session_is_reset() {
        for (summary, reverted, since, usable) in [
            ("done", None, None, true),
            ("done", None, Some(4), true),
            ("done", None, Some(5), false),
            ("done", Some(2), None, false),
            ("", None, None, false),
        ] {
            let case = record(summary, reverted);
            assert_eq!(case.is_usable(since.map(Seq)), usable, "{summary:?} {reverted:?} {since:?}");
        }
        let made = record("done", None).made;
        assert_eq!((made.from(), made.upto()), (Seq(5), Seq(30)));
    }

    #[test]
    fn a_span_covers_the_runs_of_its_session_that_were_accepted_in_it() {
        let (own, other) = (SessionId::from_parts(1, 1), SessionId::from_parts(1, 2));
        let span = CompactedSpan { session: own, first: Seq(5), last: Seq(9) };
        let covered = [(own, 4), (own, 5), (own, 9), (own, 10), (other, 7)];
        let found = covered.map(|(session, seq)| span.covers(session, Seq(seq)));
        assert_eq!(found, [false, true, true, false, false]);
    }
}
