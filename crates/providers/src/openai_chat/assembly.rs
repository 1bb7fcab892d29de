//! Puts an answer together from the JSON objects a server sends.
//!
//! Tolerant in shape, strict in ending: unknown fields, missing ids and whole messages in one piece
//! are fine; an answer without a finish reason is a failure. Sans-IO.
//! Invariant: no text is given out once the answer has finished.

use palyra_types::Content;
use palyra_types::model::{
    ARGUMENTS_BYTES_MAX, FinishReason, ModelAnswer, ModelFailure, ModelName, ModelPiece, PROPOSALS_MAX,
    RawModelAnswer, RawToolProposal, TokenUsage, ToolProposal,
};
use palyra_types::tool::ToolName;
use serde_json::Value;

use super::plain::PlainEvent;
use crate::openai_server::failure::ROWS;
use crate::openai_server::usage::usage;
use crate::wire_format::answer_reader::{self, EventTaken, PieceQueue, StreamFlow};
use crate::wire_format::failure::{malformed, stream_failure};
use crate::wire_format::names::{check_call, sign};

/// An answer in the making.
#[derive(Debug, Default)]
pub(crate) struct ChatAssembly {
    response_id: String,
    answered_by: String,
    finish: Option<FinishReason>,
    usage: Option<TokenUsage>,
    calls: Vec<PartialCall>,
    arguments_bytes: usize,
}

#[derive(Debug, Default)]
struct PartialCall {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
}

impl answer_reader::AnswerAssembly for ChatAssembly {
    fn is_finished(&self) -> bool {
        self.finish.is_some()
    }

    fn take_usual(&mut self, kind: &str, data: &str, out: &mut PieceQueue) -> EventTaken {
        let Some(event) = PlainEvent::read(data).filter(|_| kind != "error" && self.finish.is_none()) else {
            return EventTaken::No;
        };
        keep_first(&mut self.response_id, &event.id);
        keep_first(&mut self.answered_by, &event.model);
        if !event.text().is_empty() {
            out.push_back(Ok(ModelPiece::Text(Content::new(event.text().to_owned()))));
        }
        EventTaken::Yes
    }

    fn take_event(
        &mut self,
        kind: &str,
        value: &Value,
        out: &mut Vec<ModelPiece>,
    ) -> Result<StreamFlow, ModelFailure> {
        if kind == "error" {
            return Err(stream_failure(ROWS, value));
        }
        self.take_document(value, out).map(|()| StreamFlow::GoesOn)
    }

    fn take_document(&mut self, value: &Value, out: &mut Vec<ModelPiece>) -> Result<(), ModelFailure> {
        if value.get("error").is_some_and(|error| !error.is_null()) {
            return Err(stream_failure(ROWS, value));
        }
        keep_first(&mut self.response_id, text_of(value, "id"));
        keep_first(&mut self.answered_by, text_of(value, "model"));
        if let Some(found) = value.get("usage").and_then(usage) {
            self.usage = Some(found);
        }
        let choices = value.get("choices").and_then(Value::as_array);
        let first = choices.and_then(|all| all.iter().find(|choice| index_of(choice).unwrap_or(0) == 0));
        first.map_or(Ok(()), |choice| self.take_choice(choice, out))
    }

    fn end(&mut self) -> Result<RawModelAnswer, ModelFailure> {
        std::mem::take(self).into_answer()
    }
}

impl ChatAssembly {
    fn take_choice(&mut self, choice: &Value, out: &mut Vec<ModelPiece>) -> Result<(), ModelFailure> {
        let message =
            ["delta", "message"].iter().find_map(|name| choice.get(*name).filter(|part| part.is_object()));
        if let Some(message) = message {
            let (thought, text) = (thought(message), spoken(message));
            let calls = message.get("tool_calls").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
            let says_nothing = thought.is_empty() && text.is_empty() && calls.is_empty();
            if self.finish.is_some() && !says_nothing {
                return Err(malformed("the answer went on after its end"));
            }
            if !thought.is_empty() {
                out.push(ModelPiece::Reasoning(Content::new(thought)));
            }
            if !text.is_empty() {
                out.push(ModelPiece::Text(Content::new(text)));
            }
            for call in calls {
                self.take_call(call)?;
            }
        }
        if let Some(reason) =
            choice.get("finish_reason").and_then(Value::as_str).filter(|reason| !reason.is_empty())
        {
            self.finish.get_or_insert(finish_reason(reason));
        }
        Ok(())
    }

    fn take_call(&mut self, call: &Value) -> Result<(), ModelFailure> {
        let index = index_of(call);
        let id = call.get("id").and_then(Value::as_str).unwrap_or_default();
        let function = call.get("function").unwrap_or(&Value::Null);
        let name = function.get("name").and_then(Value::as_str).unwrap_or_default();
        let slot = match self.calls.iter().rposition(|known| index.is_none() || known.index == index) {
            Some(at) if !begins_another(&self.calls[at], id, name) => at,
            _ if self.calls.len() >= PROPOSALS_MAX => {
                return Err(malformed("the answer holds too many tool calls"));
            }
            _ => {
                self.calls.push(PartialCall { index, ..PartialCall::default() });
                self.calls.len() - 1
            }
        };
        let known = &mut self.calls[slot];
        if known.id.is_empty() {
            id.clone_into(&mut known.id);
        }
        if known.name != name {
            known.name.push_str(name);
        }
        let length_before = known.arguments.len();
        match function.get("arguments") {
            Some(Value::String(part)) => known.arguments.push_str(part),
            Some(whole @ Value::Object(_)) => known.arguments.push_str(&whole.to_string()),
            _ => {}
        }
        self.arguments_bytes += known.arguments.len() - length_before;
        if self.arguments_bytes > ARGUMENTS_BYTES_MAX {
            return Err(malformed("the arguments of the answer's calls are too large"));
        }
        Ok(())
    }

    fn into_answer(self) -> Result<RawModelAnswer, ModelFailure> {
        let Some(said) = self.finish else {
            return Err(malformed("the answer ended without a finish reason"));
        };
        // What a filter cut off is not complete, whatever it looks like.
        let calls = if said == FinishReason::ContentFilter { Vec::new() } else { self.calls };
        let proposals: Vec<RawToolProposal> = calls
            .into_iter()
            .enumerate()
            .map(|(at, call)| proposal(call, at + 1))
            .collect::<Result<_, ModelFailure>>()?;
        Ok(ModelAnswer {
            response_id: Content::new(sign(&self.response_id).to_owned()),
            answered_by: ModelName::new(sign(&self.answered_by)),
            finish: settled(said, proposals.len()),
            usage: self.usage,
            proposals,
            continuation: None,
        })
    }
}

fn proposal(call: PartialCall, number: usize) -> Result<RawToolProposal, ModelFailure> {
    check_call(&call.id, &call.name)?;
    let id = if call.id.is_empty() { format!("call-{number}") } else { call.id };
    let arguments = if call.arguments.trim().is_empty() { "{}".to_owned() } else { call.arguments };
    Ok(ToolProposal {
        model_call_id: Content::new(id),
        tool: ToolName::new(&call.name),
        arguments: Content::new(arguments),
    })
}

/// Returns whether a fragment begins a new call although its index points to a known one: some
/// servers leave the index out, or send every call under index 0.
fn begins_another(known: &PartialCall, id: &str, name: &str) -> bool {
    // Most fragments bear no name; only then the arguments so far are looked at, which may be long.
    if name.is_empty() || known.name.is_empty() {
        return false;
    }
    let other_id = !id.is_empty() && !known.id.is_empty() && known.id != id;
    let no_ids = id.is_empty() && known.id.is_empty();
    let is_complete = || serde_json::from_str::<Value>(&known.arguments).is_ok_and(|value| value.is_object());
    other_id || (no_ids && known.arguments.ends_with('}') && is_complete())
}

/// Servers say "stop" beside tool calls, and "tool_calls" beside none.
fn settled(said: FinishReason, proposals: usize) -> FinishReason {
    match (said, proposals) {
        (FinishReason::ToolCalls, 0) => FinishReason::Other,
        (FinishReason::Stop | FinishReason::Other, 1..) => FinishReason::ToolCalls,
        _ => said,
    }
}

fn finish_reason(said: &str) -> FinishReason {
    match said {
        "stop" | "eos" | "end_turn" | "stop_sequence" => FinishReason::Stop,
        "length" | "max_tokens" => FinishReason::Length,
        "tool_calls" | "function_call" | "tool_use" => FinishReason::ToolCalls,
        "content_filter" | "safety" => FinishReason::ContentFilter,
        _ => FinishReason::Other,
    }
}

/// Returns what a message says: its content, text or parts, or its refusal.
fn spoken(message: &Value) -> String {
    let mut text = match message.get("content") {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str)).collect()
        }
        _ => String::new(),
    };
    text.push_str(message.get("refusal").and_then(Value::as_str).unwrap_or_default());
    text
}

/// Returns what a message says of its reasoning, by whichever of the names in use; one server sends both.
fn thought(message: &Value) -> String {
    let said = ["reasoning_content", "reasoning", "thinking"].iter().map(|name| message.get(*name));
    let text = said.flatten().filter_map(Value::as_str).find(|text| !text.is_empty());
    text.unwrap_or_default().to_owned()
}

fn index_of(value: &Value) -> Option<u64> {
    value.get("index").and_then(Value::as_u64)
}

fn text_of<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn keep_first(kept: &mut String, text: &str) {
    if kept.is_empty() {
        text.clone_into(kept);
    }
}

#[cfg(test)]
mod tests;
