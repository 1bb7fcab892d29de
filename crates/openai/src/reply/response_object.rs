//! The object of a response, and the items of its output.
//!
//! Owns their shape. What a client sent with its request is repeated only in the answer to that request: the journal
//! keeps the run with the settings of its model, not the request.

use palyra_types::model::TokenUsage;
use serde_json::{Map, Value, json};

use crate::error_reply::ErrorReply;
use crate::identifiers::{ResponseId, ResponseRetention, call_item_id, message_id};
use crate::reply::answer_reader::{AnswerEnd, AnswerOutcome, FunctionCall, ItemState};
use crate::reply::failure::failure;
use crate::reply::usage::response_usage;

/// What is known of a response beside its output.
#[derive(Debug, Clone)]
pub struct ResponseFacts {
    /// Its id.
    pub id: ResponseId,
    /// The model that the client named.
    pub model: String,
    /// When the run was accepted, in seconds.
    pub created: u64,
    /// What the client sent and reads back.
    pub echo: RequestEcho,
}

/// Settings of a request that its answer repeats.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RequestEcho {
    /// Members of the request by name; those that are missing get their default.
    pub members: Map<String, Value>,
}

/// Where a response is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResponseStatus {
    /// It waits for its turn.
    Queued,
    /// It is made.
    InProgress,
    /// It is over, with the status that its end has.
    Ended,
}

/// Members that a response repeats from its request, with their defaults.
fn echo_defaults() -> Value {
    json!({
        "instructions": null,
        "metadata": {},
        "previous_response_id": null,
        "reasoning": { "effort": null, "summary": null },
        "temperature": 1.0,
        "text": { "format": { "type": "text" } },
        "top_p": 1.0,
        "truncation": "disabled",
        "max_output_tokens": null,
        "parallel_tool_calls": true,
        "tool_choice": "auto",
        "tools": [],
    })
}

/// Returns a response.
#[must_use]
pub fn response_object(
    facts: &ResponseFacts,
    status: ResponseStatus,
    output: &[Value],
    end: Option<&AnswerEnd>,
) -> Value {
    let error = end.and_then(|end| failure(&end.outcome));
    let status = match (status, end) {
        (_, Some(end)) => end_status(&end.outcome),
        (ResponseStatus::Queued, None) => "queued",
        (ResponseStatus::InProgress | ResponseStatus::Ended, None) => "in_progress",
    };
    let mut object = json!({
        "id": facts.id.to_string(),
        "object": "response",
        "created_at": facts.created,
        "status": status,
        "background": facts.id.retention == ResponseRetention::Background,
        "error": error.as_ref().map(error_member),
        "incomplete_details": end.and_then(|end| incomplete_reason(&end.outcome)),
        "model": facts.model,
        "output": output,
        "store": facts.id.retention != ResponseRetention::Unstored,
        "usage": end.map(|end| usage_member(&end.usage)),
    });
    if let (Some(members), Value::Object(defaults)) = (object.as_object_mut(), echo_defaults()) {
        for (name, default) in defaults {
            let value = facts.echo.members.get(&name).cloned().unwrap_or(default);
            members.insert(name, value);
        }
    }
    object
}

fn usage_member(usage: &TokenUsage) -> Value {
    response_usage(usage)
}

fn error_member(error: &ErrorReply) -> Value {
    json!({ "code": error.code().unwrap_or("server_error"), "message": error.message() })
}

fn incomplete_reason(outcome: &AnswerOutcome) -> Option<Value> {
    match outcome {
        AnswerOutcome::Length => Some(json!({ "reason": "max_output_tokens" })),
        AnswerOutcome::ContentFilter => Some(json!({ "reason": "content_filter" })),
        AnswerOutcome::Complete
        | AnswerOutcome::FunctionCalls
        | AnswerOutcome::Cancelled
        | AnswerOutcome::Failed { .. } => None,
    }
}

fn end_status(outcome: &AnswerOutcome) -> &'static str {
    match outcome {
        AnswerOutcome::Complete | AnswerOutcome::FunctionCalls => "completed",
        AnswerOutcome::Length | AnswerOutcome::ContentFilter => "incomplete",
        AnswerOutcome::Cancelled => "cancelled",
        AnswerOutcome::Failed { .. } => "failed",
    }
}

/// Returns the name of the event that ends a stream.
#[must_use]
pub fn terminal_event(outcome: &AnswerOutcome) -> &'static str {
    match outcome {
        AnswerOutcome::Complete | AnswerOutcome::FunctionCalls => "response.completed",
        AnswerOutcome::Length | AnswerOutcome::ContentFilter => "response.incomplete",
        AnswerOutcome::Cancelled | AnswerOutcome::Failed { .. } => "response.failed",
    }
}

/// Returns a message before it has words.
#[must_use]
pub fn open_message(id: ResponseId, item: u32) -> Value {
    message(id, item, "in_progress", &[])
}

/// Returns a message with all its words.
#[must_use]
pub fn closed_message(id: ResponseId, item: u32, text: &str, state: ItemState) -> Value {
    let status = match state {
        ItemState::Complete => "completed",
        ItemState::Superseded => "incomplete",
    };
    message(id, item, status, &[text_part(text)])
}

/// Returns a call, with so much of its arguments.
#[must_use]
pub fn function_call(call: &FunctionCall, arguments: &str, status: &str) -> Value {
    json!({
        "id": call_item_id(call.id),
        "type": "function_call",
        "status": status,
        "call_id": call.id.to_string(),
        "name": call.name,
        "arguments": arguments,
    })
}

/// Returns the part of a message that holds its words.
#[must_use]
pub fn text_part(text: &str) -> Value {
    json!({ "type": "output_text", "annotations": [], "logprobs": [], "text": text })
}

fn message(id: ResponseId, item: u32, status: &str, content: &[Value]) -> Value {
    json!({
        "id": message_id(id.run, id.part, item),
        "type": "message",
        "status": status,
        "role": "assistant",
        "content": content,
    })
}
