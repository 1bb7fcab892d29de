//! The JSON objects of Anthropic Messages.

use serde_json::{Value, json};

use crate::answer::{Answer, AnswerQuirk, Part, Stop, Tokens};
use crate::exchange::ModelExchange;
use crate::signature::{seal, sign};

/// Makes the whole answer to a request that does not stream.
pub(crate) fn document(answer: &Answer, exchange: &ModelExchange) -> Value {
    let mut message = begun(answer, exchange);
    let mut content: Vec<Value> = Vec::new();
    for (kind, text) in joined(&answer.parts) {
        content.push(match kind {
            Kind::Text => json!({"type": "text", "text": text}),
            Kind::Thought => {
                json!({"type": "thinking", "thinking": text, "signature": sign(&exchange.model, &text)})
            }
            Kind::Redacted => json!({"type": "redacted_thinking", "data": seal(&exchange.model, &text)}),
        });
    }
    content.extend(answer.calls.iter().enumerate().map(|(at, (tool, arguments))| {
        let mut block = tool_use(exchange, at, tool);
        // A whole message holds arguments as an object; what is none cannot be told in it.
        block["input"] = serde_json::from_str(arguments).unwrap_or_else(|_| json!({}));
        block
    }));
    message["content"] = content.into();
    message["stop_reason"] = answer.word(stop_reason).into();
    message["stop_details"] = stop_details(answer);
    message["usage"]["output_tokens"] = answer.used(exchange.input_bytes).output.into();
    message
}

/// Makes a message of which nothing is said yet.
pub(super) fn begun(answer: &Answer, exchange: &ModelExchange) -> Value {
    let mut usage = usage(answer.used(exchange.input_bytes));
    usage["output_tokens"] = 1.into();
    usage["service_tier"] = "standard".into();
    json!({
        "id": format!("msg_test_{}", exchange.number),
        "type": "message",
        "role": "assistant",
        "model": exchange.model,
        "content": [],
        "stop_reason": null,
        "stop_sequence": null,
        "stop_details": null,
        "usage": usage,
    })
}

/// Makes the event that tells why a message stops and what it used in all.
pub(super) fn ending(answer: &Answer, exchange: &ModelExchange) -> Value {
    let delta = json!({
        "stop_reason": answer.word(stop_reason), "stop_sequence": null, "stop_details": stop_details(answer),
    });
    let mut event = json!({"type": "message_delta", "delta": delta});
    if !answer.has(AnswerQuirk::NoUsage) {
        event["usage"] = usage(answer.used(exchange.input_bytes));
    }
    event
}

/// Makes the block of a call, its input still to come.
pub(super) fn tool_use(exchange: &ModelExchange, at: usize, tool: &str) -> Value {
    // Ids are unique in a whole conversation.
    let id = format!("toolu_test_{}_{at}", exchange.number);
    json!({"type": "tool_use", "id": id, "name": tool, "input": {}})
}

/// What a block of content holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    Thought,
    Redacted,
}

/// Returns the kind of block a piece belongs to; `None` for a wait.
pub(crate) fn kind_of(part: &Part) -> Option<(Kind, &str)> {
    match part {
        Part::Text(text) => Some((Kind::Text, text)),
        Part::Thought(text) => Some((Kind::Thought, text)),
        Part::Redacted(text) => Some((Kind::Redacted, text)),
        Part::Wait(_) => None,
    }
}

/// Joins neighbours of one kind into blocks; what is redacted stays apart.
pub(crate) fn joined(parts: &[Part]) -> Vec<(Kind, String)> {
    let mut blocks: Vec<(Kind, String)> = Vec::new();
    for (kind, text) in parts.iter().filter_map(kind_of) {
        match blocks.last_mut() {
            Some((last, so_far)) if *last == kind && kind != Kind::Redacted => so_far.push_str(text),
            _ => blocks.push((kind, text.to_owned())),
        }
    }
    blocks
}

/// Returns the list of models; `path` may ask for a page.
pub(crate) fn model_list(models: &[String], path: &str) -> Value {
    const PAGE: usize = 20;
    let query = path.split_once('?').map_or("", |(_, query)| query);
    let asked = |name: &str| {
        query.split('&').filter_map(|pair| pair.split_once('=')).find(|(known, _)| *known == name)
    };
    let limit = asked("limit").and_then(|(_, limit)| limit.parse().ok()).unwrap_or(PAGE);
    let after = asked("after_id").and_then(|(_, id)| models.iter().position(|model| model == id));
    let rest = &models[after.map_or(0, |at| at + 1)..];
    let page = &rest[..rest.len().min(limit)];
    let data: Vec<Value> = page.iter().map(|id| model(id)).collect();
    json!({
        "data": data,
        "first_id": page.first(),
        "last_id": page.last(),
        "has_more": page.len() < rest.len(),
    })
}

fn model(id: &str) -> Value {
    json!({
        "type": "model",
        "id": id,
        "display_name": format!("The model {id}"),
        "created_at": "2025-02-19T00:00:00Z",
        "lifecycle": "active",
        "max_input_tokens": 200_000,
        "max_tokens": 64_000,
    })
}

/// Cached tokens stand beside `input_tokens`, not within.
fn usage(used: Tokens) -> Value {
    let mut usage = json!({
        "input_tokens": used.input.saturating_sub(used.cached + used.cache_written),
        "cache_creation_input_tokens": used.cache_written,
        "cache_read_input_tokens": used.cached,
        "output_tokens": used.output,
    });
    if used.reasoning > 0 {
        usage["output_tokens_details"] = json!({"thinking_tokens": used.reasoning});
    }
    usage
}

fn stop_reason(stop: Stop) -> &'static str {
    match stop {
        Stop::EndTurn => "end_turn",
        Stop::MaxTokens => "max_tokens",
        Stop::ContextWindow => "model_context_window_exceeded",
        Stop::ToolUse => "tool_use",
        Stop::StopSequence => "stop_sequence",
        Stop::Refusal => "refusal",
        Stop::PauseTurn => "pause_turn",
    }
}

fn stop_details(answer: &Answer) -> Value {
    match answer.meaning() {
        Stop::Refusal => json!({"type": "refusal", "category": null, "explanation": null}),
        _ => Value::Null,
    }
}
