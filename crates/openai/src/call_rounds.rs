//! The parts of a run whose client performs functions: where it called them, and whether the client answered.
//!
//! Pure: a fold over the tape. A part ends with calls, or with the run.

use palyra_types::client_tool::{ClientCallSpan, ClientToolsCalled};
use palyra_types::event::{RunEvent, TapeEvent};
use palyra_types::tape::OrchestratorTapeRecord;

/// Calls of one answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallRound {
    /// The calls.
    pub span: ClientCallSpan,
    /// Whether the client brought their results.
    pub state: RoundState,
}

/// Whether a client brought the results of a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoundState {
    /// They are awaited, or were when the run ended.
    Open,
    /// It did.
    Answered,
}

/// The rounds of a run, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallRounds {
    rounds: Vec<CallRound>,
}

impl CallRounds {
    /// Takes the next entry of the tape.
    pub fn read(&mut self, entry: &OrchestratorTapeRecord) {
        match &entry.event {
            TapeEvent::Run(RunEvent::ClientToolsCalled(ClientToolsCalled { span, .. })) => {
                self.rounds.push(CallRound { span: *span, state: RoundState::Open });
            }
            TapeEvent::Run(RunEvent::ClientToolsAnswered(_)) => {
                if let Some(round) = self.rounds.last_mut() {
                    round.state = RoundState::Answered;
                }
            }
            TapeEvent::Run(_)
            | TapeEvent::Model(_)
            | TapeEvent::Tool(_)
            | TapeEvent::Approval(_)
            | TapeEvent::Unknown { .. } => {}
        }
    }

    /// Returns the round that ends a part of the run; `None` where the part ends with the run, or goes on.
    #[must_use]
    pub fn end_of(&self, part: u32) -> Option<CallRound> {
        self.rounds.get(usize::try_from(part).ok()?).copied()
    }

    /// Returns the part that the run has reached: after each round that is answered another one begins.
    #[must_use]
    pub fn latest_part(&self) -> u32 {
        let answered = self.rounds.iter().filter(|round| round.state == RoundState::Answered).count();
        u32::try_from(answered).unwrap_or(u32::MAX)
    }

    /// Returns the part that a call ends, and its round.
    #[must_use]
    pub fn of_call(&self, number: u32) -> Option<(u32, CallRound)> {
        let found = (0..).zip(&self.rounds).find(|(_, round)| round.span.has(number));
        found.map(|(part, round)| (part, *round))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tape_fixture::TapeBuilder;

    #[test]
    fn a_part_ends_with_its_calls() {
        let tape = TapeBuilder::new().asked().called(&["a", "b"]).brought(&["1", "2"]).asked().called(&["c"]);
        let mut rounds = CallRounds::default();
        tape.entries().iter().for_each(|entry| rounds.read(entry));
        let round = |first, count, state| CallRound { span: ClientCallSpan { first, count }, state };
        assert_eq!(rounds.end_of(0), Some(round(1, 2, RoundState::Answered)));
        assert_eq!(rounds.of_call(2), Some((0, round(1, 2, RoundState::Answered))));
        assert_eq!(rounds.of_call(3), Some((1, round(3, 1, RoundState::Open))));
        assert_eq!((rounds.of_call(4), rounds.end_of(2)), (None, None));
        assert_eq!(rounds.latest_part(), 1);
    }
}
