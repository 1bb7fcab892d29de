//! Reads an answer from bytes: an event stream, or one JSON document from servers that do not stream.
//!
//! Sans-IO. Invariant: the pieces do not depend on how the bytes were split; texts, then exactly one
//! answer or one failure, then nothing. Begin at [`AnswerReader::feed`].

use std::collections::VecDeque;

use palyra_types::model::{ModelFailure, ModelPiece, RawModelAnswer};
use serde_json::Value;

use super::failure::malformed;
use super::sse::{SseDecoder, SseEvent};

/// The largest event of a stream.
pub(crate) const EVENT_BYTES_MAX: usize = 4 * 1024 * 1024;
/// The largest answer.
pub(crate) const ANSWER_BYTES_MAX: usize = 32 * 1024 * 1024;
/// What ends a stream of Chat Completions, and of servers that mix it into other formats.
const DONE: &str = "[DONE]";

/// What comes out.
pub(crate) type PieceQueue = VecDeque<Result<ModelPiece, ModelFailure>>;

/// Puts an answer together from the JSON objects a server sends. Sans-IO.
pub(crate) trait AnswerAssembly: Send + Sync {
    /// Returns whether the server said why it stopped.
    fn is_finished(&self) -> bool;

    /// Takes an event of the usual form without making a tree of it; [`EventTaken::No`] where it has another form.
    fn take_usual(&mut self, _kind: &str, _data: &str, _out: &mut PieceQueue) -> EventTaken {
        EventTaken::No
    }

    /// Takes the object of one event of a kind and gives out the pieces in it, none of them empty.
    fn take_event(
        &mut self,
        kind: &str,
        value: &Value,
        out: &mut Vec<ModelPiece>,
    ) -> Result<StreamFlow, ModelFailure>;

    /// Takes a whole answer in one object.
    fn take_document(&mut self, value: &Value, out: &mut Vec<ModelPiece>) -> Result<(), ModelFailure>;

    /// Ends the answer; asked once.
    ///
    /// # Errors
    /// `Malformed` when the server never said why it stopped, or left something open.
    fn end(&mut self) -> Result<RawModelAnswer, ModelFailure>;
}

/// Whether an event was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EventTaken {
    /// With all that is in it.
    Yes,
    /// Nothing has changed.
    No,
}

/// Whether an event was the last one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StreamFlow {
    /// More may come.
    GoesOn,
    /// Nothing that comes now belongs to the answer.
    Over,
}

/// The reader.
#[derive(Debug)]
pub(crate) struct AnswerReader<A> {
    format: BodyFormat,
    assembly: A,
    bytes_seen: usize,
    saw_object: bool,
    ended: bool,
}

#[derive(Debug)]
enum BodyFormat {
    Unknown,
    Events(SseDecoder),
    Document(Vec<u8>),
}

impl<A: AnswerAssembly> AnswerReader<A> {
    /// Makes a reader.
    pub(crate) fn new(assembly: A) -> Self {
        Self { format: BodyFormat::Unknown, assembly, bytes_seen: 0, saw_object: false, ended: false }
    }

    /// Returns whether the answer or a failure was given out.
    pub(crate) fn has_ended(&self) -> bool {
        self.ended
    }

    /// Takes bytes.
    pub(crate) fn feed(&mut self, bytes: &[u8], out: &mut PieceQueue) {
        if self.ended {
            return;
        }
        // The pieces must not depend on the splits, so the limit falls at a byte and not at a chunk.
        let room = ANSWER_BYTES_MAX - self.bytes_seen;
        let taken = &bytes[..bytes.len().min(room)];
        self.bytes_seen += taken.len();
        self.feed_format(taken, out);
        if bytes.len() > room && !self.ended {
            self.fail(malformed("the answer is too large"), out);
        }
    }

    fn feed_format(&mut self, bytes: &[u8], out: &mut PieceQueue) {
        let mut bytes = bytes;
        if matches!(self.format, BodyFormat::Unknown) {
            bytes = bytes.trim_ascii_start();
            match bytes.first() {
                None => return,
                Some(b'{') => self.format = BodyFormat::Document(Vec::new()),
                Some(_) => self.format = BodyFormat::Events(SseDecoder::new(EVENT_BYTES_MAX)),
            }
        }
        let mut events = Vec::new();
        let fed = match &mut self.format {
            BodyFormat::Unknown => Ok(()),
            BodyFormat::Document(document) => {
                document.extend_from_slice(bytes);
                Ok(())
            }
            BodyFormat::Events(decoder) => decoder.feed(bytes, |event| events.push(event)),
        };
        for event in events {
            self.take_event(&event, out);
        }
        if let Err(error) = fed
            && !self.ended
        {
            self.fail(malformed(&error.to_string()), out);
        }
    }

    /// Takes the end of the bytes.
    pub(crate) fn end(&mut self, out: &mut PieceQueue) {
        if self.ended {
            return;
        }
        match std::mem::replace(&mut self.format, BodyFormat::Unknown) {
            BodyFormat::Unknown => {}
            BodyFormat::Document(document) => match serde_json::from_slice(&document) {
                Ok(value) => self.take_object(out, |assembly, out| {
                    assembly.take_document(&value, out).map(|()| StreamFlow::Over)
                }),
                Err(_) => self.fail(malformed("the answer is not complete JSON"), out),
            },
            BodyFormat::Events(decoder) => match decoder.finish() {
                Ok(Some(event)) if is_whole(&event) || !self.assembly.is_finished() => {
                    self.take_event(&event, out);
                }
                Ok(_) => {}
                Err(error) => self.fail(malformed(&error.to_string()), out),
            },
        }
        self.close(out);
    }

    fn take_event(&mut self, event: &SseEvent, out: &mut PieceQueue) {
        let data = event.data.trim();
        if self.ended || data.is_empty() {
            return;
        }
        if data == DONE {
            return self.close(out);
        }
        if self.assembly.take_usual(&event.kind, data, out) == EventTaken::Yes {
            self.saw_object = true;
            return;
        }
        match serde_json::from_str::<Value>(data) {
            Ok(value) => self.take_object(out, |assembly, out| assembly.take_event(&event.kind, &value, out)),
            Err(_) => self.fail(malformed("an event of the answer is not JSON"), out),
        }
    }

    fn take_object(
        &mut self,
        out: &mut PieceQueue,
        take: impl FnOnce(&mut A, &mut Vec<ModelPiece>) -> Result<StreamFlow, ModelFailure>,
    ) {
        self.saw_object = true;
        let mut pieces = Vec::new();
        let taken = take(&mut self.assembly, &mut pieces);
        out.extend(pieces.into_iter().map(Ok));
        match taken {
            Ok(StreamFlow::GoesOn) => {}
            Ok(StreamFlow::Over) => self.close(out),
            Err(failure) => self.fail(failure, out),
        }
    }

    fn close(&mut self, out: &mut PieceQueue) {
        if std::mem::replace(&mut self.ended, true) {
            return;
        }
        let answer = if self.saw_object {
            self.assembly.end()
        } else {
            Err(malformed("the reply is neither an event stream nor JSON"))
        };
        out.push_back(answer.map(ModelPiece::Answer));
    }

    fn fail(&mut self, failure: ModelFailure, out: &mut PieceQueue) {
        self.ended = true;
        out.push_back(Err(failure));
    }
}

/// Returns whether the last event arrived whole; behind a finish reason a torn one does no harm.
fn is_whole(event: &SseEvent) -> bool {
    event.data.trim() == DONE || serde_json::from_str::<Value>(&event.data).is_ok()
}
