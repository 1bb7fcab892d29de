//! Checks a request as strictly as OpenAI does.
//!
//! Above all: every call in the history is answered by exactly one result, right behind it.

use serde_json::Value;

/// Returns what is wrong with a body, if anything.
pub(super) fn complaint(body: &Value) -> Option<String> {
    let model = body.get("model").and_then(Value::as_str).unwrap_or_default();
    if model.is_empty() {
        return Some("you must provide a model parameter".to_owned());
    }
    let messages = body.get("messages").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    if messages.is_empty() {
        return Some("[] is too short - 'messages'".to_owned());
    }
    if let Some(tools) = body.get("tools") {
        let tools = tools.as_array().map_or(&[][..], Vec::as_slice);
        if tools.is_empty() || !tools.iter().all(is_tool) {
            return Some("invalid 'tools'".to_owned());
        }
    }
    unpaired(messages)
}

fn is_tool(tool: &Value) -> bool {
    let name = tool.pointer("/function/name").and_then(Value::as_str).unwrap_or_default();
    tool["type"] == "function"
        && is_name(name)
        && tool.pointer("/function/parameters").is_some_and(Value::is_object)
}

fn is_name(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    (1..=64).contains(&name.len()) && name.bytes().all(allowed)
}

fn unpaired(messages: &[Value]) -> Option<String> {
    let mut open: Vec<&str> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let role = message.get("role").and_then(Value::as_str).unwrap_or_default();
        if role == "tool" {
            let id = message.get("tool_call_id").and_then(Value::as_str).unwrap_or_default();
            let Some(place) = open.iter().position(|known| *known == id) else {
                return Some(format!("messages[{at}] with role 'tool' answers no preceding 'tool_calls'"));
            };
            open.remove(place);
        } else if !open.is_empty() {
            return Some(format!(
                "messages[{at}]: 'tool_calls' must be followed by tool messages for each id"
            ));
        }
        let calls = message.get("tool_calls").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let content = message.get("content");
        let speaks = content.is_some_and(|content| content.is_string() || content.is_array());
        let known = matches!(role, "system" | "developer" | "user" | "assistant" | "tool");
        let is_empty = !speaks && calls.is_empty();
        if !known || is_empty {
            return Some(format!("invalid messages[{at}]"));
        }
        for call in calls {
            let name = call.pointer("/function/name").and_then(Value::as_str).unwrap_or_default();
            let arguments = call.pointer("/function/arguments").is_some_and(Value::is_string);
            let id = call.get("id").and_then(Value::as_str).unwrap_or_default();
            if !is_name(name) || !arguments || id.is_empty() || open.contains(&id) {
                return Some(format!("invalid messages[{at}].tool_calls"));
            }
            open.push(id);
        }
    }
    (!open.is_empty()).then(|| "'tool_calls' without tool messages".to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(messages: &Value, valid: bool) {
        let body = json!({"model": "m", "messages": messages});
        assert_eq!(complaint(&body).is_none(), valid, "{body}: {:?}", complaint(&body));
    }

    #[test]
    fn calls_and_results_must_pair() {
        let call =
            |id: &str| json!({"id": id, "type": "function", "function": {"name": "t", "arguments": "{}"}});
        let calls = json!({"role": "assistant", "content": null, "tool_calls": [call("a"), call("b")]});
        let result = |id: &str| json!({"role": "tool", "tool_call_id": id, "content": ""});
        let user = json!({"role": "user", "content": "x"});
        check(&json!([user, calls, result("b"), result("a"), user]), true);
        check(&json!([user, calls, result("a")]), false);
        check(&json!([user, calls, result("a"), user]), false);
        check(&json!([user, calls, result("a"), result("a")]), false);
        check(&json!([user, result("a")]), false);
        check(&json!([]), false);
        check(&json!([{"role": "assistant", "content": null}]), false);
        check(&json!([{"role": "robot", "content": "x"}]), false);
    }

    #[test]
    fn models_and_tools_must_be_named() {
        let messages = json!([{"role": "user", "content": "x"}]);
        assert!(complaint(&json!({"messages": messages})).is_some());
        assert!(complaint(&json!({"model": "m", "messages": messages, "tools": []})).is_some());
        let tool = |name: &str| json!([{"type": "function", "function": {"name": name, "parameters": {}}}]);
        assert!(complaint(&json!({"model": "m", "messages": messages, "tools": tool("a b")})).is_some());
        assert!(complaint(&json!({"model": "m", "messages": messages, "tools": tool("a_b")})).is_none());
    }
}
