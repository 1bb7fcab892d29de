//! Chat completions: the chunks of a stream, and the object of a whole answer.
//!
//! Owns both shapes. A stream ends with `[DONE]`, or with an error and nothing behind it. Begin at [`ChatStream`].

use palyra_types::RunId;
use serde_json::{Value, json};

use crate::error_reply::ErrorReply;
use crate::identifiers::completion_id;
use crate::reply::answer_reader::{AnswerEnd, AnswerOutcome, AnswerStep, FunctionCall};
use crate::reply::failure::failure;
use crate::reply::server_event::StreamEvent;
use crate::reply::usage::chat_usage;

/// Whether a stream says what was used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UsageReport {
    /// No chunk has usage.
    Omitted,
    /// Every chunk has the member, and one before the end has the numbers.
    Included,
}

/// Turns the steps of an answer into chunks.
#[derive(Debug)]
pub struct ChatStream {
    id: String,
    model: String,
    created: u64,
    usage: UsageReport,
}

impl ChatStream {
    /// Makes the stream of a part of a run, for the model that the client named.
    #[must_use]
    pub fn new(run: RunId, part: u32, model: &str, usage: UsageReport) -> Self {
        Self { id: completion_id(run, part), model: model.to_owned(), created: 0, usage }
    }

    /// Returns the chunks of a step.
    pub fn events(&mut self, step: &AnswerStep) -> Vec<StreamEvent> {
        match step {
            AnswerStep::Accepted { created } => {
                self.created = created.unix_ms() / 1_000;
                vec![self.choice(&json!({ "role": "assistant", "content": "" }), None)]
            }
            AnswerStep::TextAdded { text, .. } => vec![self.choice(&json!({ "content": text }), None)],
            AnswerStep::FunctionCalled { call, .. } => self.call(call),
            AnswerStep::Started | AnswerStep::ItemOpened { .. } | AnswerStep::ItemClosed { .. } => Vec::new(),
            AnswerStep::Ended(end) => self.end(end),
        }
    }

    /// Returns a chunk that says nothing, for clients that time the next event.
    #[must_use]
    pub fn heartbeat(&self) -> StreamEvent {
        self.choice(&json!({}), None)
    }

    /// Id, type and name come once, in the first of two chunks: clients join what is repeated.
    fn call(&self, call: &FunctionCall) -> Vec<StreamEvent> {
        let FunctionCall { id, index, name, arguments } = call;
        let begin = json!({ "index": index, "id": id.to_string(), "type": "function",
            "function": { "name": name, "arguments": "" } });
        let rest = json!({ "index": index, "function": { "arguments": arguments } });
        [begin, rest].map(|call| self.choice(&json!({ "tool_calls": [call] }), None)).into()
    }

    fn end(&self, end: &AnswerEnd) -> Vec<StreamEvent> {
        if let Some(error) = failure(&end.outcome) {
            return vec![StreamEvent::unnamed(error.body())];
        }
        let mut events = vec![self.choice(&json!({}), Some(finish_reason(&end.outcome)))];
        if self.usage == UsageReport::Included {
            events.push(self.chunk(&json!([]), &chat_usage(&end.usage)));
        }
        events.push(StreamEvent::done());
        events
    }

    fn choice(&self, delta: &Value, finish: Option<&str>) -> StreamEvent {
        let choices = json!([{ "index": 0, "delta": delta, "logprobs": null, "finish_reason": finish }]);
        self.chunk(&choices, &Value::Null)
    }

    fn chunk(&self, choices: &Value, usage: &Value) -> StreamEvent {
        let mut chunk = json!({
            "id": self.id,
            "object": "chat.completion.chunk",
            "created": self.created,
            "model": self.model,
            "choices": choices,
        });
        if let (UsageReport::Included, Some(members)) = (self.usage, chunk.as_object_mut()) {
            members.insert("usage".to_owned(), usage.clone());
        }
        StreamEvent::unnamed(chunk)
    }
}

/// Gathers the steps of an answer into one object.
#[derive(Debug)]
pub struct ChatCompletion {
    id: String,
    model: String,
    created: u64,
    text: String,
    calls: Vec<Value>,
}

impl ChatCompletion {
    /// Makes the answer of a part of a run, for the model that the client named.
    #[must_use]
    pub fn new(run: RunId, part: u32, model: &str) -> Self {
        let id = completion_id(run, part);
        Self { id, model: model.to_owned(), created: 0, text: String::new(), calls: Vec::new() }
    }

    /// Takes a step; returns the answer, or the error, at the end.
    pub fn take(&mut self, step: &AnswerStep) -> Option<Result<Value, ErrorReply>> {
        match step {
            AnswerStep::Accepted { created } => self.created = created.unix_ms() / 1_000,
            AnswerStep::TextAdded { text, .. } => self.text.push_str(text),
            AnswerStep::FunctionCalled { call, .. } => self.calls.push(json!({
                "id": call.id.to_string(),
                "type": "function",
                "function": { "name": call.name, "arguments": call.arguments },
            })),
            AnswerStep::Started | AnswerStep::ItemOpened { .. } | AnswerStep::ItemClosed { .. } => {}
            AnswerStep::Ended(end) => return Some(self.end(end)),
        }
        None
    }

    fn end(&self, end: &AnswerEnd) -> Result<Value, ErrorReply> {
        match failure(&end.outcome) {
            Some(error) => Err(error),
            None => Ok(self.object(&self.text, finish_reason(&end.outcome), &chat_usage(&end.usage))),
        }
    }

    /// Returns an answer that is not the run's own: a sentence in its place, while the run goes on.
    #[must_use]
    pub fn interim(&self, sentence: &str) -> Value {
        let separator = if self.text.is_empty() { "" } else { "\n\n" };
        let usage = chat_usage(&palyra_types::model::TokenUsage::default());
        self.object(&format!("{}{separator}{sentence}", self.text), "stop", &usage)
    }

    fn object(&self, text: &str, finish: &str, usage: &Value) -> Value {
        let mut message = json!({ "role": "assistant", "content": text, "refusal": null, "annotations": [] });
        if !self.calls.is_empty() {
            message["tool_calls"] = self.calls.clone().into();
            if text.is_empty() {
                message["content"] = Value::Null;
            }
        }
        json!({
            "id": self.id,
            "object": "chat.completion",
            "created": self.created,
            "model": self.model,
            "choices": [{
                "index": 0,
                "message": message,
                "logprobs": null,
                "finish_reason": finish,
            }],
            "usage": usage,
        })
    }
}

fn finish_reason(outcome: &AnswerOutcome) -> &'static str {
    match outcome {
        AnswerOutcome::FunctionCalls => "tool_calls",
        AnswerOutcome::Length => "length",
        AnswerOutcome::ContentFilter => "content_filter",
        AnswerOutcome::Complete | AnswerOutcome::Cancelled | AnswerOutcome::Failed { .. } => "stop",
    }
}

#[cfg(test)]
mod tests;
