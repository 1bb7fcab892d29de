//! The event stream of Chat Completions.

use serde_json::{Value, json};

use super::wire::{call_deltas, chunk, finish_reason, reasoning_field, usage_chunk};
use crate::act::WireAction;
use crate::answer::{Answer, AnswerQuirk, Part};
use crate::exchange::ModelExchange;

/// Returns the stream of an answer, up to where it breaks.
pub(crate) fn events(answer: &Answer, exchange: &ModelExchange) -> Vec<WireAction> {
    let event = |mut value: Value| {
        if answer.has(AnswerQuirk::UnknownFields) {
            value["x_trace"] = json!({"shard": [1, {"deep": null}], "note": "\u{2028}"});
        }
        WireAction::Send(format!("data: {value}\n\n").into_bytes())
    };
    let delta = |delta: &Value| event(chunk(exchange, delta, None));
    let mut acts = Vec::new();
    for _ in 0..answer.times() {
        acts.push(delta(&json!({"role": "assistant", "content": ""})));
        acts.extend(answer.parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(delta(&json!({"content": text}))),
            Part::Thought(text) => Some(delta(&json!({reasoning_field(exchange.vendor): text}))),
            Part::Redacted(_) => None,
            Part::Wait(act) => Some(act.clone()),
        }));
        for (at, (tool, arguments)) in answer.calls.iter().enumerate() {
            acts.extend(call_deltas(at, tool, arguments).iter().map(delta));
        }
        if answer.breaks().is_some() {
            return acts;
        }
        acts.push(event(chunk(exchange, &json!({}), Some(answer.word(finish_reason)))));
    }
    if exchange.wants_usage && !answer.has(AnswerQuirk::NoUsage) {
        acts.push(event(usage_chunk(answer, exchange)));
    }
    if !answer.has(AnswerQuirk::NoDone) {
        acts.push(WireAction::Send(b"data: [DONE]\n\n".to_vec()));
    }
    acts
}

/// Returns how a call begins whose arguments never end, and the fragment that comes again and again.
pub(crate) fn endless_call(exchange: &ModelExchange, bytes: usize) -> (Vec<u8>, Vec<u8>) {
    let event = |delta: &Value| format!("data: {}\n\n", chunk(exchange, delta, None)).into_bytes();
    let begin = call_deltas(0, "read_file", "{\"path\":\"").iter().flat_map(event).collect();
    let fragment = json!({"index": 0, "function": {"arguments": "a".repeat(bytes)}});
    (begin, event(&json!({"tool_calls": [fragment]})))
}
