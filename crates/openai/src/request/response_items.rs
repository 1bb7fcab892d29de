//! Items of the input of a response, as messages of a conversation.
//!
//! An item of a tool that does not exist here is kept as text: it is part of what was said. Reasoning of another server
//! is left out: it cannot be read here.

use serde_json::Value;

use crate::error_reply::ErrorReply;
use crate::identifiers::parse_call_item_id;
use crate::request::client_message::{ClientMessage, MessageRole};
use crate::request::content_parts::MessageContent;
use crate::request::fields::FieldReader;

/// Reads an item; `None` for one that says nothing.
pub(crate) fn input_item(path: String, value: &Value) -> Result<Option<ClientMessage>, ErrorReply> {
    let fields = FieldReader::at(path.clone(), value)?;
    match fields.text("type")?.unwrap_or("message") {
        "message" => message(path, &fields).map(Some),
        "reasoning" | "compaction" => Ok(None),
        "item_reference" => {
            let reference = fields.text("id")?.ok_or_else(|| fields.missing("id"))?;
            let message = ClientMessage::words(MessageRole::Assistant, "", path);
            if let Some(call) = parse_call_item_id(reference) {
                return Ok(Some(ClientMessage { calls: vec![call.to_string()], ..message }));
            }
            Ok(Some(ClientMessage { reference: Some(reference.to_owned()), ..message }))
        }
        "function_call" | "custom_tool_call" => {
            let call = fields.text("call_id")?.ok_or_else(|| fields.missing("call_id"))?;
            let message = ClientMessage::words(MessageRole::Assistant, value.to_string(), path);
            Ok(Some(ClientMessage { calls: vec![call.to_owned()], ..message }))
        }
        "function_call_output" | "custom_tool_call_output" => {
            let call = fields.text("call_id")?.ok_or_else(|| fields.missing("call_id"))?;
            let output = MessageContent::read(&fields.path("output"), fields.value("output"))?;
            let message = ClientMessage::words(MessageRole::Tool, output.text, path);
            Ok(Some(ClientMessage { answers: Some(call.to_owned()), files: output.files, ..message }))
        }
        _ => Ok(Some(ClientMessage::words(MessageRole::Assistant, value.to_string(), path))),
    }
}

fn message(path: String, fields: &FieldReader<'_>) -> Result<ClientMessage, ErrorReply> {
    let role = match fields.text("role")?.ok_or_else(|| fields.missing("role"))? {
        "system" | "developer" => MessageRole::Instruction,
        "user" => MessageRole::User,
        "assistant" => MessageRole::Assistant,
        _ => return Err(fields.wrong("role", "system, developer, user or assistant")),
    };
    let content = fields.value("content").ok_or_else(|| fields.missing("content"))?;
    let content = MessageContent::read(&fields.path("content"), Some(content))?;
    Ok(ClientMessage { files: content.files, ..ClientMessage::words(role, content.text, path) })
}
