//! Which states of a candidate follow each other.

use palyra_types::learning::CandidateState;

/// What a person decides about a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ReviewAct {
    /// Use it.
    Accept,
    /// Do not use it, and do not propose it again.
    Reject,
    /// Use it in other words.
    Edit,
    /// Take it back.
    Undo,
}

/// The state of a candidate does not allow this.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{mend}")]
pub struct WrongState {
    /// What is possible instead.
    pub mend: &'static str,
}

/// Returns the state after a decision; `None` where it is so already.
///
/// # Errors
/// [`WrongState`].
pub fn state_after(state: CandidateState, act: ReviewAct) -> Result<Option<CandidateState>, WrongState> {
    use CandidateState::{Accepted, Applied, Edited, PendingReview, Proposed, Rejected, Superseded, Undone};
    let wrong = |mend| Err(WrongState { mend });
    match (state, act) {
        (Accepted, ReviewAct::Accept) | (Rejected, ReviewAct::Reject) | (Undone, ReviewAct::Undo) => Ok(None),
        (Superseded, _) => wrong("another one took its place; decide about that one"),
        (_, ReviewAct::Accept) => Ok(Some(Accepted)),
        (_, ReviewAct::Edit) => Ok(Some(Edited)),
        (Proposed | PendingReview | Undone, ReviewAct::Reject) => Ok(Some(Rejected)),
        (Applied | Accepted | Edited, ReviewAct::Reject) => wrong("it is in use; undo it instead"),
        (Applied | Accepted | Edited, ReviewAct::Undo) => Ok(Some(Undone)),
        (Proposed | PendingReview | Rejected, ReviewAct::Undo) => {
            wrong("it is not in use, so there is nothing to undo; reject it instead")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ACTS: [ReviewAct; 4] = [ReviewAct::Accept, ReviewAct::Reject, ReviewAct::Edit, ReviewAct::Undo];

    #[test]
    fn every_decision_has_one_answer() {
        use CandidateState::{Accepted, Edited, Rejected, Undone};
        let expected = |state: CandidateState| match state {
            CandidateState::Proposed | CandidateState::PendingReview => {
                [Some(Accepted), Some(Rejected), Some(Edited), None]
            }
            CandidateState::Applied | CandidateState::Edited => {
                [Some(Accepted), None, Some(Edited), Some(Undone)]
            }
            CandidateState::Accepted => [Some(Accepted), None, Some(Edited), Some(Undone)],
            CandidateState::Rejected => [Some(Accepted), Some(Rejected), Some(Edited), None],
            CandidateState::Undone => [Some(Accepted), Some(Rejected), Some(Edited), Some(Undone)],
            CandidateState::Superseded => [None; 4],
        };
        for state in CandidateState::ALL {
            let found = ACTS.map(|act| state_after(state, act).ok().map(|next| next.unwrap_or(state)));
            assert_eq!(found, expected(state), "{state:?}");
        }
    }

    #[test]
    fn one_undo_ends_the_use() {
        for state in CandidateState::ALL.into_iter().filter(|state| state.is_in_use()) {
            let after = state_after(state, ReviewAct::Undo);
            assert_eq!(after, Ok(Some(CandidateState::Undone)), "{state:?}");
        }
    }
}
