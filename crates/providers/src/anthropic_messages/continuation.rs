//! What Anthropic wants back with an answer: its reasoning blocks, byte for byte and in their places.
//!
//! The body is a JSON array with one entry for each block of the answer, in order: reasoning blocks whole,
//! as they came; of a text its length in bytes and of a call only that it was there, for both are recorded
//! elsewhere. Written and read here only; a reader passes over entries it does not know.

use palyra_types::Content;
use palyra_types::model::{CONTINUATION_BYTES_MAX, ModelRef, ProviderContinuation};
use serde_json::{Value, json};

/// The form of the body.
const FORMAT: &str = "anthropic_messages/1";

/// A block of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum BlockKind {
    /// A reasoning block, as it goes back.
    Kept(Value),
    /// So many bytes of the text.
    Text(usize),
    /// The next call.
    Call,
}

/// Makes the continuation of an answer; `None` when it held no reasoning, or more than may be kept.
pub(super) fn continuation(
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
        format: FORMAT.to_owned(),
        body: Content::new(body),
    })
}

/// Returns the blocks of an earlier answer; none when it was another model's, or cannot be read.
pub(super) fn places(kept: &ProviderContinuation, model: &ModelRef) -> Vec<BlockKind> {
    if kept.format != FORMAT || kept.model != *model {
        return Vec::new();
    }
    let Ok(Value::Array(entries)) = serde_json::from_str(kept.body.expose()) else { return Vec::new() };
    entries.into_iter().filter_map(place).collect()
}

fn place(entry: Value) -> Option<BlockKind> {
    match entry.get("type")?.as_str()? {
        "thinking" | "redacted_thinking" => Some(BlockKind::Kept(entry)),
        "text" => {
            let bytes = entry.get("bytes")?.as_u64()?;
            Some(BlockKind::Text(usize::try_from(bytes).ok()?))
        }
        "tool_use" => Some(BlockKind::Call),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let kept = continuation(&model, &given).map(recorded).expect("there is reasoning");
        assert_eq!(places(&kept, &model), given);
        assert!(places(&kept, &ModelRef::new("b", "m")).is_empty());
        assert!(places(&kept, &ModelRef::new("a", "n")).is_empty());
        assert!(
            places(&ProviderContinuation { format: "other/1".into(), ..kept.clone() }, &model).is_empty()
        );
        for body in ["", "{}", "[7]", "[{\"type\":\"text\",\"bytes\":-1},{\"type\":\"new\"}]"] {
            assert!(places(&ProviderContinuation { body: body.into(), ..kept.clone() }, &model).is_empty());
        }
    }

    #[test]
    fn nothing_is_kept_without_reasoning_or_beyond_the_limit() {
        let model = ModelRef::new("a", "m");
        assert_eq!(continuation(&model, &[BlockKind::Text(1), BlockKind::Call]), None);
        let large = json!({"type": "redacted_thinking", "data": "x".repeat(CONTINUATION_BYTES_MAX)});
        assert_eq!(continuation(&model, &[BlockKind::Kept(large)]), None);
    }
}
