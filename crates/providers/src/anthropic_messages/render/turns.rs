//! A conversation as turns of blocks, as the format wants it.
//!
//! Invariant: turns alternate and begin and end with the user; each call is followed by its result at the
//! head of the next turn; no text is blank; reasoning stands in its old place, unchanged, or not at all.

use palyra_types::model::{ChatMessage, ModelRequest, RenderedCall, ToolResultStatus};
use serde_json::{Value, json};

use super::mark;
use crate::anthropic_messages::CONTINUATION;
use crate::wire_format::attachments::{self, RenderedFile};
use crate::wire_format::continuation::{AnswerPart, laid_out};
use crate::wire_format::names;

/// What stands where the format wants a word and there is none.
const NOTHING_SAID: &str = "(nothing)";
/// How a conversation begins whose beginning is not shown.
const BEGINNING_LEFT_OUT: &str = "(The beginning of the conversation is left out.)";
/// How a model is asked on that spoke last.
const GO_ON: &str = "(Please go on.)";
/// How many turns of the user get a mark for the prompt cache; two more are behind tools and instructions.
const MARKED_TURNS: usize = 2;

/// Whether reasoning is handed back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reasoning {
    GoesBack,
    IsLeftOut,
}

/// The conversation.
#[derive(Debug, Default)]
pub(super) struct RenderedTurns(Vec<RenderedTurn>);

#[derive(Debug)]
struct RenderedTurn {
    by: TurnRole,
    blocks: Vec<Value>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TurnRole {
    User,
    Assistant,
}

impl RenderedTurns {
    /// Reads the messages of a request.
    pub(super) fn read(request: &ModelRequest, reasoning: Reasoning) -> Self {
        let mut turns = Self::default();
        for message in &request.messages {
            turns.take(message, request, reasoning);
        }
        if turns.0.first().is_none_or(|turn| turn.by == TurnRole::Assistant) {
            let blocks = vec![text(BEGINNING_LEFT_OUT)];
            turns.0.insert(0, RenderedTurn { by: TurnRole::User, blocks });
        }
        if turns.0.last().is_some_and(|turn| turn.by == TurnRole::Assistant) {
            turns.of(TurnRole::User).push(text(GO_ON));
        }
        turns
    }

    /// Returns whether the model waits for results of calls that it reasoned about.
    pub(super) fn resumes_reasoning(&self) -> bool {
        match &self.0[..] {
            [.., asked, last] => last.blocks.iter().any(is_result) && asked.blocks.iter().any(is_reasoning),
            _ => false,
        }
    }

    /// Returns the messages, the last turns of the user marked.
    pub(super) fn into_messages(mut self) -> Value {
        let of_user = self.0.iter_mut().rev().filter(|turn| turn.by == TurnRole::User);
        for turn in of_user.take(MARKED_TURNS) {
            turn.blocks.iter_mut().next_back().into_iter().for_each(mark);
        }
        let messages = self.0.into_iter().map(|turn| {
            let role = match turn.by {
                TurnRole::User => "user",
                TurnRole::Assistant => "assistant",
            };
            json!({"role": role, "content": turn.blocks})
        });
        messages.collect()
    }

    fn take(&mut self, message: &ChatMessage, request: &ModelRequest, reasoning: Reasoning) {
        match message {
            ChatMessage::User { text: words, attachments, said } => {
                let mut blocks: Vec<Value> =
                    attachments.iter().map(|file| shown(attachments::shown(file))).collect();
                if !is_blank(words.expose()) {
                    blocks.push(text(&ChatMessage::words_with_time(words.expose(), said.as_deref())));
                } else if blocks.is_empty() {
                    blocks.push(text(NOTHING_SAID));
                }
                self.of(TurnRole::User).extend(blocks);
            }
            ChatMessage::Assistant { text: words, calls, continuation } => {
                let kept = continuation.as_ref().filter(|_| reasoning == Reasoning::GoesBack);
                let places = kept.map(|kept| CONTINUATION.places(kept, &request.model)).unwrap_or_default();
                let parts = laid_out(&places, words.expose(), calls);
                let blocks: Vec<Value> = parts.into_iter().filter_map(block).collect();
                if !blocks.is_empty() {
                    self.of(TurnRole::Assistant).extend(blocks);
                }
            }
            ChatMessage::ToolResult { call, tool, text: output, status, delimiter } => {
                let mut block = json!({"type": "tool_result", "tool_use_id": names::allowed(&call.0)});
                let output = output.expose();
                let has_failed = *status != ToolResultStatus::Succeeded;
                if has_failed {
                    block["is_error"] = true.into();
                }
                if !is_blank(output) {
                    let origin = names::allowed(tool.as_str());
                    block["content"] = match status {
                        ToolResultStatus::DeniedByPerson => output.as_str().into(),
                        ToolResultStatus::Succeeded | ToolResultStatus::Failed => {
                            delimiter.enclose(&origin, output).into()
                        }
                    };
                } else if has_failed {
                    block["content"] = NOTHING_SAID.into();
                }
                let blocks = self.of(TurnRole::User);
                let at = blocks.iter().take_while(|block| is_result(block)).count();
                blocks.insert(at, block);
            }
        }
    }

    /// Returns the blocks of the speaker's turn, a new one if somebody else spoke last.
    fn of(&mut self, by: TurnRole) -> &mut Vec<Value> {
        if self.0.last().is_none_or(|turn| turn.by != by) {
            self.0.push(RenderedTurn { by, blocks: Vec::new() });
        }
        let last = self.0.len() - 1;
        &mut self.0[last].blocks
    }
}

fn block(part: AnswerPart<'_>) -> Option<Value> {
    match part {
        AnswerPart::Kept(block) => Some(block.clone()),
        AnswerPart::Text(words) => (!is_blank(words)).then(|| text(words)),
        AnswerPart::Call(made) => Some(call(made)),
    }
}

fn call(call: &RenderedCall) -> Value {
    let input = serde_json::from_str(call.arguments.expose()).ok().filter(Value::is_object);
    json!({
        "type": "tool_use",
        "id": names::allowed(&call.call.0),
        "name": names::allowed(call.tool.as_str()),
        "input": input.unwrap_or_else(|| json!({})),
    })
}

fn shown(file: RenderedFile) -> Value {
    match file {
        RenderedFile::Text(words) => text(&words),
        RenderedFile::Image { media_type, base64 } => json!({
            "type": "image", "source": {"type": "base64", "media_type": media_type, "data": base64},
        }),
    }
}

fn text(words: &str) -> Value {
    json!({"type": "text", "text": words})
}

fn is_blank(words: &str) -> bool {
    words.trim().is_empty()
}

fn is_result(block: &Value) -> bool {
    block["type"] == "tool_result"
}

fn is_reasoning(block: &Value) -> bool {
    block["type"] == "thinking" || block["type"] == "redacted_thinking"
}
