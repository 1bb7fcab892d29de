//! The JSON objects of the OpenAI wire format.

use serde_json::{Value, json};

const CREATED: u64 = 1_700_000_000;

/// What a reply takes from its request.
#[derive(Debug, Clone)]
pub(super) struct Envelope {
    /// Numbers the reply.
    pub(super) number: usize,
    /// The model asked for.
    pub(super) model: String,
    /// Whether to stream.
    pub(super) streams: bool,
    /// Whether a stream ends with usage.
    pub(super) wants_usage: bool,
    /// How many bytes the messages hold.
    pub(super) input_bytes: usize,
}

impl Envelope {
    /// Reads a request.
    pub(super) fn read(body: &Value, number: usize) -> Self {
        let flag = |at: &str| body.pointer(at).and_then(Value::as_bool).unwrap_or(false);
        Self {
            number,
            model: body.get("model").and_then(Value::as_str).unwrap_or_default().to_owned(),
            streams: flag("/stream"),
            wants_usage: flag("/stream_options/include_usage"),
            input_bytes: body.get("messages").map_or(0, |messages| messages.to_string().len()),
        }
    }

    /// Makes a chunk of a stream.
    pub(super) fn chunk(&self, delta: &Value, finish: Option<&str>) -> Value {
        let mut chunk = self.frame("chat.completion.chunk");
        chunk["choices"] = json!([{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish}]);
        if self.wants_usage {
            chunk["usage"] = Value::Null;
        }
        chunk
    }

    /// Makes the chunk that tells the usage.
    pub(super) fn usage_chunk(&self, text: &str) -> Value {
        let mut chunk = self.frame("chat.completion.chunk");
        chunk["choices"] = json!([]);
        chunk["usage"] = self.usage(text);
        chunk
    }

    /// Makes the whole answer to a request that does not stream.
    pub(super) fn document(&self, text: &str, calls: &[(String, String)], finish: &str) -> Value {
        let mut message = json!({"role": "assistant", "content": text, "refusal": null});
        if !calls.is_empty() {
            let calls = calls.iter().enumerate();
            let calls = calls.map(|(at, (tool, arguments))| {
                json!({"id": call_id(at), "type": "function", "function": {"name": tool, "arguments": arguments}})
            });
            message["tool_calls"] = calls.collect();
        }
        let mut document = self.frame("chat.completion");
        document["choices"] =
            json!([{"index": 0, "message": message, "logprobs": null, "finish_reason": finish}]);
        document["usage"] = self.usage(text);
        document
    }

    fn frame(&self, object: &str) -> Value {
        json!({
            "id": format!("chatcmpl-test-{}", self.number),
            "object": object,
            "created": CREATED,
            "model": self.model,
            "system_fingerprint": "fp_test",
        })
    }

    fn usage(&self, text: &str) -> Value {
        let (input, output) = (self.input_bytes.div_ceil(4), text.len().div_ceil(4));
        json!({
            "prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output,
            "prompt_tokens_details": {"cached_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": 0},
        })
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
pub(super) fn model_list(models: &[String]) -> Value {
    let models =
        models.iter().map(|id| json!({"id": id, "object": "model", "created": CREATED, "owned_by": "test"}));
    json!({"object": "list", "data": models.collect::<Vec<_>>()})
}

fn call_id(at: usize) -> String {
    format!("call_test_{at}")
}
