//! Tools of a client: functions that the program which asked for a run performs itself.
//!
//! Owns what such a program offers to the model, and the ids under which it reads calls and returns results. They are
//! not in the catalogue of tools: no policy judges them, no grant exists for them, and they have no effect here.

use std::fmt;
use std::time::Duration;

use crate::{Attempt, Redacted, RunId, Timestamp};

/// A function that the client performs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientTool<T = Redacted<String>> {
    /// Its name.
    pub name: T,
    /// A description for a model; may be empty.
    pub description: T,
    /// JSON Schema of its arguments, as JSON text; always an object.
    pub parameters: T,
    /// Whether the provider has to make the arguments fit the schema; `None` leaves that to the provider.
    pub strict: Option<bool>,
}

/// Which of the offered functions the next answer has to call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ClientToolChoice {
    /// The model chooses.
    #[default]
    Auto,
    /// None.
    None,
    /// One at least.
    Required,
    /// The function of this place in the offer.
    Tool(u32),
}

/// The offer of a client to the model, until the client offers something else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientToolOffer<T = Redacted<String>> {
    /// The functions; empty once erased.
    pub tools: Vec<ClientTool<T>>,
    /// Which of them has to be called.
    pub choice: ClientToolChoice,
    /// Tokens of one answer, at most; `None` leaves that to the limits of the run.
    pub answer_tokens_max: Option<u32>,
    /// How long the results of a call are waited for.
    pub answer_within: Duration,
}

impl ClientToolOffer {
    /// Returns the function that has to be called, if there is one.
    #[must_use]
    pub fn chosen(&self) -> Option<&ClientTool> {
        match self.choice {
            ClientToolChoice::Tool(place) => self.tools.get(usize::try_from(place).ok()?),
            ClientToolChoice::Auto | ClientToolChoice::None | ClientToolChoice::Required => None,
        }
    }

    /// Returns a rough size in bytes of what a model reads of it.
    #[must_use]
    pub fn content_bytes(&self) -> usize {
        let bytes = |tool: &ClientTool| {
            tool.name.expose().len() + tool.description.expose().len() + tool.parameters.expose().len()
        };
        self.tools.iter().map(bytes).sum()
    }
}

/// A call of a function of the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientToolCall {
    /// The function, as the model named it.
    pub name: Redacted<String>,
    /// The arguments, as the model wrote them.
    pub arguments: Redacted<String>,
    /// The model's own id of the call.
    pub model_call: Redacted<String>,
}

/// Numbers of the calls that one answer makes; a run numbers its calls from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ClientCallSpan {
    /// The first call.
    pub first: u32,
    /// How many calls.
    pub count: u32,
}

impl ClientCallSpan {
    /// Returns the number of the call after the last one.
    #[must_use]
    pub fn end(self) -> u32 {
        self.first.saturating_add(self.count)
    }

    /// Returns whether a call is one of these.
    #[must_use]
    pub fn has(self, number: u32) -> bool {
        (self.first..self.end()).contains(&number)
    }

    /// Returns the numbers in order.
    pub fn numbers(self) -> impl Iterator<Item = u32> {
        self.first..self.end()
    }
}

/// The model calls functions of the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientToolsCalled {
    /// The answer that makes the calls.
    pub attempt: Attempt,
    /// Their numbers.
    pub span: ClientCallSpan,
    /// When the run stops waiting for their results.
    pub expires: Timestamp,
    /// The calls in order; empty once erased.
    pub calls: Vec<ClientToolCall>,
}

/// Names a call for the client and for the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClientCallId {
    /// The run.
    pub run: RunId,
    /// The number of the call within the run.
    pub number: u32,
}

impl ClientCallId {
    /// Reads an id; `None` where it is not one of ours.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (run, number) = text.strip_prefix("call_")?.split_once("_c")?;
        let id = Self { run: run.parse().ok()?, number: number.parse().ok()? };
        // One call has one id: no sign, no leading zero, no other letters for the same run.
        (id.to_string() == text).then_some(id)
    }
}

impl fmt::Display for ClientCallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "call_{}_c{}", self.run, self.number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_names_the_run_and_the_call() {
        let id = ClientCallId { run: RunId::from_parts(1_700_000_000_000, 7), number: 12 };
        assert_eq!(ClientCallId::parse(&id.to_string()), Some(id));
        assert!(id.to_string().len() <= 64, "clients store ids of at most 64 characters");
    }

    #[test]
    fn other_ids_are_not_read() {
        let run = RunId::from_parts(1_700_000_000_000, 7);
        let lower = format!("call_{run}_c1").to_lowercase();
        for text in ["", "call_", "call_abc", &format!("call_{run}_1"), &format!("call_{run}_c01"), &lower] {
            assert_eq!(ClientCallId::parse(text), None, "{text}");
        }
        assert_eq!(ClientCallId::parse(&format!("call_{run}_c+1")), None);
    }

    #[test]
    fn a_span_has_its_calls_and_no_others() {
        let span = ClientCallSpan { first: 3, count: 2 };
        assert_eq!(span.numbers().collect::<Vec<_>>(), [3, 4]);
        assert!(span.has(4) && !span.has(5) && !span.has(2));
    }
}
