//! What the server answers: pieces of an answer, pauses between them, and faults.
//!
//! One builder for all dialects: a reply takes its form when the request it answers is known.
//! Begin at [`Reply::text`], [`Reply::fault`] and [`Reply::raw`].

use std::time::Duration;

use super::act::{Cut, WireAction, WireReply, cut_at, in_chunks};
use super::answer::{Answer, AnswerFault, AnswerQuirk, Part, Stop, StopWord, Tear, Tokens};
use super::exchange::ModelExchange;
use super::fault::Fault;
use super::perform;
use palyra_testkit::scripted_provider::Gate;

/// An answer to one request.
#[derive(Debug, Clone)]
pub struct Reply {
    kind: Kind,
    headers: Vec<(String, String)>,
    content_type: Option<String>,
    cut: Option<(usize, Cut)>,
    chunk_bytes: Option<usize>,
    hangs: bool,
    responds_twice: bool,
}

#[derive(Debug, Clone)]
enum Kind {
    Answer(Answer),
    Fault(Fault),
    Error { status: u16, code: String, message: String },
    Status(u16, String),
    Raw(String, Vec<u8>),
    Silent,
}

impl From<Fault> for Reply {
    fn from(fault: Fault) -> Self {
        Self::fault(fault)
    }
}

/// What a reply is.
impl Reply {
    /// Answers with text, in pieces of a word each.
    #[must_use]
    pub fn text(text: &str) -> Self {
        text.split_inclusive(' ').fold(Self::empty(), Self::piece)
    }

    /// Answers with nothing yet.
    #[must_use]
    pub fn empty() -> Self {
        Self::of(Kind::Answer(Answer::default()))
    }

    /// Fails instead of answering.
    #[must_use]
    pub fn fault(fault: Fault) -> Self {
        Self::of(Kind::Fault(fault))
    }

    /// Refuses with a status and a body.
    #[must_use]
    pub fn status(status: u16, body: &str) -> Self {
        Self::of(Kind::Status(status, body.to_owned()))
    }

    /// Refuses in the error shape of the dialect that was spoken.
    #[must_use]
    pub fn error(status: u16, code: &str, message: &str) -> Self {
        Self::of(Kind::Error { status, code: code.to_owned(), message: message.to_owned() })
    }

    /// Answers 200 with any bytes: a recorded stream, or what is none.
    #[must_use]
    pub fn raw(content_type: &str, body: &[u8]) -> Self {
        Self::of(Kind::Raw(content_type.to_owned(), body.to_vec()))
    }

    /// Never answers.
    #[must_use]
    pub fn silent() -> Self {
        Self::of(Kind::Silent)
    }

    /// Returns whether it is an answer of a model, and no fault and no bytes of the test's own.
    pub(super) fn is_answer(&self) -> bool {
        matches!(&self.kind, Kind::Answer(answer) if answer.trouble.is_none())
    }

    fn of(kind: Kind) -> Self {
        Self {
            kind,
            headers: Vec::new(),
            content_type: None,
            cut: None,
            chunk_bytes: None,
            hangs: false,
            responds_twice: false,
        }
    }
}

/// What an answer says.
impl Reply {
    /// Adds a piece of text.
    #[must_use]
    pub fn piece(self, text: &str) -> Self {
        self.part(Part::Text(text.to_owned()))
    }

    /// Adds reasoning, in pieces of a word each. That of Anthropic is signed, that of Responses is encrypted
    /// as well, and both are wanted back as they are.
    #[must_use]
    pub fn thinking(self, text: &str) -> Self {
        text.split_inclusive(' ').fold(self, |reply, word| reply.part(Part::Thought(word.to_owned())))
    }

    /// Adds reasoning that only the vendor can read; Chat Completions has none.
    #[must_use]
    pub fn redacted_thinking(self, secret: &str) -> Self {
        self.part(Part::Redacted(secret.to_owned()))
    }

    /// Waits before what follows.
    #[must_use]
    pub fn pause(self, span: Duration) -> Self {
        self.part(Part::Wait(WireAction::Pause(span)))
    }

    /// Waits before each piece that is there already.
    #[must_use]
    pub fn paced(self, span: Duration) -> Self {
        self.answer(|answer| {
            let parts = std::mem::take(&mut answer.parts);
            answer.parts =
                parts.into_iter().flat_map(|part| [Part::Wait(WireAction::Pause(span)), part]).collect();
        })
    }

    /// Waits for the test before what follows.
    #[must_use]
    pub fn hold(self, gate: &Gate) -> Self {
        self.part(Part::Wait(WireAction::Hold(gate.clone())))
    }

    /// Calls a tool; the arguments go out as written.
    #[must_use]
    pub fn call(self, tool: &str, arguments: &str) -> Self {
        self.answer(|answer| answer.calls.push((tool.to_owned(), arguments.to_owned())))
    }

    /// Ends for another reason than its calls suggest.
    #[must_use]
    pub fn stop(self, stop: Stop) -> Self {
        self.answer(|answer| answer.stop = Some(StopWord::Meaning(stop)))
    }

    /// Ends with a word that goes out as written, whatever the dialect.
    #[must_use]
    pub fn finish(self, reason: &str) -> Self {
        self.answer(|answer| answer.stop = Some(StopWord::Literal(reason.to_owned())))
    }

    /// Tells what the answer used, instead of a guess by bytes.
    #[must_use]
    pub fn usage(self, tokens: Tokens) -> Self {
        self.answer(|answer| answer.tokens = Some(tokens))
    }

    fn part(self, part: Part) -> Self {
        self.answer(|answer| answer.parts.push(part))
    }

    fn answer(mut self, change: impl FnOnce(&mut Answer)) -> Self {
        match &mut self.kind {
            Kind::Answer(answer) => change(answer),
            _ => panic!("only an answer has pieces and quirks"),
        }
        self
    }
}

/// How an answer goes wrong.
impl Reply {
    /// Goes wrong behind what is said so far.
    #[must_use]
    pub fn torn(self, tear: Tear) -> Self {
        self.answer(|answer| answer.trouble = Some(AnswerFault::Torn(tear)))
    }

    /// Fails behind what is said so far: a refusal becomes an error inside the stream.
    #[must_use]
    pub fn then(self, fault: Fault) -> Self {
        self.answer(|answer| answer.trouble = Some(AnswerFault::Fails(fault)))
    }

    /// Leaves out what ends the stream: `[DONE]`, `message_stop`. The reason to stop is there.
    #[must_use]
    pub fn without_done(self) -> Self {
        self.quirk(AnswerQuirk::NoDone)
    }

    /// Leaves out the usage.
    #[must_use]
    pub fn without_usage(self) -> Self {
        self.quirk(AnswerQuirk::NoUsage)
    }

    /// Sprinkles fields, events and blocks that nobody knows.
    #[must_use]
    pub fn with_unknown_fields(self) -> Self {
        self.quirk(AnswerQuirk::UnknownFields)
    }

    /// Tells the whole answer twice before the stream ends, once.
    #[must_use]
    pub fn twice(self) -> Self {
        self.quirk(AnswerQuirk::Twice)
    }

    /// Sends every event twice, one behind the other.
    #[must_use]
    pub fn events_doubled(self) -> Self {
        self.quirk(AnswerQuirk::EventsDoubled)
    }

    fn quirk(self, quirk: AnswerQuirk) -> Self {
        self.answer(|answer| answer.quirks.push(quirk))
    }
}

/// How any reply travels.
impl Reply {
    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Says another content type than is true.
    #[must_use]
    pub fn content_type(mut self, content_type: &str) -> Self {
        self.content_type = Some(content_type.to_owned());
        self
    }

    /// Cuts behind the first `bytes` bytes of the body; a shorter body is whole.
    #[must_use]
    pub fn cut_at(mut self, bytes: usize, cut: Cut) -> Self {
        self.cut = Some((bytes, cut));
        self
    }

    /// Sends the body in chunks of at most this many bytes; 1 is byte by byte.
    #[must_use]
    pub fn in_chunks_of(mut self, bytes: usize) -> Self {
        self.chunk_bytes = Some(bytes);
        self
    }

    /// Says everything, and then neither ends the body nor closes the connection.
    #[must_use]
    pub fn then_hang(mut self) -> Self {
        self.hangs = true;
        self
    }

    /// Sends the whole response a second time, though nobody asked again.
    #[must_use]
    pub fn responds_twice(mut self) -> Self {
        self.responds_twice = true;
        self
    }

    /// Returns how often the whole response is sent.
    pub(super) fn responses(&self) -> usize {
        if self.responds_twice { 2 } else { 1 }
    }

    /// Returns what to do on the wire for a request.
    pub(super) fn performance(&self, exchange: &ModelExchange) -> WireReply {
        let mut performance = match &self.kind {
            Kind::Silent => WireReply::headless(WireAction::Hang),
            Kind::Fault(fault) => perform::failed(*fault, exchange),
            Kind::Error { status, code, message } => perform::refused(*status, code, message, exchange),
            Kind::Status(status, body) => {
                WireReply::whole(*status, "application/json", body.clone().into_bytes())
            }
            Kind::Raw(content_type, body) => WireReply::whole(200, content_type, body.clone()),
            Kind::Answer(answer) => perform::answered(answer, exchange),
        };
        if let Some(head) = &mut performance.head {
            if let Some(content_type) = &self.content_type {
                head.headers.retain(|(name, _)| name != "Content-Type");
                head.headers.push(("Content-Type".to_owned(), content_type.clone()));
            }
            head.headers.extend(self.headers.iter().cloned());
        }
        if let Some((bytes, cut)) = self.cut {
            performance.acts = cut_at(performance.acts, bytes, cut);
        }
        if let Some(bytes) = self.chunk_bytes {
            performance.acts = in_chunks(performance.acts, bytes);
        }
        if self.hangs {
            performance.acts.push(WireAction::Hang);
        }
        performance
    }
}
