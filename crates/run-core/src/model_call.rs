//! One model request at a time: which attempt is open, and where its text lies on the tape.

use palyra_types::event::{AbandonCause, ModelMessage, TapeEvent};
use palyra_types::{Attempt, TapeSeq};

/// A model request caught by a restart is asked again at most so often.
pub const RESTART_REPEATS_MAX: u32 = 2;

/// The open model request of a run, if any, and the counters around it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ModelCall {
    open: Option<OpenAttempt>,
    last_attempt: Attempt,
    turn: u32,
    restarts_in_turn: u32,
}

/// An attempt that has no answer yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenAttempt {
    /// Its number.
    pub attempt: Attempt,
    /// First entry of its text; zero when it said nothing yet.
    pub text_from: TapeSeq,
    /// Last entry of its text.
    pub text_to: TapeSeq,
    /// Bytes of its text so far.
    pub text_bytes: u64,
    /// Estimated tokens of what it was shown.
    pub context_tokens: u64,
}

impl ModelCall {
    /// Returns the open attempt.
    #[must_use]
    pub fn open(&self) -> Option<OpenAttempt> {
        self.open
    }

    /// Returns whether `attempt` is the open one.
    #[must_use]
    pub fn is_open(&self, attempt: Attempt) -> bool {
        self.open.is_some_and(|open| open.attempt == attempt)
    }

    /// Returns the number of the next attempt.
    #[must_use]
    pub fn next_attempt(&self) -> Attempt {
        self.last_attempt.next()
    }

    /// Returns the turn that the next attempt serves.
    #[must_use]
    pub fn next_turn(&self) -> u32 {
        if self.restarts_in_turn > 0 { self.turn } else { self.turn + 1 }
    }

    /// Returns whether the current turn may be asked again after a restart.
    #[must_use]
    pub fn may_repeat(&self) -> bool {
        self.restarts_in_turn < RESTART_REPEATS_MAX
    }

    pub(crate) fn evolve(&mut self, event: &TapeEvent, tape_seq: TapeSeq) {
        match event {
            TapeEvent::ModelRequested(requested) => {
                self.turn = requested.turn;
                self.last_attempt = requested.attempt;
                self.open = Some(OpenAttempt {
                    attempt: requested.attempt,
                    text_from: TapeSeq::default(),
                    text_to: TapeSeq::default(),
                    text_bytes: 0,
                    context_tokens: requested.context.tokens_estimated,
                });
            }
            TapeEvent::ModelText { attempt, text } => {
                if let Some(open) = self.open.as_mut().filter(|open| open.attempt == *attempt) {
                    if open.text_from == TapeSeq::default() {
                        open.text_from = tape_seq;
                    }
                    open.text_to = tape_seq;
                    open.text_bytes += text.expose().len() as u64;
                }
            }
            TapeEvent::ModelMessage(ModelMessage { .. }) => {
                self.open = None;
                self.restarts_in_turn = 0;
            }
            TapeEvent::ModelAttemptAbandoned { cause, .. } => {
                self.open = None;
                if *cause == AbandonCause::Restart {
                    self.restarts_in_turn += 1;
                }
            }
            TapeEvent::RunStarted(_)
            | TapeEvent::ModelReasoning { .. }
            | TapeEvent::InputReceived { .. }
            | TapeEvent::ToolProposed(_)
            | TapeEvent::ToolDecided(_)
            | TapeEvent::ToolStarted { .. }
            | TapeEvent::ToolFinished(_)
            | TapeEvent::ToolOutcomeUnknown { .. }
            | TapeEvent::LoopDetected { .. }
            | TapeEvent::CancelRequested { .. }
            | TapeEvent::RunFinished(_)
            | TapeEvent::Unknown { .. } => {}
        }
    }
}
