//! Puts an answer together from the events of a message.
//!
//! Tolerant of what is new (events, blocks, deltas and fields nobody knows are passed over), strict in order:
//! a block begins once, grows only while it is open, and nothing follows the reason to stop. Sans-IO.

use palyra_types::model::{
    ARGUMENTS_BYTES_MAX, FinishReason, ModelAnswer, ModelFailure, ModelFailureClass, ModelName, ModelPiece,
    ModelRef, PROPOSALS_MAX, RawModelAnswer, RawToolProposal, ToolProposal,
};
use palyra_types::tool::ToolName;
use serde_json::{Value, json};

use super::CONTINUATION;
use super::failure::ROWS;
use super::usage::UsageCounts;
use crate::wire_format::answer_reader::{AnswerAssembly, StreamFlow};
use crate::wire_format::continuation::BlockKind;
use crate::wire_format::failure::{failure, malformed, stream_failure};
use crate::wire_format::names::{check_call, sign};

/// How many blocks one answer may hold.
const BLOCKS_MAX: usize = 1_024;

/// An answer in the making.
pub(crate) struct MessageAssembly {
    model: ModelRef,
    has_begun: bool,
    response_id: String,
    answered_by: String,
    stop: Option<String>,
    counts: UsageCounts,
    blocks: Vec<OpenBlock>,
    arguments_bytes: usize,
}

struct OpenBlock {
    index: u64,
    is_open: bool,
    content: BlockContent,
}

enum BlockContent {
    Text {
        bytes: usize,
    },
    Thinking {
        text: String,
        signature: String,
    },
    Redacted {
        data: String,
    },
    Call {
        id: String,
        name: String,
        given: String,
        streamed: String,
    },
    /// Of a kind nobody knows here.
    Other,
}

impl MessageAssembly {
    /// Begins the answer to a request to a model.
    pub(crate) fn new(model: ModelRef) -> Self {
        Self {
            model,
            has_begun: false,
            response_id: String::new(),
            answered_by: String::new(),
            stop: None,
            counts: UsageCounts::default(),
            blocks: Vec::new(),
            arguments_bytes: 0,
        }
    }
}

impl AnswerAssembly for MessageAssembly {
    fn is_finished(&self) -> bool {
        self.stop.is_some()
    }

    fn take_event(
        &mut self,
        kind: &str,
        value: &Value,
        out: &mut Vec<ModelPiece>,
    ) -> Result<StreamFlow, ModelFailure> {
        // The type stands in the object too, where it is right even if a proxy lost the event's name.
        match text(value, "type").unwrap_or(kind) {
            "message_start" => self.begin(value.get("message").unwrap_or(&Value::Null))?,
            "content_block_start" => {
                let index = index(value).unwrap_or(self.blocks.len() as u64);
                self.begin_block(index, value.get("content_block").unwrap_or(&Value::Null), out)?;
            }
            "content_block_delta" => self.grow(value, out)?,
            "content_block_stop" => self.open_block(value)?.is_open = false,
            "message_delta" => {
                self.counts.take(value.get("usage").unwrap_or(&Value::Null));
                self.finish(value.get("delta").unwrap_or(&Value::Null));
            }
            "message_stop" => return Ok(StreamFlow::Over),
            "error" => return Err(stream_failure(ROWS, value)),
            _ => {}
        }
        Ok(StreamFlow::GoesOn)
    }

    fn take_document(&mut self, value: &Value, out: &mut Vec<ModelPiece>) -> Result<(), ModelFailure> {
        if value["type"] == "error" || value.get("error").is_some_and(|error| !error.is_null()) {
            return Err(stream_failure(ROWS, value));
        }
        self.begin(value)?;
        let blocks = value.get("content").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        for (index, block) in blocks.iter().enumerate() {
            self.begin_block(index as u64, block, out)?;
        }
        self.blocks.iter_mut().for_each(|block| block.is_open = false);
        self.finish(value);
        Ok(())
    }

    fn end(&mut self) -> Result<RawModelAnswer, ModelFailure> {
        let Some(stop) = self.stop.take() else {
            return Err(malformed("the answer ended without a stop reason"));
        };
        let said = match stop.as_str() {
            "end_turn" | "stop_sequence" => FinishReason::Stop,
            "max_tokens" => FinishReason::Length,
            "tool_use" => FinishReason::ToolCalls,
            "refusal" => FinishReason::ContentFilter,
            "model_context_window_exceeded" => {
                let detail = "the answer was cut off where the model's window was full";
                return Err(failure(ModelFailureClass::ContextExceeded, detail));
            }
            _ => FinishReason::Other,
        };
        let places: Vec<BlockKind> = self.blocks.iter().filter_map(OpenBlock::place).collect();
        let calls = self.blocks.drain(..).filter(|block| matches!(block.content, BlockContent::Call { .. }));
        // What was refused is not complete, whatever it looks like.
        let calls = calls.filter(|_| said != FinishReason::ContentFilter);
        let proposals = calls
            .enumerate()
            .map(|(at, block)| block.proposal(at + 1, said))
            .collect::<Result<Vec<_>, _>>()?;
        let finish = match (said, proposals.len()) {
            (FinishReason::ToolCalls, 0) => FinishReason::Other,
            (FinishReason::Stop | FinishReason::Other, 1..) => FinishReason::ToolCalls,
            _ => said,
        };
        Ok(ModelAnswer {
            response_id: palyra_types::Content::new(sign(&self.response_id).to_owned()),
            answered_by: ModelName::new(sign(&self.answered_by)),
            finish,
            usage: self.counts.usage(),
            proposals,
            continuation: CONTINUATION.continuation(&self.model, &places),
        })
    }
}

impl MessageAssembly {
    fn begin(&mut self, message: &Value) -> Result<(), ModelFailure> {
        if std::mem::replace(&mut self.has_begun, true) {
            return Err(malformed("the message began twice"));
        }
        text(message, "id").unwrap_or_default().clone_into(&mut self.response_id);
        text(message, "model").unwrap_or_default().clone_into(&mut self.answered_by);
        self.counts.take(message.get("usage").unwrap_or(&Value::Null));
        Ok(())
    }

    fn begin_block(
        &mut self,
        index: u64,
        block: &Value,
        out: &mut Vec<ModelPiece>,
    ) -> Result<(), ModelFailure> {
        self.check_unfinished()?;
        if self.blocks.iter().any(|known| known.index == index) {
            return Err(malformed("a block of the answer began twice"));
        }
        if self.blocks.len() >= BLOCKS_MAX {
            return Err(malformed("the answer holds too many blocks"));
        }
        let field = |name: &str| text(block, name).unwrap_or_default().to_owned();
        let content = match text(block, "type").unwrap_or_default() {
            "text" => {
                push_text(field("text"), out);
                BlockContent::Text { bytes: field("text").len() }
            }
            "thinking" => {
                push_reasoning(field("thinking"), out);
                BlockContent::Thinking { text: field("thinking"), signature: field("signature") }
            }
            "redacted_thinking" => BlockContent::Redacted { data: field("data") },
            "tool_use" => {
                let calls =
                    self.blocks.iter().filter(|block| matches!(block.content, BlockContent::Call { .. }));
                if calls.count() >= PROPOSALS_MAX {
                    return Err(malformed("the answer holds too many tool calls"));
                }
                let given = block.get("input").filter(|input| !input.is_null());
                let given = given.map(Value::to_string).unwrap_or_default();
                BlockContent::Call { id: field("id"), name: field("name"), given, streamed: String::new() }
            }
            _ => BlockContent::Other,
        };
        self.blocks.push(OpenBlock { index, is_open: true, content });
        Ok(())
    }

    fn grow(&mut self, event: &Value, out: &mut Vec<ModelPiece>) -> Result<(), ModelFailure> {
        self.check_unfinished()?;
        let delta = event.get("delta").unwrap_or(&Value::Null);
        let field = |name: &str| text(delta, name).unwrap_or_default();
        let block = self.open_block(event)?;
        match (&mut block.content, text(delta, "type").unwrap_or_default()) {
            (BlockContent::Text { bytes }, "text_delta") => {
                *bytes += field("text").len();
                push_text(field("text").to_owned(), out);
            }
            (BlockContent::Thinking { text, .. }, "thinking_delta") => {
                text.push_str(field("thinking"));
                push_reasoning(field("thinking").to_owned(), out);
            }
            (BlockContent::Thinking { signature, .. }, "signature_delta") => {
                field("signature").clone_into(signature);
            }
            (BlockContent::Call { streamed, .. }, "input_json_delta") => {
                streamed.push_str(field("partial_json"));
                self.arguments_bytes += field("partial_json").len();
            }
            (BlockContent::Other, _) => {}
            (_, "text_delta" | "thinking_delta" | "signature_delta" | "input_json_delta") => {
                return Err(malformed("a piece of the answer is of another kind than its block"));
            }
            _ => {}
        }
        if self.arguments_bytes > ARGUMENTS_BYTES_MAX {
            return Err(malformed("the arguments of the answer's calls are too large"));
        }
        Ok(())
    }

    fn open_block(&mut self, event: &Value) -> Result<&mut OpenBlock, ModelFailure> {
        let wanted = index(event).or_else(|| self.blocks.last().map(|block| block.index));
        let block = self.blocks.iter_mut().rfind(|block| Some(block.index) == wanted && block.is_open);
        block.ok_or_else(|| malformed("a piece of the answer belongs to no open block"))
    }

    fn finish(&mut self, delta: &Value) {
        if let Some(reason) = text(delta, "stop_reason").filter(|reason| !reason.is_empty()) {
            self.stop.get_or_insert_with(|| reason.to_owned());
        }
    }

    fn check_unfinished(&self) -> Result<(), ModelFailure> {
        if self.stop.is_some() { Err(malformed("the answer went on after its end")) } else { Ok(()) }
    }
}

impl OpenBlock {
    /// Returns what of the block goes back with later requests: known fields only, for vendors refuse others.
    fn place(&self) -> Option<BlockKind> {
        match &self.content {
            BlockContent::Text { bytes } => Some(BlockKind::Text(*bytes)),
            BlockContent::Thinking { text, signature } => {
                Some(BlockKind::Kept(json!({"type": "thinking", "thinking": text, "signature": signature})))
            }
            BlockContent::Redacted { data } => {
                Some(BlockKind::Kept(json!({"type": "redacted_thinking", "data": data})))
            }
            BlockContent::Call { .. } => Some(BlockKind::Call),
            BlockContent::Other => None,
        }
    }

    fn proposal(self, number: usize, finish: FinishReason) -> Result<RawToolProposal, ModelFailure> {
        let BlockContent::Call { id, name, given, streamed } = self.content else {
            return Err(malformed("a block is not a tool call"));
        };
        // Where the answer was cut off for its length, its last call may be, too.
        if self.is_open && finish != FinishReason::Length {
            return Err(malformed("a tool call never ended"));
        }
        check_call(&id, &name)?;
        let id = if id.is_empty() { format!("call-{number}") } else { id };
        let arguments = if streamed.trim().is_empty() { given } else { streamed };
        let arguments = if arguments.trim().is_empty() { "{}".to_owned() } else { arguments };
        Ok(ToolProposal {
            model_call_id: palyra_types::Content::new(id),
            tool: ToolName::new(&name),
            arguments: palyra_types::Content::new(arguments),
        })
    }
}

fn push_text(text: String, out: &mut Vec<ModelPiece>) {
    if !text.is_empty() {
        out.push(ModelPiece::Text(palyra_types::Content::new(text)));
    }
}

fn push_reasoning(text: String, out: &mut Vec<ModelPiece>) {
    if !text.is_empty() {
        out.push(ModelPiece::Reasoning(palyra_types::Content::new(text)));
    }
}

fn text<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name).and_then(Value::as_str)
}

fn index(value: &Value) -> Option<u64> {
    value.get("index").and_then(Value::as_u64)
}

#[cfg(test)]
mod tests;
