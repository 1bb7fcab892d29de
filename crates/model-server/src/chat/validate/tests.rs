//! Requests that OpenAI takes, and those it refuses.

use serde_json::json;

use super::*;

fn check(messages: &Value, valid: bool) {
    let body = json!({"model": "m", "messages": messages});
    assert_eq!(
        complaint(Vendor::OpenAi, &body).is_none(),
        valid,
        "{body}: {:?}",
        complaint(Vendor::OpenAi, &body)
    );
}

#[test]
fn calls_and_results_must_pair() {
    let call = |id: &str| json!({"id": id, "type": "function", "function": {"name": "t", "arguments": "{}"}});
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
    assert!(complaint(Vendor::OpenAi, &json!({"messages": messages})).is_some());
    assert!(complaint(Vendor::OpenAi, &json!({"model": "m", "messages": messages, "tools": []})).is_some());
    let tool = |name: &str| json!([{"type": "function", "function": {"name": name, "parameters": {}}}]);
    assert!(
        complaint(Vendor::OpenAi, &json!({"model": "m", "messages": messages, "tools": tool("a b")}))
            .is_some()
    );
    assert!(
        complaint(Vendor::OpenAi, &json!({"model": "m", "messages": messages, "tools": tool("a_b")}))
            .is_none()
    );
}

#[test]
fn options_go_together() {
    let check = |more: Value, valid: bool| {
        let mut body = json!({"model": "m", "messages": [{"role": "user", "content": "x"}]});
        body.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        let found = complaint(Vendor::OpenAi, &body);
        assert_eq!(found.is_none(), valid, "{body}: {found:?}");
    };
    check(json!({"stream": true, "stream_options": {"include_usage": true}, "max_tokens": 5}), true);
    check(json!({"stream_options": {"include_usage": true}}), false);
    check(json!({"max_tokens": 0}), false);
    check(json!({"max_tokens": 5, "max_completion_tokens": 5}), false);
    check(json!({"reasoning_budget": 5}), false);
    let body = json!({"model": "m", "messages": [{"role": "user", "content": "x"}], "reasoning_budget": 5});
    assert_eq!(complaint(Vendor::LlamaCpp, &body), None);
    let format = |schema: Value| json!({"response_format": {"type": "json_schema", "json_schema": {"name": "a", "strict": true, "schema": schema}}});
    let open = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    let mut closed = open.clone();
    closed["additionalProperties"] = json!(false);
    check(format(open.clone()), false);
    check(format(closed.clone()), false);
    closed["required"] = json!(["a"]);
    check(format(closed.clone()), true);
    let nested = json!({"type": "object", "properties": {"in": open}, "required": ["in"], "additionalProperties": false});
    check(format(nested), false);
    check(json!({"response_format": {"type": "json_object"}}), true);
    check(json!({"response_format": {"type": "xml"}}), false);
    check(
        json!({"response_format": {"type": "json_schema", "json_schema": {"name": "a b", "schema": {}}}}),
        false,
    );
}

#[test]
fn images_are_data_urls_of_what_they_say() {
    let check = |role: &str, url: &str, valid: bool| {
        let image = json!({"type": "image_url", "image_url": {"url": url}});
        let content = json!([{"type": "text", "text": "look"}, image]);
        let body = json!({"model": "m", "messages": [{"role": role, "content": content}]});
        let found = complaint(Vendor::OpenAi, &body);
        assert_eq!(found.is_none(), valid, "{body}: {found:?}");
    };
    check("user", "data:image/png;base64,iVBORw0KGgo=", true);
    check("user", "https://example.invalid/a.png", true);
    check("assistant", "data:image/png;base64,iVBORw0KGgo=", false);
    check("user", "data:image/jpeg;base64,iVBORw0KGgo=", false);
    check("user", "data:image/png;base64,iVBORw0KGg", false);
    check("user", "data:image/png,iVBORw0KGgo=", false);
    check("user", "file:///a.png", false);
    check("user", "data:image/svg+xml;base64,iVBORw0KGgo=", false);
}
