//! The JSON objects of Chat Completions.

use serde_json::{Value, json};

use crate::answer::{Answer, AnswerQuirk, Stop, Tokens};
use crate::exchange::{ModelExchange, Vendor};

const CREATED: u64 = 1_700_000_000;

/// Makes a chunk of a stream.
pub(super) fn chunk(exchange: &ModelExchange, delta: &Value, finish: Option<&str>) -> Value {
    let mut chunk = frame(exchange, "chat.completion.chunk");
    chunk["choices"] = json!([{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish}]);
    if exchange.wants_usage {
        chunk["usage"] = Value::Null;
    }
    chunk
}

/// Makes the chunk that tells the usage.
pub(super) fn usage_chunk(answer: &Answer, exchange: &ModelExchange) -> Value {
    let mut chunk = frame(exchange, "chat.completion.chunk");
    chunk["choices"] = json!([]);
    chunk["usage"] = usage(answer.used(exchange.input_bytes));
    chunk
}

/// Makes the whole answer to a request that does not stream.
pub(crate) fn document(answer: &Answer, exchange: &ModelExchange) -> Value {
    let mut message = json!({"role": "assistant", "content": answer.text(), "refusal": null});
    let thought = answer.thought();
    if !thought.is_empty() {
        message[reasoning_field(exchange.vendor)] = json!(thought);
    }
    if !answer.calls.is_empty() {
        let calls = answer.calls.iter().enumerate();
        let calls = calls.map(|(at, (tool, arguments))| {
            json!({"id": call_id(at), "type": "function", "function": {"name": tool, "arguments": arguments}})
        });
        message["tool_calls"] = calls.collect();
    }
    let mut document = frame(exchange, "chat.completion");
    let finish = answer.word(finish_reason);
    document["choices"] =
        json!([{"index": 0, "message": message, "logprobs": null, "finish_reason": finish}]);
    if !answer.has(AnswerQuirk::NoUsage) {
        document["usage"] = usage(answer.used(exchange.input_bytes));
    }
    document
}

/// Returns the field that holds reasoning at a vendor.
pub(super) fn reasoning_field(vendor: Vendor) -> &'static str {
    match vendor {
        // OpenAI sends none; those who took its format over first, such as DeepSeek, named it so.
        Vendor::OpenAi | Vendor::LlamaCpp => "reasoning_content",
        Vendor::OpenRouter | Vendor::Vllm | Vendor::Ollama => "reasoning",
    }
}

/// Returns the dialect's word for why a model stops.
pub(super) fn finish_reason(stop: Stop) -> &'static str {
    match stop {
        Stop::EndTurn | Stop::StopSequence | Stop::PauseTurn => "stop",
        Stop::MaxTokens | Stop::ContextWindow => "length",
        Stop::ToolUse => "tool_calls",
        Stop::Refusal => "content_filter",
    }
}

/// Returns the deltas of one call: its name, then its arguments in two fragments.
pub(super) fn call_deltas(at: usize, tool: &str, arguments: &str) -> Vec<Value> {
    let (head, tail) = arguments.split_at(arguments.floor_char_boundary(arguments.len() / 2));
    let named = json!({
        "index": at, "id": call_id(at), "type": "function", "function": {"name": tool, "arguments": ""},
    });
    let fragment = |part: &str| json!({"index": at, "function": {"arguments": part}});
    let deltas = [named, fragment(head), fragment(tail)];
    deltas.into_iter().map(|delta| json!({"tool_calls": [delta]})).collect()
}

/// Returns the list of models.
pub(crate) fn model_list(models: &[String]) -> Value {
    let models =
        models.iter().map(|id| json!({"id": id, "object": "model", "created": CREATED, "owned_by": "test"}));
    json!({"object": "list", "data": models.collect::<Vec<_>>()})
}

pub(super) fn frame(exchange: &ModelExchange, object: &str) -> Value {
    json!({
        "id": format!("chatcmpl-test-{}", exchange.number),
        "object": object,
        "created": CREATED,
        "model": exchange.model,
        "system_fingerprint": "fp_test",
    })
}

fn usage(used: Tokens) -> Value {
    json!({
        "prompt_tokens": used.input, "completion_tokens": used.output,
        "total_tokens": used.input + used.output,
        "prompt_tokens_details": {"cached_tokens": used.cached},
        "completion_tokens_details": {"reasoning_tokens": used.reasoning},
    })
}

fn call_id(at: usize) -> String {
    format!("call_test_{at}")
}
