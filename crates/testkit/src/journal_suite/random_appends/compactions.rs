//! Events about compactions, in all their forms.

use palyra_journal_core::families::compactions;
use palyra_journal_core::family::{QueryFamilies, ReadFamilies};
use palyra_types::compaction::{
    CompactedSpan, CompactionCause, CompactionRead, SessionCompaction, SummaryAuthor, SummaryRefusal,
};
use palyra_types::event::ContentDigest;
use palyra_types::session::SessionRef;
use palyra_types::{Redacted, RunId, Seq, SessionId};

use super::{RandomAppends, exposed};

impl RandomAppends {
    pub(super) fn compaction(&mut self, session: SessionId) -> SessionCompaction {
        let spans = (0..self.below(3)).map(|_| CompactedSpan {
            session,
            first: Seq(self.below(40)),
            last: Seq(self.below(90)),
        });
        SessionCompaction {
            session,
            spans: spans.collect(),
            first_run: RunId::from_parts(3, self.below(9).into()),
            last_run: RunId::from_parts(3, self.below(9).into()),
            runs: self.number(),
            replaces: self.maybe(|me| Seq(me.below(me.made + 1))),
            taints: self.taints(),
            author: self.one_of(&[SummaryAuthor::Model, SummaryAuthor::Fallback]),
            refused: self.maybe(|me| {
                me.one_of(&[
                    SummaryRefusal::NoAnswer,
                    SummaryRefusal::PinMissing,
                    SummaryRefusal::SourceTooLarge,
                    SummaryRefusal::OverBudget,
                ])
            }),
            cause: self.one_of(&[
                CompactionCause::Person,
                CompactionCause::Window,
                CompactionCause::Refused,
                CompactionCause::Idle,
            ]),
            source_bytes: self.below(5_000),
            summary_bytes: self.below(2_000),
            source_digest: ContentDigest(self.digest()),
            model: Redacted::cleaned(self.maybe(Self::model)),
            salt: Redacted::cleaned(self.digest()),
            summary: self.text(),
        }
    }

    pub(super) fn compaction_read(&mut self) -> CompactionRead {
        CompactionRead { compaction: Seq(self.below(50)), upto: Seq(self.below(40)) }
    }
}

/// Adds the compactions of sessions.
pub(super) async fn records(journal: &impl ReadFamilies, sessions: &[SessionRef], all: &mut Vec<String>) {
    for session in sessions.iter().copied() {
        let reading = journal.query(move |rows, log| compactions::of_session(rows, log, session));
        let found = reading.await.unwrap();
        // Texts of states that were written before there were compactions stay the same.
        if !found.is_empty() {
            all.push(exposed(&found, |one| one.made.summary.expose().clone()));
        }
    }
}
