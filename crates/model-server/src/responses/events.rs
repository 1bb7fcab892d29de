//! The event stream of Responses: items that begin, grow and are done, between a response's begin and end.

use serde_json::{Value, json};

use super::wire::{begun, call, ended, message, reasoning, summary_part, text_part};
use crate::act::WireAction;
use crate::answer::{Answer, AnswerQuirk, Part};
use crate::exchange::ModelExchange;
use crate::messages::wire::{Kind, kind_of};

/// Returns the stream of an answer, up to where it breaks.
pub(crate) fn events(answer: &Answer, exchange: &ModelExchange) -> Vec<WireAction> {
    let mut stream = Stream { answer, exchange, acts: Vec::new(), number: 0, output: Vec::new(), open: None };
    for _ in 0..answer.times() {
        stream.output.clear();
        stream.begin();
        for part in &answer.parts {
            stream.part(part);
        }
        let breaks = answer.breaks().is_some();
        if breaks && answer.calls.is_empty() {
            return stream.acts;
        }
        stream.close();
        for (number, (tool, arguments)) in answer.calls.iter().enumerate() {
            stream.call(number, tool, arguments);
        }
        if breaks {
            // The last call is not done.
            stream.acts.pop();
            return stream.acts;
        }
    }
    // The event that ends the stream says how the answer ended, so there is one of it.
    let response = ended(answer, exchange, &stream.output);
    let status = response["status"].as_str().unwrap_or_default();
    stream.send(json!({"type": format!("response.{status}"), "response": response}));
    stream.acts
}

/// A longer text is not repeated when it is done: it takes long to write, and no client reads so far.
const REPEATED_BYTES_MAX: usize = 4 * 1024 * 1024;

/// A stream in the making.
struct Stream<'a> {
    answer: &'a Answer,
    exchange: &'a ModelExchange,
    acts: Vec<WireAction>,
    /// The number of the next event.
    number: usize,
    /// The items that are done.
    output: Vec<Value>,
    open: Option<OpenItem>,
}

/// An item that has begun and is not done.
struct OpenItem {
    kind: Kind,
    text: String,
}

impl Stream<'_> {
    fn send(&mut self, mut event: Value) {
        if self.answer.has(AnswerQuirk::UnknownFields) {
            event["x_trace"] = json!({"shard": [1, {"deep": null}], "note": "\u{2028}"});
        }
        event["sequence_number"] = self.number.into();
        self.number += 1;
        self.acts.push(WireAction::Send(framed(&event)));
    }

    /// Sends an event of the item that is open, or of the next one.
    fn send_of(&mut self, id: &Value, mut event: Value) {
        event["output_index"] = self.output.len().into();
        if !id.is_null() {
            event["item_id"] = id.clone();
        }
        self.send(event);
    }

    fn begin(&mut self) {
        let response = begun(self.exchange);
        self.send(json!({"type": "response.created", "response": response}));
        self.send(json!({"type": "response.in_progress", "response": response}));
        if self.answer.has(AnswerQuirk::UnknownFields) {
            self.strangers();
        }
    }

    fn part(&mut self, part: &Part) {
        if let Part::Wait(act) = part {
            self.acts.push(act.clone());
        }
        let Some((kind, text)) = kind_of(part) else { return };
        if kind == Kind::Redacted || self.open.as_ref().is_none_or(|open| open.kind != kind) {
            self.close();
            self.open(kind);
        }
        let id = self.item("").remove("id").unwrap_or_default();
        match kind {
            Kind::Text => {
                let delta = json!({"type": "response.output_text.delta", "content_index": 0, "delta": text, "logprobs": []});
                self.send_of(&id, delta);
            }
            Kind::Thought => {
                let delta = json!({"type": "response.reasoning_summary_text.delta", "summary_index": 0, "delta": text});
                self.send_of(&id, delta);
            }
            Kind::Redacted => {}
        }
        if let Some(open) = self.open.as_mut().filter(|_| kind != Kind::Redacted) {
            open.text.push_str(text);
        }
    }

    /// Returns the item that is open, as it is when it is done with this text.
    fn item(&self, text: &str) -> serde_json::Map<String, Value> {
        let at = self.output.len();
        let item = match self.open.as_ref().map(|open| open.kind) {
            Some(Kind::Text) => message(self.exchange, at, text),
            _ => reasoning(self.exchange, at, text),
        };
        item.as_object().cloned().unwrap_or_default()
    }

    fn open(&mut self, kind: Kind) {
        self.open = Some(OpenItem { kind, text: String::new() });
        let mut item = Value::Object(self.item(""));
        let id = item["id"].clone();
        item["status"] = "in_progress".into();
        if kind == Kind::Text {
            item["content"] = json!([]);
        }
        self.send_of(&Value::Null, json!({"type": "response.output_item.added", "item": item}));
        match kind {
            Kind::Text => self.send_of(
                &id,
                json!({"type": "response.content_part.added", "content_index": 0, "part": text_part("")}),
            ),
            Kind::Thought => self.send_of(
                &id,
                json!({"type": "response.reasoning_summary_part.added", "summary_index": 0, "part": summary_part("")}),
            ),
            Kind::Redacted => {}
        }
    }

    fn close(&mut self) {
        let Some(open) = &mut self.open else { return };
        let kind = open.kind;
        let text = std::mem::take(&mut open.text);
        let text = if text.len() > REPEATED_BYTES_MAX { String::new() } else { text };
        let item = Value::Object(self.item(&text));
        let id = item["id"].clone();
        match kind {
            Kind::Text => {
                self.send_of(
                    &id,
                    json!({"type": "response.output_text.done", "content_index": 0, "text": text}),
                );
                let part = text_part(&text);
                self.send_of(
                    &id,
                    json!({"type": "response.content_part.done", "content_index": 0, "part": part}),
                );
            }
            Kind::Thought => {
                let done =
                    json!({"type": "response.reasoning_summary_text.done", "summary_index": 0, "text": text});
                self.send_of(&id, done);
            }
            Kind::Redacted => {}
        }
        self.done(item);
        self.open = None;
    }

    fn call(&mut self, number: usize, tool: &str, arguments: &str) {
        let item = call(self.exchange, self.output.len(), number, tool, arguments);
        let id = item["id"].clone();
        let mut begun = item.clone();
        begun["arguments"] = "".into();
        begun["status"] = "in_progress".into();
        self.send_of(&Value::Null, json!({"type": "response.output_item.added", "item": begun}));
        let (head, tail) = arguments.split_at(arguments.floor_char_boundary(arguments.len() / 2));
        for part in [head, tail] {
            self.send_of(&id, json!({"type": "response.function_call_arguments.delta", "delta": part}));
        }
        let done = json!({"type": "response.function_call_arguments.done", "arguments": arguments});
        self.send_of(&id, done);
        self.done(item);
    }

    fn done(&mut self, item: Value) {
        self.send_of(&Value::Null, json!({"type": "response.output_item.done", "item": item}));
        self.output.push(item);
    }

    /// An event, an item and a piece of types that came into the world after the client.
    fn strangers(&mut self) {
        self.send(json!({"type": "response.mood", "mood": "sunny"}));
        let item = json!({"id": "holo_test", "type": "hologram", "shape": "cube"});
        self.send_of(&Value::Null, json!({"type": "response.output_item.added", "item": item}));
        let delta = json!({"type": "response.hologram.delta", "delta": "\u{1f9ca}"});
        self.send_of(&"holo_test".into(), delta);
        self.done(item);
    }
}

/// Returns how a call begins whose arguments never end, and the fragment that comes again and again.
pub(crate) fn endless_call(bytes: usize) -> (Vec<u8>, Vec<u8>) {
    // High enough to be free behind any answer.
    const INDEX: usize = 900;
    let item = json!({
        "id": "fc_test_endless", "type": "function_call", "status": "in_progress", "call_id": "call_test_endless",
        "name": "read_file", "arguments": "",
    });
    let begin = json!({"type": "response.output_item.added", "output_index": INDEX, "item": item});
    let delta = |part: &str| {
        framed(&json!({
            "type": "response.function_call_arguments.delta", "output_index": INDEX, "item_id": "fc_test_endless",
            "delta": part,
        }))
    };
    ([framed(&begin), delta("{\"path\":\"")].concat(), delta(&"a".repeat(bytes)))
}

/// Frames an event; its name is its type.
pub(super) fn framed(event: &Value) -> Vec<u8> {
    let name = event["type"].as_str().unwrap_or_default();
    format!("event: {name}\ndata: {event}\n\n").into_bytes()
}
