//! The JSON objects of Responses.

use serde_json::{Value, json};

use crate::answer::{Answer, AnswerQuirk, Stop, Tokens};
use crate::exchange::ModelExchange;
use crate::messages::wire::{Kind, joined};
use crate::signature::token;

const CREATED: u64 = 1_700_000_000;
/// The word of a response that is not cut off.
const COMPLETED: &str = "completed";

/// Makes the whole answer to a request that does not stream.
pub(crate) fn document(answer: &Answer, exchange: &ModelExchange) -> Value {
    let mut output: Vec<Value> = Vec::new();
    for (kind, text) in joined(&answer.parts) {
        let at = output.len();
        output.push(match kind {
            Kind::Text => message(exchange, at, &text),
            Kind::Thought => reasoning(exchange, at, &text),
            Kind::Redacted => reasoning(exchange, at, ""),
        });
    }
    for (number, (tool, arguments)) in answer.calls.iter().enumerate() {
        let at = output.len();
        output.push(call(exchange, at, number, tool, arguments));
    }
    ended(answer, exchange, &output)
}

/// Makes a response that has begun.
pub(super) fn begun(exchange: &ModelExchange) -> Value {
    json!({
        "id": format!("resp_test_{}", exchange.number),
        "object": "response",
        "created_at": CREATED,
        "status": "in_progress",
        "background": false,
        "error": null,
        "incomplete_details": null,
        "instructions": null,
        "metadata": {},
        "model": exchange.model,
        "output": [],
        "parallel_tool_calls": true,
        "temperature": 1.0,
        "text": {"format": {"type": "text"}},
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "truncation": "disabled",
        "usage": null,
    })
}

/// Makes a response at its end.
pub(super) fn ended(answer: &Answer, exchange: &ModelExchange, output: &[Value]) -> Value {
    let mut response = begun(exchange);
    let word = answer.word(reason);
    response["status"] = if word == COMPLETED { COMPLETED } else { "incomplete" }.into();
    if word != COMPLETED {
        response["incomplete_details"] = json!({"reason": word});
    }
    response["output"] = output.into();
    if !answer.has(AnswerQuirk::NoUsage) {
        response["usage"] = usage(answer.used(exchange.input_bytes));
    }
    response
}

pub(super) fn message(exchange: &ModelExchange, at: usize, text: &str) -> Value {
    json!({
        "id": item_id(exchange, "msg", at),
        "type": "message",
        "status": "completed",
        "role": "assistant",
        "content": [text_part(text)],
    })
}

pub(super) fn text_part(text: &str) -> Value {
    json!({"type": "output_text", "annotations": [], "logprobs": [], "text": text})
}

/// Makes reasoning with its summary, sealed where the request wants it back.
pub(super) fn reasoning(exchange: &ModelExchange, at: usize, summary: &str) -> Value {
    let id = item_id(exchange, "rs", at);
    let summary = if summary.is_empty() { json!([]) } else { json!([summary_part(summary)]) };
    let sealed = exchange.wants_reasoning.then(|| sealed(&exchange.model, &id, &summary));
    json!({"id": id, "type": "reasoning", "summary": summary, "encrypted_content": sealed})
}

pub(super) fn summary_part(text: &str) -> Value {
    json!({"type": "summary_text", "text": text})
}

/// Returns a token in place of encrypted reasoning, which shows a change when it comes back.
pub(super) fn sealed(model: &str, id: &str, summary: &Value) -> String {
    // Not the JSON: the order of fields is the client's.
    let texts: Vec<&Value> = summary.as_array().into_iter().flatten().map(|part| &part["text"]).collect();
    token(model, &format!("{id} {texts:?}"))
}

/// Makes a call of a tool, which has its own number among the calls.
pub(super) fn call(exchange: &ModelExchange, at: usize, number: usize, tool: &str, arguments: &str) -> Value {
    json!({
        "id": item_id(exchange, "fc", at),
        "type": "function_call",
        "status": "completed",
        "call_id": format!("call_test_{}_{number}", exchange.number),
        "name": tool,
        "arguments": arguments,
    })
}

fn item_id(exchange: &ModelExchange, kind: &str, at: usize) -> String {
    format!("{kind}_test_{}_{at}", exchange.number)
}

fn usage(used: Tokens) -> Value {
    json!({
        "input_tokens": used.input,
        "input_tokens_details": {"cached_tokens": used.cached},
        "output_tokens": used.output,
        "output_tokens_details": {"reasoning_tokens": used.reasoning},
        "total_tokens": used.input + used.output,
    })
}

fn reason(stop: Stop) -> &'static str {
    match stop {
        Stop::EndTurn | Stop::StopSequence | Stop::PauseTurn | Stop::ToolUse => COMPLETED,
        Stop::MaxTokens | Stop::ContextWindow => "max_output_tokens",
        Stop::Refusal => "content_filter",
    }
}
