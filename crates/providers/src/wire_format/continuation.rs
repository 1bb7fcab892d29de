//! What a provider wants back with an answer: its reasoning, unchanged and in its old places.
//!
//! The body is a JSON array with one entry for each block of the answer, in order: reasoning whole, as it came; of a text
//! its length in bytes and of a call only that it was there, for both are recorded elsewhere. Written and read here only; a
//! reader passes over entries it does not know.

use palyra_types::Content;
use palyra_types::model::{CONTINUATION_BYTES_MAX, ModelRef, ProviderContinuation, RenderedCall};
use serde_json::{Value, json};

/// The form of a body, by the wire format that it belongs to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ContinuationForm {
    /// Its name, with a version.
    pub(crate) name: &'static str,
    /// The types of blocks that are kept whole.
    pub(crate) kept: &'static [&'static str],
}

/// A block of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum BlockKind {
    /// Reasoning, as it goes back.
    Kept(Value),
    /// So many bytes of the text.
    Text(usize),
    /// The next call.
    Call,
}

/// A part of an earlier answer, as it is sent again.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum AnswerPart<'a> {
    /// Reasoning.
    Kept(&'a Value),
    /// Text, never empty.
    Text(&'a str),
    /// A call.
    Call(&'a RenderedCall),
}

impl ContinuationForm {
    /// Makes the continuation of an answer; `None` when it held no reasoning, or more than may be kept.
    pub(crate) fn continuation(
        self,
        model: &ModelRef,
        places: &[BlockKind],
    ) -> Option<ProviderContinuation<Content<String>>> {
        if !places.iter().any(|place| matches!(place, BlockKind::Kept(_))) {
            return None;
        }
        let entries = places.iter().map(|place| match place {
            BlockKind::Kept(block) => block.clone(),
            BlockKind::Text(bytes) => json!({"type": "text", "bytes": bytes}),
            BlockKind::Call => json!({"type": "tool_use"}),
        });
        let body = Value::Array(entries.collect()).to_string();
        (body.len() <= CONTINUATION_BYTES_MAX).then(|| ProviderContinuation {
            model: model.clone(),
            format: self.name.to_owned(),
            body: Content::new(body),
        })
    }

    /// Returns the blocks of an earlier answer; none when it was another model's, or cannot be read.
    pub(crate) fn places(self, kept: &ProviderContinuation, model: &ModelRef) -> Vec<BlockKind> {
        if kept.format != self.name || kept.model != *model {
            return Vec::new();
        }
        let Ok(Value::Array(entries)) = serde_json::from_str(kept.body.expose()) else { return Vec::new() };
        entries.into_iter().filter_map(|entry| self.place(entry)).collect()
    }

    fn place(self, entry: Value) -> Option<BlockKind> {
        match entry.get("type")?.as_str()? {
            "text" => {
                let bytes = entry.get("bytes")?.as_u64()?;
                Some(BlockKind::Text(usize::try_from(bytes).ok()?))
            }
            "tool_use" => Some(BlockKind::Call),
            kind if self.kept.contains(&kind) => Some(BlockKind::Kept(entry)),
            _ => None,
        }
    }
}

/// Lays out an answer as it once was: its text cut and its calls spread as the places say. Where they no
/// longer fit, for a text may have been redacted, the reasoning still stands before and between the rest.
pub(crate) fn laid_out<'a>(
    places: &'a [BlockKind],
    words: &'a str,
    calls: &'a [RenderedCall],
) -> Vec<AnswerPart<'a>> {
    let mut parts = Vec::new();
    let mut calls = calls.iter();
    let mut rest = words;
    let said: usize =
        places.iter().map(|place| if let BlockKind::Text(bytes) = place { *bytes } else { 0 }).sum();
    let fits = said == words.len();
    for place in places {
        match place {
            BlockKind::Kept(block) => parts.push(AnswerPart::Kept(block)),
            BlockKind::Text(bytes) => {
                let end = if fits { rest.floor_char_boundary(*bytes) } else { rest.len() };
                let (part, behind) = rest.split_at(end);
                push_text(part, &mut parts);
                rest = behind;
            }
            BlockKind::Call => parts.extend(calls.next().map(AnswerPart::Call)),
        }
    }
    push_text(rest, &mut parts);
    parts.extend(calls.map(AnswerPart::Call));
    parts
}

fn push_text<'a>(words: &'a str, parts: &mut Vec<AnswerPart<'a>>) {
    if !words.is_empty() {
        parts.push(AnswerPart::Text(words));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORM: ContinuationForm =
        ContinuationForm { name: "test/1", kept: &["thinking", "redacted_thinking"] };

    fn recorded(kept: ProviderContinuation<Content<String>>) -> ProviderContinuation {
        let body = palyra_types::Redacted::cleaned(kept.body.into_exposed());
        ProviderContinuation { model: kept.model, format: kept.format, body }
    }

    #[test]
    fn blocks_come_back_as_they_were_to_their_own_model_only() {
        let model = ModelRef::new("a", "m");
        let thought =
            json!({"type": "thinking", "thinking": "\u{1f600} \u{0}\n\"x\"\u{2028}", "signature": "Eu+/="});
        let hidden = json!({"type": "redacted_thinking", "data": "Zm9v"});
        let given = vec![
            BlockKind::Kept(thought),
            BlockKind::Text(7),
            BlockKind::Call,
            BlockKind::Kept(hidden),
            BlockKind::Call,
        ];
        let kept = FORM.continuation(&model, &given).map(recorded).expect("there is reasoning");
        assert_eq!(FORM.places(&kept, &model), given);
        assert!(FORM.places(&kept, &ModelRef::new("b", "m")).is_empty());
        assert!(FORM.places(&kept, &ModelRef::new("a", "n")).is_empty());
        assert!(
            FORM.places(&ProviderContinuation { format: "other/1".into(), ..kept.clone() }, &model)
                .is_empty()
        );
        for body in ["", "{}", "[7]", "[{\"type\":\"text\",\"bytes\":-1},{\"type\":\"new\"}]"] {
            assert!(
                FORM.places(&ProviderContinuation { body: body.into(), ..kept.clone() }, &model).is_empty()
            );
        }
    }

    #[test]
    fn nothing_is_kept_without_reasoning_or_beyond_the_limit() {
        let model = ModelRef::new("a", "m");
        assert_eq!(FORM.continuation(&model, &[BlockKind::Text(1), BlockKind::Call]), None);
        let large = json!({"type": "redacted_thinking", "data": "x".repeat(CONTINUATION_BYTES_MAX)});
        assert_eq!(FORM.continuation(&model, &[BlockKind::Kept(large)]), None);
    }
}
