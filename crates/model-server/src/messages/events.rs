//! The event stream of Anthropic Messages: blocks that begin, grow and end, between a message's begin and end.

use serde_json::{Value, json};

use super::wire::{Kind, begun, ending, kind_of, tool_use};
use crate::act::WireAction;
use crate::answer::{Answer, AnswerQuirk, Part};
use crate::exchange::ModelExchange;
use crate::signature::{seal, sign};

/// Returns the stream of an answer, up to where it breaks.
pub(crate) fn events(answer: &Answer, exchange: &ModelExchange) -> Vec<WireAction> {
    let mut acts = Vec::new();
    for _ in 0..answer.times() {
        let mut stream = Stream { answer, exchange, acts, index: 0, open: None };
        stream.send(json!({"type": "message_start", "message": begun(answer, exchange)}));
        if answer.has(AnswerQuirk::UnknownFields) {
            stream.strangers();
        }
        for part in &answer.parts {
            stream.part(part);
        }
        let breaks = answer.breaks().is_some();
        if breaks && answer.calls.is_empty() {
            return stream.acts;
        }
        stream.close();
        for (at, (tool, arguments)) in answer.calls.iter().enumerate() {
            stream.call(at, tool, arguments);
        }
        if breaks {
            return stream.acts;
        }
        stream.close();
        stream.send(ending(answer, exchange));
        acts = stream.acts;
    }
    let mut stream = Stream { answer, exchange, acts, index: 0, open: None };
    if !answer.has(AnswerQuirk::NoDone) {
        stream.send(json!({"type": "message_stop"}));
    }
    stream.acts
}

/// A stream in the making.
struct Stream<'a> {
    answer: &'a Answer,
    exchange: &'a ModelExchange,
    acts: Vec<WireAction>,
    /// The index of the open block, or of the next.
    index: usize,
    open: Option<OpenBlock>,
}

/// A block that has begun and not ended.
struct OpenBlock {
    kind: Option<Kind>,
    text: String,
}

impl Stream<'_> {
    fn send(&mut self, mut event: Value) {
        if self.answer.has(AnswerQuirk::UnknownFields) {
            event["x_trace"] = json!({"shard": [1, {"deep": null}], "note": "\u{2028}"});
        }
        self.acts.push(WireAction::Send(framed(&event)));
    }

    fn part(&mut self, part: &Part) {
        if let Part::Wait(act) = part {
            self.acts.push(act.clone());
        }
        let Some((kind, text)) = kind_of(part) else { return };
        if kind == Kind::Redacted {
            self.close();
            let data = seal(&self.exchange.model, text);
            return self.open(Some(kind), &json!({"type": "redacted_thinking", "data": data}));
        }
        let (block, delta) = match kind {
            Kind::Thought => (
                json!({"type": "thinking", "thinking": "", "signature": ""}),
                json!({"type": "thinking_delta", "thinking": text}),
            ),
            Kind::Text | Kind::Redacted => {
                (json!({"type": "text", "text": ""}), json!({"type": "text_delta", "text": text}))
            }
        };
        if self.open.as_ref().is_none_or(|open| open.kind != Some(kind)) {
            self.close();
            self.open(Some(kind), &block);
        }
        self.delta(&delta);
        if let Some(open) = &mut self.open {
            open.text.push_str(text);
        }
    }

    fn call(&mut self, at: usize, tool: &str, arguments: &str) {
        self.close();
        self.open(None, &tool_use(self.exchange, at, tool));
        let (head, tail) = arguments.split_at(arguments.floor_char_boundary(arguments.len() / 2));
        for part in ["", head, tail] {
            self.delta(&json!({"type": "input_json_delta", "partial_json": part}));
        }
    }

    fn open(&mut self, kind: Option<Kind>, block: &Value) {
        self.send(json!({"type": "content_block_start", "index": self.index, "content_block": block}));
        if self.index == 0 {
            self.send(json!({"type": "ping"}));
        }
        self.open = Some(OpenBlock { kind, text: String::new() });
    }

    fn delta(&mut self, delta: &Value) {
        self.send(json!({"type": "content_block_delta", "index": self.index, "delta": delta}));
    }

    fn close(&mut self) {
        let Some(open) = self.open.take() else { return };
        if open.kind == Some(Kind::Thought) {
            let signature = sign(&self.exchange.model, &open.text);
            self.delta(&json!({"type": "signature_delta", "signature": signature}));
        }
        self.send(json!({"type": "content_block_stop", "index": self.index}));
        self.index += 1;
    }

    /// An event, a block and a delta of types that came into the world after the client.
    fn strangers(&mut self) {
        self.send(json!({"type": "message_mood", "mood": "sunny"}));
        self.open(None, &json!({"type": "hologram", "shape": "cube"}));
        self.delta(&json!({"type": "hologram_delta", "partial_shape": "\u{1f9ca}"}));
        self.close();
    }
}

/// Returns how a call begins whose arguments never end, and the fragment that comes again and again.
pub(crate) fn endless_call(bytes: usize) -> (Vec<u8>, Vec<u8>) {
    // High enough to be free, whatever was said before.
    const INDEX: usize = 900;
    let block = json!({"type": "tool_use", "id": "toolu_test_endless", "name": "read_file", "input": {}});
    let begin = json!({"type": "content_block_start", "index": INDEX, "content_block": block});
    let delta = |part: &str| {
        let delta = json!({"type": "input_json_delta", "partial_json": part});
        framed(&json!({"type": "content_block_delta", "index": INDEX, "delta": delta}))
    };
    ([framed(&begin), delta("{\"path\":\"")].concat(), delta(&"a".repeat(bytes)))
}

/// Frames an event; its name is its type.
pub(super) fn framed(event: &Value) -> Vec<u8> {
    let name = event["type"].as_str().unwrap_or_default();
    format!("event: {name}\ndata: {event}\n\n").into_bytes()
}
