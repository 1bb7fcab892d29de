//! Renders a request: a pure function from our shape to theirs.
//!
//! Invariant: equal requests give equal bytes, and what comes first changes least, so that a
//! provider's prompt cache can serve it.

use palyra_types::model::{ChatMessage, ModelRequest, RenderedCall, ToolResultStatus};
use palyra_types::tool::ToolSpec;
use serde_json::{Value, json};

/// The longest tool name the format allows, in characters.
const TOOL_NAME_CHARS_MAX: usize = 64;

/// Under which name the cap on the answer is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OutputCapField {
    /// What nearly every server knows.
    MaxTokens,
    /// What OpenAI's newer models want instead.
    MaxCompletionTokens,
}

/// Renders the body of `POST /chat/completions`.
pub(super) fn render(request: &ModelRequest, cap: OutputCapField) -> Value {
    let system = request.system.expose();
    let mut messages = Vec::with_capacity(request.messages.len() + 1);
    if !system.is_empty() {
        messages.push(json!({"role": "system", "content": system}));
    }
    messages.extend(request.messages.iter().filter_map(message));
    let mut body = json!({
        "model": request.model.model.as_str(),
        "messages": messages,
        "stream": true,
        "stream_options": {"include_usage": true},
    });
    if !request.tools.is_empty() {
        body["tools"] = request.tools.iter().map(tool).collect();
    }
    if let Some(tokens) = request.output_tokens_max {
        let field = match cap {
            OutputCapField::MaxTokens => "max_tokens",
            OutputCapField::MaxCompletionTokens => "max_completion_tokens",
        };
        body[field] = json!(tokens);
    }
    body
}

fn message(message: &ChatMessage) -> Option<Value> {
    match message {
        ChatMessage::User { text, .. } => Some(json!({"role": "user", "content": text.expose()})),
        ChatMessage::Assistant { text, calls, continuation: None } if calls.is_empty() => {
            // Several servers refuse an assistant message that holds nothing.
            (!text.expose().is_empty()).then(|| json!({"role": "assistant", "content": text.expose()}))
        }
        ChatMessage::Assistant { text, calls, .. } => {
            let content = if text.expose().is_empty() { Value::Null } else { json!(text.expose()) };
            let calls: Vec<Value> = calls.iter().map(call).collect();
            Some(json!({"role": "assistant", "content": content, "tool_calls": calls}))
        }
        ChatMessage::ToolResult { call, text, status, .. } => {
            let content = match status {
                ToolResultStatus::Succeeded => text.expose().clone(),
                ToolResultStatus::Failed => format!("The tool did not succeed: {}", text.expose()),
            };
            Some(json!({"role": "tool", "tool_call_id": call.0, "content": content}))
        }
    }
}

fn call(call: &RenderedCall) -> Value {
    json!({
        "id": call.call.0,
        "type": "function",
        "function": {"name": tool_name(call.tool.as_str()), "arguments": call.arguments.expose()},
    })
}

fn tool(spec: &ToolSpec) -> Value {
    json!({
        "type": "function",
        "function": {
            "name": tool_name(spec.name.as_str()),
            "description": spec.description,
            "parameters": spec.schema,
        },
    })
}

/// Returns a name that the format allows: a model may have named anything, and one odd name in the
/// history would have every later request refused.
fn tool_name(name: &str) -> String {
    let allowed = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let name: String = name.chars().take(TOOL_NAME_CHARS_MAX).map(allowed).collect();
    if name.is_empty() { "unnamed".to_owned() } else { name }
}

#[cfg(test)]
mod tests;
