//! Reads an answer from bytes: an event stream, or one JSON document from servers that do not stream.
//!
//! Sans-IO. Invariant: the pieces do not depend on how the bytes were split; texts, then exactly one
//! answer or one failure, then nothing. Begin at [`AnswerReader::feed`].

use std::collections::VecDeque;

use palyra_types::Redacted;
use palyra_types::model::{ModelFailure, ModelPiece};
use serde_json::Value;

use super::assembly::Assembly;
use super::failure::{malformed, stream_failure};
use crate::sse::{SseDecoder, SseEvent};

/// The largest event of a stream.
const EVENT_BYTES_MAX: usize = 4 * 1024 * 1024;
/// The largest answer.
const ANSWER_BYTES_MAX: usize = 32 * 1024 * 1024;
/// What ends a stream.
const DONE: &str = "[DONE]";

/// What comes out.
pub(super) type Pieces = VecDeque<Result<ModelPiece, ModelFailure>>;

/// The reader.
#[derive(Debug)]
pub(super) struct AnswerReader {
    format: Format,
    assembly: Assembly,
    bytes_seen: usize,
    saw_object: bool,
    ended: bool,
}

#[derive(Debug)]
enum Format {
    Unknown,
    Events(SseDecoder),
    Document(Vec<u8>),
}

impl AnswerReader {
    /// Makes a reader.
    pub(super) fn new() -> Self {
        Self {
            format: Format::Unknown,
            assembly: Assembly::default(),
            bytes_seen: 0,
            saw_object: false,
            ended: false,
        }
    }

    /// Returns whether the answer or a failure was given out.
    pub(super) fn has_ended(&self) -> bool {
        self.ended
    }

    /// Takes bytes.
    pub(super) fn feed(&mut self, bytes: &[u8], out: &mut Pieces) {
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

    fn feed_format(&mut self, bytes: &[u8], out: &mut Pieces) {
        let mut bytes = bytes;
        if matches!(self.format, Format::Unknown) {
            bytes = bytes.trim_ascii_start();
            match bytes.first() {
                None => return,
                Some(b'{') => self.format = Format::Document(Vec::new()),
                Some(_) => self.format = Format::Events(SseDecoder::new(EVENT_BYTES_MAX)),
            }
        }
        let mut events = Vec::new();
        let fed = match &mut self.format {
            Format::Unknown => Ok(()),
            Format::Document(document) => {
                document.extend_from_slice(bytes);
                Ok(())
            }
            Format::Events(decoder) => decoder.feed(bytes, |event| events.push(event)),
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
    pub(super) fn end(&mut self, out: &mut Pieces) {
        if self.ended {
            return;
        }
        match std::mem::replace(&mut self.format, Format::Unknown) {
            Format::Unknown => {}
            Format::Document(document) => match serde_json::from_slice(&document) {
                Ok(value) => self.take_object(&value, out),
                Err(_) => self.fail(malformed("the answer is not complete JSON"), out),
            },
            Format::Events(decoder) => match decoder.finish() {
                Ok(Some(event)) if is_whole(&event) || !self.assembly.is_finished() => {
                    self.take_event(&event, out);
                }
                Ok(_) => {}
                Err(error) => self.fail(malformed(&error.to_string()), out),
            },
        }
        self.close(out);
    }

    fn take_event(&mut self, event: &SseEvent, out: &mut Pieces) {
        let data = event.data.trim();
        if self.ended || data.is_empty() {
            return;
        }
        if data == DONE {
            return self.close(out);
        }
        match serde_json::from_str::<Value>(data) {
            Ok(value) if event.kind == "error" => self.fail(stream_failure(&value), out),
            Ok(value) => self.take_object(&value, out),
            Err(_) => self.fail(malformed("an event of the answer is not JSON"), out),
        }
    }

    fn take_object(&mut self, value: &Value, out: &mut Pieces) {
        self.saw_object = true;
        match self.assembly.take(value) {
            Ok(text) if text.is_empty() => {}
            Ok(text) => out.push_back(Ok(ModelPiece::Text(Redacted::new(text)))),
            Err(failure) => self.fail(failure, out),
        }
    }

    fn close(&mut self, out: &mut Pieces) {
        if std::mem::replace(&mut self.ended, true) {
            return;
        }
        let answer = if self.saw_object {
            std::mem::take(&mut self.assembly).end()
        } else {
            Err(malformed("the reply is neither an event stream nor JSON"))
        };
        out.push_back(answer.map(ModelPiece::Answer));
    }

    fn fail(&mut self, failure: ModelFailure, out: &mut Pieces) {
        self.ended = true;
        out.push_back(Err(failure));
    }
}

/// Returns whether the last event arrived whole; behind a finish reason a torn one does no harm.
fn is_whole(event: &SseEvent) -> bool {
    event.data.trim() == DONE || serde_json::from_str::<Value>(&event.data).is_ok()
}

#[cfg(test)]
mod tests;
