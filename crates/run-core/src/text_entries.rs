//! Text that arrives in pieces, as inputs of a bounded size.
//!
//! A page of a tape has many entries of text, and no client has to take more of one at once than these bounds.

use palyra_types::effect::OutputRest;
use palyra_types::{Attempt, EffectId, Redacted};

use crate::input::RunInput;

/// Bytes of one entry of a model's words.
const WORDS_BYTES_MAX: usize = 64 * 1024;
/// Bytes of one entry of what a tool printed.
const OUTPUT_BYTES_MAX: usize = 8 * 1024;

/// A kind of words of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextChannel {
    /// Its answer.
    Text,
    /// Its reasoning beside the answer.
    Reasoning,
}

impl TextChannel {
    fn input(self, attempt: Attempt, text: Redacted<String>) -> RunInput {
        match self {
            Self::Text => RunInput::Text { attempt, text },
            Self::Reasoning => RunInput::Reasoning { attempt, text },
        }
    }

    /// Returns the words of this channel and attempt that an input has.
    fn words_of(self, input: &mut RunInput, wanted: Attempt) -> Option<&mut Redacted<String>> {
        let (attempt, text, channel) = if let RunInput::Text { attempt, text } = input {
            (*attempt, text, Self::Text)
        } else if let RunInput::Reasoning { attempt, text } = input {
            (*attempt, text, Self::Reasoning)
        } else {
            return None;
        };
        (channel == self && attempt == wanted).then_some(text)
    }
}

impl RunInput {
    /// Returns whether a person or a client made it and waits for an answer.
    #[must_use]
    pub fn is_from_person(&self) -> bool {
        matches!(
            self,
            Self::Input { .. }
                | Self::Steer { .. }
                | Self::ApprovalAnswered(_)
                | Self::EffectResolved { .. }
                | Self::ClientToolsAnswered(_)
        )
    }
}

/// Adds words to the latest waiting input, if it has the same channel and attempt, and returns inputs for the rest.
#[must_use]
pub fn word_entries(
    waiting: Option<&mut RunInput>,
    channel: TextChannel,
    attempt: Attempt,
    text: &Redacted<String>,
) -> Vec<RunInput> {
    let waiting = waiting.and_then(|input| channel.words_of(input, attempt));
    let pieces = pieces(waiting, text, WORDS_BYTES_MAX);
    pieces.into_iter().map(|piece| channel.input(attempt, piece)).collect()
}

/// Adds what a tool printed to the latest waiting input, if that has more of the same tool's output to come, and returns inputs
/// for the rest.
#[must_use]
pub fn output_entries(
    waiting: Option<&mut RunInput>,
    effect: EffectId,
    text: &Redacted<String>,
) -> Vec<RunInput> {
    let waiting = waiting.and_then(|input| {
        let RunInput::ToolPrinted { effect: of, text, rest } = input else { return None };
        ((*of, *rest) == (effect, OutputRest::Follows)).then_some(text)
    });
    let pieces = pieces(waiting, text, OUTPUT_BYTES_MAX);
    let entry = |text| RunInput::ToolPrinted { effect, text, rest: OutputRest::Follows };
    pieces.into_iter().map(entry).collect()
}

/// Fills what waits up to a bound and cuts the rest into pieces of at most that size.
fn pieces(
    waiting: Option<&mut Redacted<String>>,
    text: &Redacted<String>,
    bytes_max: usize,
) -> Vec<Redacted<String>> {
    let mut rest = text.clone();
    if let Some(waiting) = waiting {
        let (fits, beyond) = rest.split_at(bytes_max.saturating_sub(waiting.expose().len()));
        waiting.push(&fits);
        rest = beyond;
    }
    let mut pieces = Vec::new();
    while !rest.expose().is_empty() {
        let (fits, beyond) = rest.split_at(bytes_max);
        pieces.push(fits);
        rest = beyond;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: usize) -> Redacted<String> {
        Redacted::cleaned("x".repeat(bytes))
    }

    #[test]
    fn words_fill_what_waits_and_go_on_in_pieces() {
        let attempt = Attempt(1);
        let mut waiting = RunInput::Text { attempt, text: text(WORDS_BYTES_MAX - 1) };
        let further =
            word_entries(Some(&mut waiting), TextChannel::Text, attempt, &text(WORDS_BYTES_MAX + 2));
        let sizes: Vec<usize> =
            std::iter::once(&waiting).chain(&further).map(RunInput::content_bytes).collect();
        assert_eq!(sizes, [WORDS_BYTES_MAX, WORDS_BYTES_MAX, 1]);
    }

    #[test]
    fn words_of_another_channel_or_attempt_begin_an_entry() {
        for (channel, attempt) in [(TextChannel::Reasoning, Attempt(1)), (TextChannel::Text, Attempt(2))] {
            let mut waiting = RunInput::Text { attempt: Attempt(1), text: text(1) };
            assert_eq!(word_entries(Some(&mut waiting), channel, attempt, &text(1)).len(), 1);
            assert_eq!(waiting.content_bytes(), 1);
        }
    }

    #[test]
    fn output_fills_what_waits_of_the_same_tool_only() {
        for (effect, entries) in [(EffectId(1), 0), (EffectId(2), 1)] {
            let mut waiting =
                RunInput::ToolPrinted { effect: EffectId(1), text: text(1), rest: OutputRest::Follows };
            assert_eq!(output_entries(Some(&mut waiting), effect, &text(1)).len(), entries);
        }
    }
}
