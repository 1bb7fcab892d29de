//! One model request at a time: which attempt is open, what its turn has tried so far, and whom to ask next.
//!
//! Owns the place in the chain of models and how much of the conversation the next request may hold. Whether an
//! attempt may follow another is decided elsewhere; this remembers.

use std::time::Duration;

use palyra_types::event::{
    AbandonCause, ModelEvent, ModelMessage, ModelRequested, NextAttempt, RunEvent, TapeEvent,
};
use palyra_types::model::{BYTES_PER_TOKEN_ESTIMATED, ModelRef, TokenUsage, UsageSource};
use palyra_types::{Attempt, Redacted, TapeSeq, Timestamp};

/// Restarts that may catch the model requests of one turn shortly after they were made; with the last of them the run
/// waits for a person, because the request itself may be what ends the daemon.
pub const SOON_RESTARTS_MAX: u32 = 5;

/// A restart counts as one shortly after a request up to this time.
pub const SOON_RESTART_SPAN: Duration = Duration::from_secs(60);

/// Restarts that may catch the model requests of one turn, however late.
pub const RESTARTS_MAX: u32 = 20;

/// The open model request of a run, if any, and the counters around it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ModelCall {
    open: Option<OpenAttempt>,
    last_attempt: Attempt,
    turn: u32,
    tried: TurnAttempts,
    chain: Redacted<Vec<ModelRef>>,
    place: usize,
    /// The place of the model that was asked last.
    asked_place: usize,
    tokens_wished: Option<u64>,
    retry: Option<Retry>,
}

/// An attempt that has no answer yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenAttempt {
    /// Its number.
    pub attempt: Attempt,
    /// When it was made.
    pub requested: Timestamp,
    /// First entry of its text; zero when it said nothing yet.
    pub text_from: TapeSeq,
    /// Last entry of its text.
    pub text_to: TapeSeq,
    /// Bytes of its text so far.
    pub text_bytes: u64,
    /// Bytes of its reasoning so far.
    pub reasoning_bytes: u64,
    /// Estimated tokens of what it was shown.
    pub context_tokens: u64,
}

impl OpenAttempt {
    /// Estimates what the attempt has written so far, with so many bytes of arguments of calls.
    #[must_use]
    pub fn estimated_usage(&self, argument_bytes: u64) -> TokenUsage {
        let reasoning_tokens = self.reasoning_bytes.div_ceil(BYTES_PER_TOKEN_ESTIMATED);
        let said_tokens = (self.text_bytes + argument_bytes).div_ceil(BYTES_PER_TOKEN_ESTIMATED);
        TokenUsage {
            input_tokens: self.context_tokens,
            output_tokens: said_tokens + reasoning_tokens,
            reasoning_tokens,
            source: UsageSource::Estimated,
            ..TokenUsage::default()
        }
    }
}

/// What the current turn has tried; all zero once it has its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TurnAttempts {
    /// Requests.
    pub attempts: u32,
    /// Of them, caught by a restart.
    pub restarts: u32,
    /// What the restarts since a person looked at the run tell.
    pub restart_counts: RestartCounts,
    /// Repetitions with the model that is asked now.
    pub repeats: u32,
    /// Repetitions after words were shown.
    pub repeats_after_text: u32,
    /// Repetitions with less of the conversation.
    pub shortenings: u32,
    /// Whether any attempt of the turn said something.
    pub words: WordsShown,
    /// The size in estimated tokens that the next request must stay below.
    pub shorter_than: Option<u64>,
}

impl TurnAttempts {
    /// Returns how many requests of the turn count for its limit: a restart is no failure of a model.
    #[must_use]
    pub fn counted_attempts(&self) -> u32 {
        self.attempts - self.restarts
    }
}

/// Restarts that caught model requests of one turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RestartCounts {
    /// All of them.
    pub all: u32,
    /// Those within [`SOON_RESTART_SPAN`] of the request.
    pub soon: u32,
}

impl RestartCounts {
    /// Returns how many there were, once they are so many that a person has to look at the run.
    #[must_use]
    pub fn verdict(self) -> Option<u32> {
        (self.soon >= SOON_RESTARTS_MAX || self.all >= RESTARTS_MAX).then_some(self.all)
    }

    fn count(&mut self, span: Duration) {
        self.all += 1;
        self.soon += u32::from(span <= SOON_RESTART_SPAN);
    }
}

/// Whether words of a turn were shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WordsShown {
    /// Nobody read any.
    #[default]
    None,
    /// Some are on the tape.
    Shown,
}

/// A pause before the same model is asked again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retry {
    /// The attempt that failed.
    pub after: Attempt,
    /// When the pause is over.
    pub at: Timestamp,
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

    /// Returns the turn that the next attempt serves; meaningful while none is open.
    #[must_use]
    pub fn next_turn(&self) -> u32 {
        if self.tried.attempts > 0 { self.turn } else { self.turn + 1 }
    }

    /// Returns what the current turn has tried.
    #[must_use]
    pub fn tried(&self) -> TurnAttempts {
        self.tried
    }

    /// Returns the pause that the run is in.
    #[must_use]
    pub fn retry(&self) -> Option<Retry> {
        self.retry
    }

    /// Returns the model to ask; `None` when the run names none.
    #[must_use]
    pub fn model(&self) -> Option<&ModelRef> {
        self.chain.expose().get(self.place)
    }

    /// Returns whether another model may be asked after this one.
    #[must_use]
    pub fn has_next_model(&self) -> bool {
        self.place + 1 < self.chain.expose().len()
    }

    /// Returns who may be asked when the run does not fit the window of [`model`](Self::model), in order: nobody
    /// once words of the turn were shown.
    #[must_use]
    pub fn instead(&self) -> &[ModelRef] {
        match self.tried.words {
            WordsShown::None => self.chain.expose().get(self.place + 1..).unwrap_or_default(),
            WordsShown::Shown => &[],
        }
    }

    /// Returns whether a request may go to this model.
    #[must_use]
    pub fn may_ask(&self, model: &ModelRef) -> bool {
        self.model().is_none_or(|wanted| wanted == model) || self.instead().contains(model)
    }

    /// Returns whether a request to this model goes to another one than the request before it: then how many models
    /// in between are passed over, because their window is too small.
    #[must_use]
    pub fn switch_to(&self, model: &ModelRef) -> Option<usize> {
        let wanted = self.model()?;
        let passed_over = if wanted == model {
            0
        } else {
            1 + self.instead().iter().position(|instead| instead == model)?
        };
        (self.place + passed_over > self.asked_place).then_some(passed_over)
    }

    /// Returns how many estimated tokens the next request should hold at most; `None` for the model's window.
    #[must_use]
    pub fn token_target(&self) -> Option<u64> {
        self.tokens_wished
    }

    pub(crate) fn evolve(&mut self, event: &TapeEvent, tape_seq: TapeSeq, time: Timestamp) {
        match event {
            TapeEvent::Run(RunEvent::Started(started)) => {
                let first = started.model.expose().iter();
                let chain = first.chain(started.fallbacks.expose()).cloned();
                self.chain = chain.collect::<Vec<_>>().into();
            }
            TapeEvent::Model(ModelEvent::Requested(requested)) => self.request(requested, time),
            TapeEvent::Model(ModelEvent::Text { attempt, text }) => {
                self.tried.words = WordsShown::Shown;
                if let Some(open) = self.open.as_mut().filter(|open| open.attempt == *attempt) {
                    if open.text_from == TapeSeq::default() {
                        open.text_from = tape_seq;
                    }
                    open.text_to = tape_seq;
                    open.text_bytes += text.expose().len() as u64;
                }
            }
            TapeEvent::Model(ModelEvent::Reasoning { attempt, text }) => {
                if let Some(open) = self.open.as_mut().filter(|open| open.attempt == *attempt) {
                    open.reasoning_bytes += text.expose().len() as u64;
                }
            }
            TapeEvent::Model(ModelEvent::Message(ModelMessage { .. })) => {
                self.open = None;
                self.tried = TurnAttempts::default();
            }
            TapeEvent::Model(ModelEvent::AttemptAbandoned { attempt, cause, next, retry_at, .. }) => {
                if let (AbandonCause::Restart, Some(open)) = (cause, self.open) {
                    self.tried.restarts += 1;
                    self.tried.restart_counts.count(time.since(open.requested));
                }
                self.turn_to(*next);
                self.open = None;
                self.retry = retry_at.map(|at| Retry { after: *attempt, at });
            }
            // A pause is over too: the person who lets the run go on ends it, or the calls of an input's references
            // begin at its end.
            TapeEvent::Run(
                RunEvent::Held { .. } | RunEvent::ReferencesExpanded(_) | RunEvent::BudgetReached { .. },
            ) => self.retry = None,
            TapeEvent::Run(RunEvent::LoopDetected { .. }) => {
                self.tried.restart_counts = RestartCounts::default();
            }
            // The request that follows a switch says where the run is in its chain: tapes of older versions have no
            // switches.
            TapeEvent::Model(ModelEvent::Switched { .. })
            | TapeEvent::Run(_)
            | TapeEvent::Tool(_)
            | TapeEvent::Approval(_)
            | TapeEvent::Unknown { .. } => {}
        }
    }

    fn request(&mut self, requested: &ModelRequested, time: Timestamp) {
        if let Some(asked) = requested.model.expose() {
            self.pass_over_to(asked);
        }
        self.asked_place = self.place;
        self.turn = requested.turn;
        self.last_attempt = requested.attempt;
        self.retry = None;
        self.tried.attempts += 1;
        self.tried.shorter_than = None;
        self.open = Some(OpenAttempt {
            attempt: requested.attempt,
            requested: time,
            text_from: TapeSeq::default(),
            text_to: TapeSeq::default(),
            text_bytes: 0,
            reasoning_bytes: 0,
            context_tokens: requested.context.tokens_estimated,
        });
    }

    /// Follows a request past models whose window the run does not fit.
    fn pass_over_to(&mut self, asked: &ModelRef) {
        if self.model().is_some_and(|model| model == asked) {
            return;
        }
        if let Some(passed) = self.instead().iter().position(|model| model == asked) {
            self.move_on(passed + 1);
        }
    }

    fn move_on(&mut self, places: usize) {
        self.place += places;
        self.tried.repeats = 0;
        // What was too much for one model need not be for another.
        self.tokens_wished = None;
    }

    fn turn_to(&mut self, next: NextAttempt) {
        let after_text = u32::from(self.tried.words == WordsShown::Shown);
        match next {
            NextAttempt::None => {}
            NextAttempt::SameModel => {
                self.tried.repeats += 1;
                self.tried.repeats_after_text += after_text;
            }
            NextAttempt::NextModel => self.move_on(1),
            NextAttempt::ShorterContext => {
                let sent = self.open.map_or(0, |open| open.context_tokens);
                self.tried.shortenings += 1;
                self.tried.repeats_after_text += after_text;
                self.tried.shorter_than = Some(sent);
                self.tokens_wished = Some(sent / 2);
            }
        }
    }
}
