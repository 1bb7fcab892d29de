//! Responses: the events of a stream, numbered, and the object of a whole answer.
//!
//! Owns order and numbers. Invariant: the events are a pure function of the steps, so that a stream which is read again
//! has the same numbers; exactly one terminal event comes last, and every item is done before it.
//! Begin at [`ResponseStream::events`].

use serde_json::{Value, json};

use crate::identifiers::{ResponseId, ResponseRetention, call_item_id, message_id};
use crate::reply::answer_reader::{AnswerEnd, AnswerStep, FunctionCall, ItemState};
use crate::reply::response_object::{
    ResponseFacts, ResponseStatus, closed_message, function_call, open_message, response_object,
    terminal_event, text_part,
};
use crate::reply::server_event::{EventData, StreamEvent};

/// Turns the steps of an answer into events.
#[derive(Debug)]
pub struct ResponseStream {
    facts: ResponseFacts,
    status: ResponseStatus,
    output: Vec<Value>,
    end: Option<AnswerEnd>,
    next_number: u64,
}

impl ResponseStream {
    /// Makes the stream of a response; its time of creation comes with the first step.
    #[must_use]
    pub fn new(facts: ResponseFacts) -> Self {
        let status = match facts.id.retention {
            ResponseRetention::Background => ResponseStatus::Queued,
            ResponseRetention::Stored | ResponseRetention::Unstored => ResponseStatus::InProgress,
        };
        Self { facts, status, output: Vec::new(), end: None, next_number: 0 }
    }

    /// Returns the events of a step.
    pub fn events(&mut self, step: &AnswerStep) -> Vec<StreamEvent> {
        match step {
            AnswerStep::Accepted { created } => {
                self.facts.created = created.unix_ms() / 1_000;
                let second = match self.status {
                    ResponseStatus::Queued => "response.queued",
                    ResponseStatus::InProgress | ResponseStatus::Ended => "response.in_progress",
                };
                vec![self.whole("response.created"), self.whole(second)]
            }
            AnswerStep::Started if self.status == ResponseStatus::Queued => {
                self.status = ResponseStatus::InProgress;
                vec![self.whole("response.in_progress")]
            }
            AnswerStep::Started => Vec::new(),
            AnswerStep::ItemOpened { item } => self.opened(*item),
            AnswerStep::TextAdded { item, text } => {
                let data = json!({ "delta": text, "logprobs": [] });
                vec![self.part_event("response.output_text.delta", *item, data)]
            }
            AnswerStep::ItemClosed { item, text, state } => self.closed(*item, text, *state),
            AnswerStep::FunctionCalled { item, call } => self.called(*item, call),
            AnswerStep::Ended(end) => {
                self.status = ResponseStatus::Ended;
                self.end = Some(end.clone());
                vec![self.whole(terminal_event(&end.outcome))]
            }
        }
    }

    /// Returns an event that says nothing new, with the last number again, for clients that time the next event.
    #[must_use]
    pub fn heartbeat(&self) -> StreamEvent {
        let number = self.next_number.saturating_sub(1);
        let data = json!({
            "type": "response.in_progress",
            "sequence_number": number,
            "response": self.object(),
        });
        StreamEvent::named("response.in_progress", data)
    }

    /// Returns the response as it is now.
    #[must_use]
    pub fn object(&self) -> Value {
        let output: &[Value] = match self.status {
            ResponseStatus::Ended => &self.output,
            ResponseStatus::Queued | ResponseStatus::InProgress => &[],
        };
        response_object(&self.facts, self.status, output, self.end.as_ref())
    }

    /// Returns the id of the response.
    #[must_use]
    pub fn id(&self) -> ResponseId {
        self.facts.id
    }

    /// Returns the response with the items that are done, and a sentence in place of the rest, while the run goes on.
    #[must_use]
    pub fn interim(&self, sentence: &str) -> Value {
        let mut output = self.output.clone();
        let item = u32::try_from(output.len()).unwrap_or(u32::MAX);
        output.push(closed_message(self.facts.id, item, sentence, ItemState::Complete));
        response_object(&self.facts, self.status, &output, None)
    }

    fn opened(&mut self, item: u32) -> Vec<StreamEvent> {
        let added = json!({ "output_index": item, "item": open_message(self.facts.id, item) });
        vec![
            self.numbered("response.output_item.added", added),
            self.part_event("response.content_part.added", item, json!({ "part": text_part("") })),
        ]
    }

    fn closed(&mut self, item: u32, text: &str, state: ItemState) -> Vec<StreamEvent> {
        let message = closed_message(self.facts.id, item, text, state);
        self.output.push(message.clone());
        let text_done = json!({ "text": text, "logprobs": [] });
        vec![
            self.part_event("response.output_text.done", item, text_done),
            self.part_event("response.content_part.done", item, json!({ "part": text_part(text) })),
            self.numbered("response.output_item.done", json!({ "output_index": item, "item": message })),
        ]
    }

    fn called(&mut self, item: u32, call: &FunctionCall) -> Vec<StreamEvent> {
        let open = function_call(call, "", "in_progress");
        let done = function_call(call, &call.arguments, "completed");
        self.output.push(done.clone());
        let at = |members: Value| {
            let mut data = json!({ "item_id": call_item_id(call.id), "output_index": item });
            if let (Some(data), Value::Object(members)) = (data.as_object_mut(), members) {
                data.extend(members);
            }
            data
        };
        let whole = json!({ "arguments": call.arguments, "name": call.name });
        vec![
            self.numbered("response.output_item.added", json!({ "output_index": item, "item": open })),
            self.numbered("response.function_call_arguments.delta", at(json!({ "delta": call.arguments }))),
            self.numbered("response.function_call_arguments.done", at(whole)),
            self.numbered("response.output_item.done", json!({ "output_index": item, "item": done })),
        ]
    }

    fn whole(&mut self, name: &'static str) -> StreamEvent {
        let response = self.object();
        self.numbered(name, json!({ "response": response }))
    }

    fn part_event(&mut self, name: &'static str, item: u32, mut data: Value) -> StreamEvent {
        if let Some(members) = data.as_object_mut() {
            members
                .insert("item_id".to_owned(), message_id(self.facts.id.run, self.facts.id.part, item).into());
            members.insert("output_index".to_owned(), item.into());
            members.insert("content_index".to_owned(), 0.into());
        }
        self.numbered(name, data)
    }

    fn numbered(&mut self, name: &'static str, mut data: Value) -> StreamEvent {
        if let Some(members) = data.as_object_mut() {
            members.insert("type".to_owned(), name.into());
            members.insert("sequence_number".to_owned(), self.next_number.into());
        }
        self.next_number += 1;
        StreamEvent::named(name, data)
    }
}

/// Returns the number of an event of a response.
#[must_use]
pub fn sequence_number(event: &StreamEvent) -> Option<u64> {
    match &event.data {
        EventData::Object(data) => data.get("sequence_number")?.as_u64(),
        EventData::Done => None,
    }
}

#[cfg(test)]
mod tests;
