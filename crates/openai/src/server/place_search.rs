//! Where in the caller's sessions a conversation goes on.
//!
//! The longest beginning of a conversation that a run answered with the same words is its place. Nothing is guessed: the
//! words of the answer are compared with what the run said. Begin at [`find_place`].

use palyra_runtime::{Caller, GatewayRuntimeState, RequestError};
use palyra_types::run::{RunPhase, WaitReason};
use palyra_types::{RunId, SessionId};

use super::request_slots::RequestSlots;
use super::run_texts::last_text_items;
use crate::conversation::{AnsweredTurn, ClientConversation, same_words};

/// Runs with the same words that are compared, at most, the latest first.
const COMPARED_MAX: u32 = 8;

/// A run and its session.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PlacedRun {
    pub(crate) run: RunId,
    pub(crate) session: SessionId,
}

/// Where a conversation goes on.
#[derive(Debug)]
pub(crate) enum ConversationPlace {
    /// Nowhere: a session begins.
    New,
    /// After a run that answered the first `known` messages.
    After {
        /// The run.
        run: PlacedRun,
        /// Messages that its session has.
        known: usize,
        /// Whether the client has its answer.
        seen: AnswerSeen,
    },
    /// At a run that waits for a person: the client saw a sentence in place of its answer.
    Waiting {
        /// The run.
        run: PlacedRun,
        /// Messages that its session has.
        known: usize,
        /// What it waits for.
        reason: WaitReason,
    },
}

/// Whether a client has the answer of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AnswerSeen {
    /// It has.
    Yes,
    /// It has a sentence in its place: the run waited for a person then.
    No,
}

/// Finds the place of a conversation with a model.
pub(crate) async fn find_place(
    state: &GatewayRuntimeState,
    caller: Caller,
    conversation: &ClientConversation,
    model: &str,
) -> Result<ConversationPlace, RequestError> {
    for turn in conversation.turns() {
        let slots = RequestSlots::new(&conversation.digest(model, turn.asked));
        let count = slots.count(&state.runs, caller).await?;
        for number in (count.saturating_sub(COMPARED_MAX)..count).rev() {
            let Some(run) = slots.run(&state.runs, caller, number).await? else { continue };
            if let Some(place) = place_at(state, caller, run, &turn).await? {
                return Ok(place);
            }
        }
    }
    Ok(ConversationPlace::New)
}

async fn place_at(
    state: &GatewayRuntimeState,
    caller: Caller,
    run: RunId,
    turn: &AnsweredTurn,
) -> Result<Option<ConversationPlace>, RequestError> {
    let record = state.runs.get(caller, run).await?;
    let placed = PlacedRun { run, session: record.session };
    match record.phase {
        RunPhase::Waiting(reason) if turn.answer.contains(&run.to_string()) => {
            Ok(Some(ConversationPlace::Waiting { run: placed, known: turn.answered, reason }))
        }
        RunPhase::Finished => {
            let said = last_text_items(&state.tapes, caller, run).await?.concat();
            let seen = if same_words(&said, &turn.answer) {
                AnswerSeen::Yes
            } else if turn.answer.contains(&run.to_string()) {
                AnswerSeen::No
            } else {
                return Ok(None);
            };
            Ok(Some(ConversationPlace::After { run: placed, known: turn.answered, seen }))
        }
        RunPhase::Waiting(_) | RunPhase::Queued | RunPhase::Running => Ok(None),
    }
}
