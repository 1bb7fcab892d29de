//! The rules of a conversation: who speaks when, and that calls, results and reasoning stay together.

use serde_json::Value;

use super::blocks::{self, Role};
use super::verdict::{RequestVerdict, known_fields, wrong};
use crate::refusal::Refusal;

/// One message, its content as a list of blocks.
struct ChatTurn<'a> {
    at: usize,
    role: Role,
    blocks: Vec<&'a Value>,
}

/// Checks `system` and `messages` of a body.
pub(super) fn check(body: &Value) -> RequestVerdict {
    system(body)?;
    let messages = body["messages"].as_array().map_or(&[][..], Vec::as_slice);
    if messages.is_empty() {
        return wrong("messages: at least one message is required".to_owned());
    }
    let model = body["model"].as_str().unwrap_or_default();
    let mut turns: Vec<ChatTurn<'_>> = Vec::with_capacity(messages.len());
    for (at, message) in messages.iter().enumerate() {
        let turn = turn(at, message)?;
        alternates(turns.last(), &turn)?;
        for (block_at, block) in turn.blocks.iter().enumerate() {
            blocks::check(&format!("messages.{at}.content.{block_at}"), turn.role, model, block)?;
        }
        turns.push(turn);
    }
    if turns.last().is_some_and(|last| last.role == Role::Assistant) {
        return wrong(
            "This model does not support assistant message prefill. The conversation must end with a user message."
                .to_owned(),
        );
    }
    pairs(&turns)?;
    reasoning(body, &turns)
}

fn system(body: &Value) -> RequestVerdict {
    match body.get("system") {
        None | Some(Value::String(_)) => Ok(()),
        Some(Value::Array(blocks)) => {
            for (at, block) in blocks.iter().enumerate() {
                if block["type"] != "text" {
                    return wrong(format!("system.{at}.type: Input should be 'text'"));
                }
                blocks::text(&format!("system.{at}"), block)?;
            }
            Ok(())
        }
        Some(_) => wrong("system: Input should be a valid string".to_owned()),
    }
}

fn turn(at: usize, message: &Value) -> Result<ChatTurn<'_>, Refusal> {
    let fields = message.as_object().into_iter().flat_map(serde_json::Map::keys);
    known_fields(&format!("messages.{at}"), fields, &["role", "content"])?;
    let role = match message["role"].as_str() {
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        _ => return wrong(format!("messages.{at}.role: Input should be 'user' or 'assistant'")),
    };
    let blocks: Vec<&Value> = match &message["content"] {
        Value::String(text) if text.trim().is_empty() => Vec::new(),
        Value::String(_) => return Ok(ChatTurn { at, role, blocks: Vec::new() }),
        Value::Array(blocks) => blocks.iter().collect(),
        _ => return wrong(format!("messages.{at}.content: Input should be a valid list")),
    };
    if blocks.is_empty() {
        return wrong(format!(
            "messages.{at}: all messages must have non-empty content except for the optional final assistant message"
        ));
    }
    Ok(ChatTurn { at, role, blocks })
}

fn alternates(before: Option<&ChatTurn<'_>>, turn: &ChatTurn<'_>) -> RequestVerdict {
    let role = match turn.role {
        Role::User => "user",
        Role::Assistant => "assistant",
    };
    match before {
        None if turn.role == Role::Assistant => {
            wrong("messages: first message must use the \"user\" role".to_owned())
        }
        Some(before) if before.role == turn.role => wrong(format!(
            "messages: roles must alternate between \"user\" and \"assistant\", but found multiple \"{role}\" roles in a row"
        )),
        _ => Ok(()),
    }
}

/// Every call has exactly one result, at the head of the next message.
fn pairs(turns: &[ChatTurn<'_>]) -> RequestVerdict {
    let mut all_ids: Vec<&str> = Vec::new();
    for (place, turn) in turns.iter().enumerate() {
        let open = if place == 0 { Vec::new() } else { ids(&turns[place - 1], "tool_use", "id") };
        results(turn, &open)?;
        let calls = ids(turn, "tool_use", "id");
        for id in &calls {
            if all_ids.contains(id) {
                return wrong("messages: `tool_use` ids must be unique".to_owned());
            }
            all_ids.push(id);
        }
        let next = turns.get(place + 1).map_or_else(Vec::new, |next| ids(next, "tool_result", "tool_use_id"));
        let lost: Vec<&str> = calls.into_iter().filter(|id| !next.contains(id)).collect();
        if !lost.is_empty() {
            return wrong(format!(
                "messages.{}: `tool_use` ids were found without `tool_result` blocks immediately after: {}. Each `tool_use` block must have a corresponding `tool_result` block in the next message.",
                turn.at,
                lost.join(", ")
            ));
        }
    }
    Ok(())
}

fn results(turn: &ChatTurn<'_>, open: &[&str]) -> RequestVerdict {
    let at = turn.at;
    let mut seen: Vec<&str> = Vec::new();
    let mut other = false;
    for (block_at, block) in turn.blocks.iter().enumerate() {
        if block["type"] != "tool_result" {
            other = true;
            continue;
        }
        let id = block["tool_use_id"].as_str().unwrap_or_default();
        if !open.contains(&id) {
            return wrong(format!(
                "messages.{at}.content.{block_at}: unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each `tool_result` block must have a corresponding `tool_use` block in the previous message."
            ));
        }
        if seen.contains(&id) {
            return wrong(format!(
                "messages.{at}.content.{block_at}: each tool_use must have a single result. Found multiple `tool_result` blocks with id: {id}"
            ));
        }
        if other {
            return wrong(format!(
                "messages.{at}.content.{block_at}: `tool_result` blocks must come before any other content"
            ));
        }
        seen.push(id);
    }
    Ok(())
}

fn ids<'a>(turn: &ChatTurn<'a>, kind: &str, field: &str) -> Vec<&'a str> {
    let of_kind = turn.blocks.iter().filter(|block| block["type"] == kind);
    of_kind.map(|block| block[field].as_str().unwrap_or_default()).collect()
}

/// Where a model waits for results, its reasoning is wanted back first, or not at all.
fn reasoning(body: &Value, turns: &[ChatTurn<'_>]) -> RequestVerdict {
    let [.., asked, last] = turns else { return Ok(()) };
    if ids(last, "tool_result", "tool_use_id").is_empty() {
        return Ok(());
    }
    let is_thought = |block: &&Value| block["type"] == "thinking" || block["type"] == "redacted_thinking";
    match body.pointer("/thinking/type").and_then(Value::as_str) {
        Some("enabled") => match asked.blocks.first().filter(|block| !is_thought(block)) {
            Some(first) => wrong(format!(
                "messages.{}.content.0.type: Expected `thinking` or `redacted_thinking`, but found `{}`. When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks).",
                asked.at,
                first["type"].as_str().unwrap_or_default()
            )),
            None => Ok(()),
        },
        None | Some("disabled") => match asked.blocks.iter().position(is_thought) {
            Some(at) => wrong(format!(
                "messages.{}.content.{at}: When thinking is disabled, an `assistant` message in the final position cannot contain `thinking`. To use thinking blocks, enable `thinking` in your request.",
                asked.at
            )),
            None => Ok(()),
        },
        Some(_) => Ok(()),
    }
}
