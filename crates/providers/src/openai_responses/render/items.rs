//! A conversation as items, as the format wants it.
//!
//! Invariant: reasoning is in its old place, unchanged, and with what it led to behind it, or not there at all.

use palyra_types::attachment::RenderedAttachment;
use palyra_types::model::{ChatMessage, ModelRef, RenderedCall};
use serde_json::{Value, json};

use crate::openai_responses::CONTINUATION;
use crate::openai_server::tools::result_text;
use crate::wire_format::attachments::{self, RenderedFile};
use crate::wire_format::continuation::{AnswerPart, BlockKind, laid_out};
use crate::wire_format::names;

/// Whether reasoning is handed back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reasoning {
    GoesBack,
    IsLeftOut,
}

/// Returns the items of a conversation for a model.
pub(super) fn items(messages: &[ChatMessage], model: &ModelRef, reasoning: Reasoning) -> Vec<Value> {
    let mut items = Vec::with_capacity(messages.len());
    for message in messages {
        match message {
            ChatMessage::User { text, attachments, said } => {
                let words = ChatMessage::words_with_time(text.expose(), said.as_deref());
                items.push(user(&words, attachments));
            }
            ChatMessage::Assistant { text, calls, continuation } => {
                let kept = continuation.as_ref().filter(|_| reasoning == Reasoning::GoesBack);
                let places = kept.map(|kept| CONTINUATION.places(kept, model)).unwrap_or_default();
                answered(&places, text.expose(), calls, &mut items);
            }
            ChatMessage::ToolResult { call, tool, text, status, delimiter } => {
                let output = result_text(tool, text.expose(), *status, delimiter);
                items.push(json!({"type": "function_call_output", "call_id": call.0, "output": output}));
            }
        }
    }
    items
}

fn user(words: &str, attachments: &[RenderedAttachment]) -> Value {
    if attachments.is_empty() {
        return json!({"type": "message", "role": "user", "content": words});
    }
    let mut parts: Vec<Value> = attachments.iter().map(attached).collect();
    if !words.is_empty() {
        parts.push(input_text(words));
    }
    json!({"type": "message", "role": "user", "content": parts})
}

fn attached(file: &RenderedAttachment) -> Value {
    match attachments::shown(file) {
        RenderedFile::Text(text) => input_text(&text),
        RenderedFile::Image { media_type, base64 } => {
            let url = format!("data:{media_type};base64,{base64}");
            // Several servers refuse an image without its detail.
            json!({"type": "input_image", "image_url": url, "detail": "auto"})
        }
    }
}

fn input_text(text: &str) -> Value {
    json!({"type": "input_text", "text": text})
}

fn answered(places: &[BlockKind], words: &str, calls: &[RenderedCall], items: &mut Vec<Value>) {
    let mut parts = laid_out(places, words, calls);
    // Reasoning that led to nothing is refused.
    while let Some(AnswerPart::Kept(_)) = parts.last() {
        parts.pop();
    }
    items.extend(parts.into_iter().map(|part| match part {
        AnswerPart::Kept(reasoning) => reasoning.clone(),
        // Without an id: those of messages and calls would refer to what the server has not stored.
        AnswerPart::Text(text) => json!({"type": "message", "role": "assistant", "content": text}),
        AnswerPart::Call(call) => json!({
            "type": "function_call",
            "call_id": call.call.0,
            "name": names::allowed(call.tool.as_str()),
            "arguments": call.arguments.expose(),
        }),
    }));
}
