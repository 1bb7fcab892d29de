//! From the tape of a run to what an OpenAI client sees of it: text, and one end.
//!
//! Owns which words are shown. Calls of tools, their names, their results and every other entry stay inside. The words of
//! each turn are one item of text; those after the first begin with an empty line, so that joined items read well.
//!
//! Words that were shown cannot be taken back. Where an attempt is abandoned and the next one begins with the same words,
//! the item goes on behind them; where it says something else, the item is closed as superseded and another one follows.
//! A run that has to answer by a schema shows its final answer alone, and only once it is complete.
//!
//! Where the client performs functions, a run has several parts: each is an answer of its own, and ends with the calls
//! that the client is to perform, or with the run.
//!
//! Invariant: the steps are a pure function of the entries, and those of a part of a tape are the beginning of those of
//! the whole. Begin at [`AnswerReader::read`].

use std::time::Duration;

use palyra_types::client_tool::{ClientCallId, ClientToolsCalled};
use palyra_types::event::{ModelEvent, ModelMessage, RunEvent, RunFinished, TapeEvent};
use palyra_types::model::{FinishReason, TokenUsage};
use palyra_types::run::TerminationReason;
use palyra_types::tape::OrchestratorTapeRecord;
use palyra_types::{Attempt, ErrorCode, RunId, Timestamp};

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
    /// A function of the client is called: an item of its own.
    FunctionCalled {
        /// Which item.
        item: u32,
        /// Which call.
        call: FunctionCall,
    },
    /// The answer is over; nothing follows.
    Ended(AnswerEnd),
}

/// A call that the client is to perform.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FunctionCall {
    /// Names it.
    pub id: ClientCallId,
    /// Its place among the calls of the answer, from 0.
    pub index: u32,
    /// The function.
    pub name: String,
    /// The arguments, as the model wrote them.
    pub arguments: String,
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
    /// Tokens used by all requests of the answer.
    pub usage: TokenUsage,
}

/// The ways in which a run ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnswerOutcome {
    /// The answer is whole.
    Complete,
    /// The client is to perform functions.
    FunctionCalls,
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

/// Reads one part of a tape, entry by entry.
#[derive(Debug, Default)]
pub struct AnswerReader {
    /// The part that is read, and the one that the tape has reached.
    wanted: u32,
    reached: u32,
    over: bool,
    used: Option<TokenUsage>,
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
    /// Makes a reader of a part; the first one is 0.
    #[must_use]
    pub fn new(part: u32) -> Self {
        Self { wanted: part, ..Self::default() }
    }

    /// Reads the next part from here on.
    pub fn go_on(&mut self) {
        *self = Self {
            wanted: self.wanted.saturating_add(1),
            reached: self.reached,
            timing: self.timing,
            ..Self::default()
        };
    }

    /// Takes the next entry; returns what a client sees of it.
    pub fn read(&mut self, entry: &OrchestratorTapeRecord) -> Vec<AnswerStep> {
        let mut steps = Vec::new();
        if let TapeEvent::Run(RunEvent::Started(started)) = &entry.event
            && started.response_format.is_some()
        {
            self.timing = TextTiming::FinalAnswer;
        }
        let begins =
            matches!(entry.event, TapeEvent::Run(RunEvent::Started(_) | RunEvent::ClientToolsAnswered(_)));
        if matches!(entry.event, TapeEvent::Run(RunEvent::ClientToolsAnswered(_))) {
            self.reached = self.reached.saturating_add(1);
        }
        if self.over || self.reached != self.wanted {
            return steps;
        }
        if begins {
            steps.push(AnswerStep::Accepted { created: entry.time });
        }
        match &entry.event {
            TapeEvent::Run(RunEvent::Finished(finished)) => self.finish(finished, &mut steps),
            TapeEvent::Run(RunEvent::ClientToolsCalled(called)) => self.call(entry.run, called, &mut steps),
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
                self.use_tokens(message);
                self.complete(message.proposals, steps);
            }
            ModelEvent::AttemptAbandoned { retry_at, .. } => {
                self.pause = retry_at.map(|at| at.since(time));
            }
            ModelEvent::Requested(_) | ModelEvent::Reasoning { .. } | ModelEvent::Switched { .. } => {}
        }
    }

    fn use_tokens(&mut self, message: &ModelMessage) {
        self.used = Some(self.used.map_or(message.usage, |used| used.plus(message.usage)));
    }

    /// Ends the answer with calls.
    fn call(&mut self, run: RunId, called: &ClientToolsCalled, steps: &mut Vec<AnswerStep>) {
        for ((number, call), index) in called.span.numbers().zip(&called.calls).zip(0..) {
            let item = self.items;
            self.items = self.items.saturating_add(1);
            let call = FunctionCall {
                id: ClientCallId { run, number },
                index,
                name: call.name.expose().clone(),
                arguments: call.arguments.expose().clone(),
            };
            steps.push(AnswerStep::FunctionCalled { item, call });
        }
        self.over = true;
        let usage = self.used.unwrap_or_default();
        steps.push(AnswerStep::Ended(AnswerEnd { outcome: AnswerOutcome::FunctionCalls, usage }));
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
            | TerminationReason::InternalError
            | TerminationReason::OverBudget => AnswerOutcome::Failed { code, pause: self.pause },
        };
        self.over = true;
        // The run counts all of its parts.
        let usage = if self.wanted == 0 { finished.usage } else { self.used.unwrap_or_default() };
        steps.push(AnswerStep::Ended(AnswerEnd { outcome, usage }));
    }
}

fn separator(item: u32) -> &'static str {
    if item == 0 { "" } else { ITEM_SEPARATOR }
}

#[cfg(test)]
pub(crate) mod tests;
