//! From the tape of a run to what an OpenAI client sees of it: text, and one end.
//!
//! Owns which words are shown. Calls of tools, their names, their results and every other entry stay inside. The words of
//! each turn are one item of text; those after the first begin with an empty line, so that joined items read well.
//!
//! Words that were shown cannot be taken back. Where an attempt is abandoned and the next one begins with the same words,
//! the item goes on behind them; where it says something else, the item is closed as superseded and another one follows.
//! A run that has to answer by a schema shows its final answer alone, and only once it is complete.
//!
//! Invariant: the steps are a pure function of the entries, and those of a part of a tape are the beginning of those of
//! the whole. Begin at [`AnswerReader::read`].

use std::time::Duration;

use palyra_types::event::{ModelEvent, RunEvent, RunFinished, TapeEvent};
use palyra_types::model::{FinishReason, TokenUsage};
use palyra_types::run::TerminationReason;
use palyra_types::tape::OrchestratorTapeRecord;
use palyra_types::{Attempt, ErrorCode, Timestamp};

/// Between two items of text.
const ITEM_SEPARATOR: &str = "\n\n";

/// What a client sees next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnswerStep {
    /// The run was accepted.
    Accepted {
        /// When.
        created: Timestamp,
    },
    /// The run began to work.
    Started,
    /// An item of text begins; items are numbered from 0.
    ItemOpened {
        /// Which.
        item: u32,
    },
    /// The open item goes on.
    TextAdded {
        /// Which.
        item: u32,
        /// The words; never empty.
        text: String,
    },
    /// The open item is complete.
    ItemClosed {
        /// Which.
        item: u32,
        /// All its words.
        text: String,
        /// Whether they count.
        state: ItemState,
    },
    /// The run is over; nothing follows.
    Ended(AnswerEnd),
}

/// Whether the words of a closed item count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ItemState {
    /// The model said them to their end.
    Complete,
    /// The attempt that said them was abandoned.
    Superseded,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerEnd {
    /// How.
    pub outcome: AnswerOutcome,
    /// Tokens used by all its requests.
    pub usage: TokenUsage,
}

/// The ways in which a run ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnswerOutcome {
    /// The answer is whole.
    Complete,
    /// The answer was cut off at a limit of tokens.
    Length,
    /// A filter of the provider cut the answer off.
    ContentFilter,
    /// The run was cancelled.
    Cancelled,
    /// The run failed.
    Failed {
        /// Why.
        code: ErrorCode,
        /// The last pause that the provider asked for.
        pause: Option<Duration>,
    },
}

/// When words are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum TextTiming {
    /// As they are said.
    #[default]
    Live,
    /// When a final answer is complete.
    FinalAnswer,
}

/// The item that is open, with the words of the attempt that it shows.
#[derive(Debug)]
struct OpenItem {
    item: u32,
    shown: String,
}

/// Reads a tape, entry by entry.
#[derive(Debug, Default)]
pub struct AnswerReader {
    timing: TextTiming,
    begun: bool,
    items: u32,
    open: Option<OpenItem>,
    attempt: Option<Attempt>,
    said: String,
    cut_off: bool,
    pause: Option<Duration>,
}

impl AnswerReader {
    /// Makes a reader that has seen nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next entry; returns what a client sees of it.
    pub fn read(&mut self, entry: &OrchestratorTapeRecord) -> Vec<AnswerStep> {
        let mut steps = Vec::new();
        match &entry.event {
            TapeEvent::Run(RunEvent::Started(started)) => {
                if started.response_format.is_some() {
                    self.timing = TextTiming::FinalAnswer;
                }
                steps.push(AnswerStep::Accepted { created: entry.time });
            }
            TapeEvent::Run(RunEvent::Finished(finished)) => self.finish(finished, &mut steps),
            TapeEvent::Run(_) | TapeEvent::Tool(_) | TapeEvent::Approval(_) | TapeEvent::Unknown { .. } => {}
            TapeEvent::Model(event) => self.model_event(entry.time, event, &mut steps),
        }
        steps
    }

    fn model_event(&mut self, time: Timestamp, event: &ModelEvent, steps: &mut Vec<AnswerStep>) {
        match event {
            ModelEvent::Requested(_) if !self.begun => {
                self.begun = true;
                steps.push(AnswerStep::Started);
            }
            ModelEvent::Text { attempt, text } => {
                self.begin_attempt(*attempt);
                self.said.push_str(text.expose());
                if self.timing == TextTiming::Live {
                    self.show(steps);
                }
            }
            ModelEvent::Message(message) => {
                self.begin_attempt(message.attempt);
                self.cut_off = message.finish == FinishReason::Length;
                self.complete(message.proposals, steps);
            }
            ModelEvent::AttemptAbandoned { retry_at, .. } => {
                self.pause = retry_at.map(|at| at.since(time));
            }
            ModelEvent::Requested(_) | ModelEvent::Reasoning { .. } | ModelEvent::Switched { .. } => {}
        }
    }

    fn begin_attempt(&mut self, attempt: Attempt) {
        if self.attempt != Some(attempt) {
            self.attempt = Some(attempt);
            self.said.clear();
        }
    }

    /// Shows what the attempt has said beyond what is shown.
    fn show(&mut self, steps: &mut Vec<AnswerStep>) {
        let shown = self.open.as_ref().map_or("", |open| open.shown.as_str());
        if shown.starts_with(&self.said) {
            return;
        }
        if !self.said.starts_with(shown) {
            self.close(ItemState::Superseded, steps);
        }
        let open = self.open.take().unwrap_or_else(|| self.open_item(steps));
        let text = self.said.get(open.shown.len()..).unwrap_or_default();
        let separator = if open.shown.is_empty() { separator(open.item) } else { "" };
        steps.push(AnswerStep::TextAdded { item: open.item, text: format!("{separator}{text}") });
        self.open = Some(OpenItem { item: open.item, shown: self.said.clone() });
    }

    fn open_item(&mut self, steps: &mut Vec<AnswerStep>) -> OpenItem {
        let item = self.items;
        self.items = self.items.saturating_add(1);
        steps.push(AnswerStep::ItemOpened { item });
        OpenItem { item, shown: String::new() }
    }

    /// Closes the words of an attempt that was not abandoned.
    fn complete(&mut self, proposals: u32, steps: &mut Vec<AnswerStep>) {
        if self.timing == TextTiming::FinalAnswer && proposals > 0 {
            self.said.clear();
            return;
        }
        if self.open.as_ref().is_some_and(|open| open.shown != self.said) {
            self.close(ItemState::Superseded, steps);
        }
        self.show(steps);
        self.close(ItemState::Complete, steps);
        self.said.clear();
    }

    fn close(&mut self, state: ItemState, steps: &mut Vec<AnswerStep>) {
        if let Some(OpenItem { item, shown }) = self.open.take() {
            let text = format!("{}{shown}", separator(item));
            steps.push(AnswerStep::ItemClosed { item, text, state });
        }
    }

    fn finish(&mut self, finished: &RunFinished, steps: &mut Vec<AnswerStep>) {
        self.close(ItemState::Superseded, steps);
        let code = finished.error.unwrap_or(ErrorCode::Internal);
        let outcome = match finished.reason {
            TerminationReason::FinalAnswer | TerminationReason::TurnLimit if self.cut_off => {
                AnswerOutcome::Length
            }
            TerminationReason::FinalAnswer => AnswerOutcome::Complete,
            TerminationReason::ContentPolicy => AnswerOutcome::ContentFilter,
            TerminationReason::Cancelled | TerminationReason::Interrupted => AnswerOutcome::Cancelled,
            TerminationReason::TimeLimit
            | TerminationReason::TurnLimit
            | TerminationReason::ToolLimit
            | TerminationReason::ProviderError
            | TerminationReason::ContextExhausted
            | TerminationReason::LoopStopped
            | TerminationReason::InternalError => AnswerOutcome::Failed { code, pause: self.pause },
        };
        steps.push(AnswerStep::Ended(AnswerEnd { outcome, usage: finished.usage }));
    }
}

fn separator(item: u32) -> &'static str {
    if item == 0 { "" } else { ITEM_SEPARATOR }
}

#[cfg(test)]
pub(crate) mod tests;
