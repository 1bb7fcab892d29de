//! Events about learning, in all their forms; ids are few, so that candidates are superseded and changed.

use palyra_journal_core::families::learning_candidates;
use palyra_journal_core::family::{QueryFamilies, ReadFamilies};
use palyra_types::learning::{
    CandidateAuthor, CandidateChanged, CandidateKind, CandidateProposed, CandidateState, CitedEntry,
    HoldReason, LearningEvent,
};
use palyra_types::run::Surface;
use palyra_types::tool::Taints;
use palyra_types::{CandidateId, MemoryId, RunId, TapeSeq};

use super::{PRINCIPALS, RandomAppends, exposed};
use crate::journal_suite::samples;

/// Ids of candidates that random events name.
const CANDIDATES: u64 = 6;

impl RandomAppends {
    pub(super) fn learning_event(&mut self) -> LearningEvent {
        let candidate = self.candidate_id();
        if self.below(3) == 0 {
            return LearningEvent::Changed(CandidateChanged {
                candidate,
                state: self.one_of(&CandidateState::ALL),
                memory: self.maybe(|me| MemoryId::from_parts(11, me.below(7).into())),
                text: self.text(),
            });
        }
        let evidence = (0..self.below(3)).map(|_| CitedEntry {
            run: RunId::from_parts(3, 1 + u128::from(self.below(9))),
            tape_seq: TapeSeq(1 + self.number()),
        });
        let evidence = evidence.collect();
        let holds = [HoldReason::Unsure, HoldReason::Tainted, HoldReason::Sensitive, HoldReason::ByKind];
        LearningEvent::Proposed(Box::new(CandidateProposed {
            candidate,
            kind: self.one_of(&CandidateKind::ALL).0,
            confidence_bps: self.number() % 10_001,
            state: self.one_of(&[CandidateState::PendingReview, CandidateState::Applied]),
            held_back: self.maybe(|me| me.one_of(&holds)),
            author: self.one_of(&[CandidateAuthor::Rules, CandidateAuthor::Model]),
            evidence,
            taints: self.one_of(&[Taints::NONE, Taints::WEB]),
            via: self.one_of(&[Surface::LocalSocket, Surface::Console]),
            memory: self.maybe(|me| MemoryId::from_parts(11, me.below(7).into())),
            supersedes: self.maybe(Self::candidate_id),
            text: self.text(),
        }))
    }

    fn candidate_id(&mut self) -> CandidateId {
        CandidateId::from_parts(13, 1 + u128::from(self.below(CANDIDATES)))
    }
}

/// Adds the candidates of every principal of the population.
pub(super) async fn records(journal: &impl ReadFamilies, all: &mut Vec<String>) {
    for n in 0..PRINCIPALS {
        let principal = samples::principal(n.into());
        let found = journal
            .query(move |rows, log| learning_candidates::of_principal(rows, log, principal))
            .await
            .unwrap();
        // Texts of states that were written before there was learning stay the same.
        if !found.is_empty() {
            all.push(exposed(&found, |one| one.proposed.text.expose().clone()));
        }
    }
}
