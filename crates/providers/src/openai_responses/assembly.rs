//! Puts an answer together from the events of a response.
//!
//! Tolerant in shape, strict in ending: unknown events, items and fields are passed over, ids, indexes and events may
//! be missing, and what an item says when it is done fills what its pieces left out; a response begins once, an item too,
//! and an answer has a status that ends it. Sans-IO.

mod items;

use palyra_types::Content;
use palyra_types::model::{
    FinishReason, ModelAnswer, ModelFailure, ModelFailureClass, ModelName, ModelPiece, ModelRef,
    RawModelAnswer, RawToolProposal, TokenUsage,
};
use serde_json::{Value, json};

use self::items::{ItemKind, OutputItems, text};
use super::CONTINUATION;
use crate::openai_server::failure::ROWS;
use crate::openai_server::usage::usage;
use crate::wire_format::answer_reader::{AnswerAssembly, StreamFlow};
use crate::wire_format::continuation::BlockKind;
use crate::wire_format::failure::{failure, malformed, stream_failure};
use crate::wire_format::names::sign;

/// An answer in the making.
pub(crate) struct ResponseAssembly {
    model: ModelRef,
    has_begun: bool,
    response_id: String,
    answered_by: String,
    end: Option<ResponseEnd>,
    usage: Option<TokenUsage>,
    items: OutputItems,
}

/// How a response ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ResponseEnd {
    Completed,
    CutOffAtCap,
    CutOffByFilter,
    /// For an unknown reason.
    CutOff,
}

impl ResponseAssembly {
    /// Begins the answer to a request to a model.
    pub(crate) fn new(model: ModelRef) -> Self {
        Self {
            model,
            has_begun: false,
            response_id: String::new(),
            answered_by: String::new(),
            end: None,
            usage: None,
            items: OutputItems::default(),
        }
    }
}

impl AnswerAssembly for ResponseAssembly {
    fn is_finished(&self) -> bool {
        self.end.is_some()
    }

    fn take_event(
        &mut self,
        kind: &str,
        value: &Value,
        out: &mut Vec<ModelPiece>,
    ) -> Result<StreamFlow, ModelFailure> {
        // The type is in the object too, where it is right even if a proxy lost the event's name.
        let kind = text(value, "type").unwrap_or(kind);
        let item = value.get("item").unwrap_or(&Value::Null);
        match kind {
            "response.created" => {
                if std::mem::replace(&mut self.has_begun, true) {
                    return Err(malformed("the response began twice"));
                }
                self.name(value.get("response").unwrap_or(&Value::Null));
            }
            "response.output_item.added" => self.items.begin(value, item)?,
            "response.output_item.done" => self.items.complete(value, item, out)?,
            "response.output_text.delta" | "response.refusal.delta" => {
                self.items.grow(ItemKind::Message, value, out)?;
            }
            "response.reasoning_summary_text.delta"
            | "response.reasoning_text.delta"
            | "response.reasoning_summary.delta"
            | "response.reasoning.delta" => self.items.grow(ItemKind::Reasoning, value, out)?,
            "response.reasoning_summary_part.added" => self.items.divide_reasoning(value, out),
            "response.function_call_arguments.delta" => self.items.grow(ItemKind::Call, value, out)?,
            "response.function_call_arguments.done" => self.items.set_arguments(value)?,
            "response.completed" | "response.incomplete" | "response.failed" | "response.done" => {
                self.finish(value.get("response").unwrap_or(&Value::Null), kind, out)?;
                return Ok(StreamFlow::Over);
            }
            "error" => return Err(reported(value)),
            // Servers that report in the way of other formats.
            _ if value.get("error").is_some_and(|error| !error.is_null()) => {
                return Err(stream_failure(ROWS, value));
            }
            _ => {}
        }
        Ok(StreamFlow::GoesOn)
    }

    fn take_document(&mut self, value: &Value, out: &mut Vec<ModelPiece>) -> Result<(), ModelFailure> {
        if value.get("type").is_some_and(|kind| kind == "error") {
            return Err(reported(value));
        }
        let is_whole = value.get("status").is_some() || value.get("output").is_some();
        if !is_whole && value.get("error").is_none_or(Value::is_null) {
            return Err(malformed("the answer is not a response"));
        }
        self.finish(value, "", out)
    }

    fn end(&mut self) -> Result<RawModelAnswer, ModelFailure> {
        let Some(end) = self.end.take() else {
            return Err(malformed("the answer ended without a status that ends it"));
        };
        let items = std::mem::take(&mut self.items);
        let places: Vec<BlockKind> = items.places();
        let proposals = match end {
            ResponseEnd::Completed | ResponseEnd::CutOffAtCap => items.into_proposals()?,
            // They may be of an answer that was not to be given, or be cut off.
            ResponseEnd::CutOffByFilter | ResponseEnd::CutOff => Vec::new(),
        };
        Ok(ModelAnswer {
            response_id: Content::new(sign(&self.response_id).to_owned()),
            answered_by: ModelName::new(sign(&self.answered_by)),
            finish: finish_reason(end, &proposals),
            usage: self.usage,
            proposals,
            continuation: CONTINUATION.continuation(&self.model, &places),
        })
    }
}

impl ResponseAssembly {
    fn name(&mut self, response: &Value) {
        for (kept, field) in [(&mut self.response_id, "id"), (&mut self.answered_by, "model")] {
            if let Some(name) = text(response, field).filter(|_| kept.is_empty()) {
                name.clone_into(kept);
            }
        }
    }

    /// Takes a response at its end. `event` is the name of the event that brought it, if there was one.
    fn finish(
        &mut self,
        response: &Value,
        event: &str,
        out: &mut Vec<ModelPiece>,
    ) -> Result<(), ModelFailure> {
        self.name(response);
        let status = text(response, "status").unwrap_or(match event {
            "response.failed" => "failed",
            "response.incomplete" => "incomplete",
            _ => "completed",
        });
        let has_error = response.get("error").is_some_and(|error| !error.is_null());
        let end = match status {
            _ if has_error || event == "response.failed" => return Err(failed(response)),
            "completed" => ResponseEnd::Completed,
            "incomplete" => cut_off(response),
            "failed" => return Err(failed(response)),
            "cancelled" => {
                return Err(failure(ModelFailureClass::Transient, "the server cancelled the response"));
            }
            _ => return Err(malformed("the answer ended without a status that ends it")),
        };
        let output = response.get("output").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        self.items.complete_all(output, out)?;
        self.usage = response.get("usage").and_then(usage);
        self.end = Some(end);
        Ok(())
    }
}

fn cut_off(response: &Value) -> ResponseEnd {
    match response.pointer("/incomplete_details/reason").and_then(Value::as_str) {
        Some("max_output_tokens" | "max_tokens" | "length") => ResponseEnd::CutOffAtCap,
        Some("content_filter") => ResponseEnd::CutOffByFilter,
        _ => ResponseEnd::CutOff,
    }
}

fn finish_reason(end: ResponseEnd, proposals: &[RawToolProposal]) -> FinishReason {
    match end {
        ResponseEnd::Completed if proposals.is_empty() => FinishReason::Stop,
        ResponseEnd::Completed => FinishReason::ToolCalls,
        ResponseEnd::CutOffAtCap => FinishReason::Length,
        ResponseEnd::CutOffByFilter => FinishReason::ContentFilter,
        ResponseEnd::CutOff => FinishReason::Other,
    }
}

/// Reads an error event, which has its error as an object or is one itself.
fn reported(event: &Value) -> ModelFailure {
    if event.get("error").is_some_and(|error| !error.is_null()) {
        return stream_failure(ROWS, event);
    }
    let field = |name: &str| event.get(name).cloned().unwrap_or_default();
    stream_failure(ROWS, &json!({"error": {"message": field("message"), "code": field("code")}}))
}

fn failed(response: &Value) -> ModelFailure {
    let error = response.get("error").filter(|error| !error.is_null()).cloned();
    stream_failure(ROWS, &json!({"error": error.unwrap_or_else(|| json!({}))}))
}

#[cfg(test)]
mod tests;
