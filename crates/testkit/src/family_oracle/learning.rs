//! What was learned by a naive fold: a list that is searched from its beginning.

use palyra_types::CandidateId;
use palyra_types::learning::{CandidateRecord, CandidateState, LearningEvent};
use palyra_types::tape::JournalEventRecord;

pub(super) fn fold(known: &mut Vec<CandidateRecord>, entry: &JournalEventRecord, event: &LearningEvent) {
    let own = |one: &CandidateRecord, id: CandidateId| {
        one.principal == entry.principal && one.proposed.candidate == id
    };
    match event {
        LearningEvent::Proposed(proposed) => {
            if known.iter().any(|one| own(one, proposed.candidate)) {
                return;
            }
            for one in known.iter_mut() {
                let is_older = proposed.supersedes.is_some_and(|older| own(one, older));
                if is_older && (one.state.is_open() || one.state.is_in_use()) {
                    one.state = CandidateState::Superseded;
                    one.updated = entry.time;
                }
            }
            known.push(CandidateRecord {
                proposed: (**proposed).clone(),
                state: proposed.state,
                memory: proposed.memory,
                principal: entry.principal,
                session: entry.session,
                seq: entry.seq,
                created: entry.time,
                updated: entry.time,
            });
        }
        LearningEvent::Changed(changed) => {
            for one in known.iter_mut().filter(|one| own(one, changed.candidate)) {
                one.state = changed.state;
                one.memory = changed.memory;
                one.updated = entry.time;
                if changed.state == CandidateState::Edited {
                    one.proposed.text = changed.text.clone();
                }
            }
        }
    }
}
