//! An answer before a dialect has put it on the wire: what is said, thought and called, and its oddities.

use super::act::WireAction;
use super::fault::Fault;

/// How a stream goes wrong behind its first half.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tear {
    /// The connection closes inside an event.
    MidFrame,
    /// The body ends properly, but there is no finish reason.
    CleanEnd,
    /// Nothing more comes.
    Silence,
}

/// Why a model stops; each dialect has its own word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// It is done.
    EndTurn,
    /// It reached the cap on the answer.
    MaxTokens,
    /// The model's window is full.
    ContextWindow,
    /// It wants tools.
    ToolUse,
    /// It came to a stop sequence of the request.
    StopSequence,
    /// A policy of the vendor stopped it.
    Refusal,
    /// It paused a long turn and wants to be asked on.
    PauseTurn,
}

/// What an answer used, as the vendor counts it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tokens {
    /// Tokens read, cached ones included.
    pub input: u64,
    /// Of those, read from the cache.
    pub cached: u64,
    /// Of those, written to the cache.
    pub cache_written: u64,
    /// Tokens written, reasoning included.
    pub output: u64,
    /// Of those, reasoning.
    pub reasoning: u64,
}

/// The answer.
#[derive(Debug, Clone, Default)]
pub(super) struct Answer {
    pub(super) parts: Vec<Part>,
    pub(super) calls: Vec<(String, String)>,
    pub(super) stop: Option<StopWord>,
    pub(super) trouble: Option<AnswerFault>,
    pub(super) quirks: Vec<AnswerQuirk>,
    pub(super) tokens: Option<Tokens>,
}

/// One piece of an answer.
#[derive(Debug, Clone)]
pub(super) enum Part {
    Text(String),
    Thought(String),
    /// Thought that only the vendor can read.
    Redacted(String),
    Wait(WireAction),
}

/// Why it stops: a meaning, or a word as it is to appear on the wire.
#[derive(Debug, Clone)]
pub(super) enum StopWord {
    Meaning(Stop),
    Literal(String),
}

/// What happens behind the pieces, in place of a proper end.
#[derive(Debug, Clone, Copy)]
pub(super) enum AnswerFault {
    Torn(Tear),
    Fails(Fault),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AnswerQuirk {
    NoDone,
    UnknownFields,
    Twice,
    NoUsage,
    EventsDoubled,
}

impl Answer {
    pub(super) fn has(&self, quirk: AnswerQuirk) -> bool {
        self.quirks.contains(&quirk)
    }

    /// Returns how often the answer is told.
    pub(super) fn times(&self) -> usize {
        let again =
            self.has(AnswerQuirk::Twice) || matches!(self.trouble, Some(AnswerFault::Fails(Fault::Twice)));
        if again { 2 } else { 1 }
    }

    /// Returns what happens in place of a proper end, if anything.
    pub(super) fn breaks(&self) -> Option<AnswerFault> {
        self.trouble.filter(|trouble| !matches!(trouble, AnswerFault::Fails(Fault::Twice)))
    }

    /// Returns why it stops, where a meaning was given or follows from the calls.
    pub(super) fn meaning(&self) -> Stop {
        match (&self.stop, self.calls.is_empty()) {
            (Some(StopWord::Meaning(stop)), _) => *stop,
            (_, true) => Stop::EndTurn,
            (_, false) => Stop::ToolUse,
        }
    }

    /// Returns the word for why it stops.
    pub(super) fn word(&self, of: fn(Stop) -> &'static str) -> &str {
        match &self.stop {
            Some(StopWord::Literal(word)) => word,
            _ => of(self.meaning()),
        }
    }

    pub(super) fn text(&self) -> String {
        let said = self.parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            Part::Thought(_) | Part::Redacted(_) | Part::Wait(_) => None,
        });
        said.collect()
    }

    pub(super) fn thought(&self) -> String {
        let thought = self.parts.iter().filter_map(|part| match part {
            Part::Thought(text) => Some(text.as_str()),
            Part::Text(_) | Part::Redacted(_) | Part::Wait(_) => None,
        });
        thought.collect()
    }

    /// Returns the waits among the pieces, for a reply that comes in one piece.
    pub(super) fn waits(&self) -> Vec<WireAction> {
        let waits = self.parts.iter().filter_map(|part| match part {
            Part::Wait(act) => Some(act.clone()),
            Part::Text(_) | Part::Thought(_) | Part::Redacted(_) => None,
        });
        waits.collect()
    }

    /// Returns what it used: as told, or four bytes a token.
    pub(super) fn used(&self, input_bytes: usize) -> Tokens {
        let count = |bytes: usize| bytes.div_ceil(4) as u64;
        self.tokens.unwrap_or_else(|| {
            let reasoning = count(self.thought().len());
            let output = count(self.text().len()) + reasoning;
            Tokens { input: count(input_bytes), output, reasoning, ..Tokens::default() }
        })
    }
}
