//! What the server answers: pieces of an answer, pauses between them, and faults.

use std::time::Duration;

use serde_json::{Value, json};

use super::wire::{self, Envelope};
use crate::scripted_provider::Gate;

/// One thing done on the wire.
#[derive(Debug, Clone)]
pub(super) enum Act {
    /// Sends bytes as one chunk.
    Send(Vec<u8>),
    /// Waits.
    Pause(Duration),
    /// Waits for the test.
    Hold(Gate),
    /// Says nothing more and keeps the connection.
    Hang,
    /// Closes the connection without ending the body.
    Close,
}

/// How a stream goes wrong behind its first half.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tear {
    /// The connection closes inside an event.
    MidFrame,
    /// The body ends properly, but there is no finish reason.
    CleanEnd,
    /// Nothing more comes.
    Silence,
}

/// An answer to one request.
#[derive(Debug, Clone)]
pub struct Reply {
    kind: Kind,
    headers: Vec<(String, String)>,
    hangs: bool,
}

#[derive(Debug, Clone)]
enum Kind {
    Chat(Chat),
    Status(u16, String),
    Raw(String, Vec<u8>),
    Silent,
}

#[derive(Debug, Clone, Default)]
struct Chat {
    parts: Vec<Part>,
    calls: Vec<(String, String)>,
    finish: Option<String>,
    tear: Option<Tear>,
    quirks: Vec<Quirk>,
}

#[derive(Debug, Clone)]
enum Part {
    Text(String),
    Wait(Act),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quirk {
    NoDone,
    UnknownFields,
    Twice,
    NoUsage,
}

impl Reply {
    /// Answers with text, in pieces of a word each.
    #[must_use]
    pub fn text(text: &str) -> Self {
        text.split_inclusive(' ').fold(Self::empty(), Self::piece)
    }

    /// Answers with nothing yet.
    #[must_use]
    pub fn empty() -> Self {
        Self { kind: Kind::Chat(Chat::default()), headers: Vec::new(), hangs: false }
    }

    /// Refuses with a status and a body.
    #[must_use]
    pub fn status(status: u16, body: &str) -> Self {
        Self { kind: Kind::Status(status, body.to_owned()), headers: Vec::new(), hangs: false }
    }

    /// Refuses as OpenAI does.
    #[must_use]
    pub fn error(status: u16, code: &str, message: &str) -> Self {
        Self::status(status, &json!({"error": {"message": message, "type": code, "code": code}}).to_string())
    }

    /// Says everything, and then neither ends the body nor closes the connection.
    #[must_use]
    pub fn then_hang(mut self) -> Self {
        self.hangs = true;
        self
    }

    /// Answers 200 with any bytes.
    #[must_use]
    pub fn raw(content_type: &str, body: &[u8]) -> Self {
        Self { kind: Kind::Raw(content_type.to_owned(), body.to_vec()), headers: Vec::new(), hangs: false }
    }

    /// Never answers.
    #[must_use]
    pub fn silent() -> Self {
        Self { kind: Kind::Silent, headers: Vec::new(), hangs: false }
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Adds a piece of text.
    #[must_use]
    pub fn piece(self, text: &str) -> Self {
        self.chat(|chat| chat.parts.push(Part::Text(text.to_owned())))
    }

    /// Waits before what follows.
    #[must_use]
    pub fn pause(self, span: Duration) -> Self {
        self.chat(|chat| chat.parts.push(Part::Wait(Act::Pause(span))))
    }

    /// Waits before each piece that is there already.
    #[must_use]
    pub fn paced(self, span: Duration) -> Self {
        self.chat(|chat| {
            let parts = std::mem::take(&mut chat.parts);
            chat.parts = parts.into_iter().flat_map(|part| [Part::Wait(Act::Pause(span)), part]).collect();
        })
    }

    /// Waits for the test before what follows.
    #[must_use]
    pub fn hold(self, gate: &Gate) -> Self {
        self.chat(|chat| chat.parts.push(Part::Wait(Act::Hold(gate.clone()))))
    }

    /// Calls a tool; the arguments go out as written.
    #[must_use]
    pub fn call(self, tool: &str, arguments: &str) -> Self {
        self.chat(|chat| chat.calls.push((tool.to_owned(), arguments.to_owned())))
    }

    /// Ends with another finish reason than its calls suggest.
    #[must_use]
    pub fn finish(self, reason: &str) -> Self {
        self.chat(|chat| chat.finish = Some(reason.to_owned()))
    }

    /// Goes wrong behind the first half.
    #[must_use]
    pub fn torn(self, tear: Tear) -> Self {
        self.chat(|chat| chat.tear = Some(tear))
    }

    /// Leaves out the final `[DONE]`.
    #[must_use]
    pub fn without_done(self) -> Self {
        self.quirk(Quirk::NoDone)
    }

    /// Leaves out the usage.
    #[must_use]
    pub fn without_usage(self) -> Self {
        self.quirk(Quirk::NoUsage)
    }

    /// Sprinkles fields that nobody knows.
    #[must_use]
    pub fn with_unknown_fields(self) -> Self {
        self.quirk(Quirk::UnknownFields)
    }

    /// Sends the whole answer twice, under one `[DONE]`.
    #[must_use]
    pub fn twice(self) -> Self {
        self.quirk(Quirk::Twice)
    }

    fn quirk(self, quirk: Quirk) -> Self {
        self.chat(|chat| chat.quirks.push(quirk))
    }

    fn chat(mut self, change: impl FnOnce(&mut Chat)) -> Self {
        match &mut self.kind {
            Kind::Chat(chat) => change(chat),
            Kind::Status(..) | Kind::Raw(..) | Kind::Silent => panic!("only an answer has pieces and quirks"),
        }
        self
    }

    /// Returns status, headers and acts for a request; `None` when nothing is ever said.
    pub(super) fn performance(&self, envelope: &Envelope) -> Option<Performance> {
        let (status, content_type, mut acts) = match &self.kind {
            Kind::Silent => return None,
            Kind::Status(status, body) => {
                (*status, "application/json", vec![Act::Send(body.clone().into_bytes())])
            }
            Kind::Raw(content_type, body) => (200, content_type.as_str(), vec![Act::Send(body.clone())]),
            Kind::Chat(chat) if envelope.streams => (200, "text/event-stream", chat.events(envelope)),
            Kind::Chat(chat) => (200, "application/json", chat.document(envelope)),
        };
        if self.hangs {
            acts.push(Act::Hang);
        }
        let mut headers = vec![("Content-Type".to_owned(), content_type.to_owned())];
        headers.extend(self.headers.iter().cloned());
        Some(Performance { status, headers, acts })
    }
}

/// A reply, ready for the wire.
#[derive(Debug)]
pub(super) struct Performance {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) acts: Vec<Act>,
}

impl Chat {
    fn has(&self, quirk: Quirk) -> bool {
        self.quirks.contains(&quirk)
    }

    fn finish(&self) -> &str {
        let natural = if self.calls.is_empty() { "stop" } else { "tool_calls" };
        self.finish.as_deref().unwrap_or(natural)
    }

    fn text(&self) -> String {
        let said = self.parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            Part::Wait(_) => None,
        });
        said.collect()
    }

    fn events(&self, envelope: &Envelope) -> Vec<Act> {
        let event = |mut value: Value| {
            if self.has(Quirk::UnknownFields) {
                value["x_trace"] = json!({"shard": [1, {"deep": null}], "note": "\u{2028}"});
            }
            Act::Send(format!("data: {value}\n\n").into_bytes())
        };
        let delta = |delta: Value| event(envelope.chunk(&delta, None));
        let mut acts = Vec::new();
        for _ in 0..if self.has(Quirk::Twice) { 2 } else { 1 } {
            acts.push(delta(json!({"role": "assistant", "content": ""})));
            acts.extend(self.parts.iter().map(|part| match part {
                Part::Text(text) => delta(json!({"content": text})),
                Part::Wait(act) => act.clone(),
            }));
            let calls = self.calls.iter().enumerate();
            acts.extend(
                calls.flat_map(|(at, (tool, arguments))| wire::call_deltas(at, tool, arguments)).map(delta),
            );
            if let Some(tear) = self.tear {
                return torn(acts, tear);
            }
            acts.push(event(envelope.chunk(&json!({}), Some(self.finish()))));
        }
        if envelope.wants_usage && !self.has(Quirk::NoUsage) {
            acts.push(event(envelope.usage_chunk(&self.text())));
        }
        if !self.has(Quirk::NoDone) {
            acts.push(Act::Send(b"data: [DONE]\n\n".to_vec()));
        }
        acts
    }

    fn document(&self, envelope: &Envelope) -> Vec<Act> {
        let waits = self.parts.iter().filter_map(|part| match part {
            Part::Text(_) => None,
            Part::Wait(act) => Some(act.clone()),
        });
        let mut acts: Vec<Act> = waits.collect();
        let document = envelope.document(&self.text(), &self.calls, self.finish()).to_string();
        acts.push(Act::Send(document.into_bytes()));
        match self.tear {
            Some(tear) => torn(acts, tear),
            None => acts,
        }
    }
}

fn torn(mut acts: Vec<Act>, tear: Tear) -> Vec<Act> {
    match tear {
        Tear::CleanEnd => {}
        Tear::Silence => acts.push(Act::Hang),
        Tear::MidFrame => {
            if let Some(Act::Send(bytes)) = acts.last_mut() {
                bytes.truncate(bytes.len() / 2);
            }
            acts.push(Act::Close);
        }
    }
    acts
}
