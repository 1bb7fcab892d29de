//! What the format's rules take and refuse.

use super::*;

fn with(input: impl Into<Value>) -> Value {
    json!({"model": "m", "input": input.into(), "store": false, "stream": true})
}

fn check(body: &Value, part: &str) {
    let found = complaint(body).unwrap_or_default();
    assert!(if part.is_empty() { found.is_empty() } else { found.contains(part) }, "{body}: {found}");
}

#[test]
fn fields_and_caps_are_checked() {
    check(&with("Hi"), "");
    check(&with(json!([])), "'input'");
    check(&json!({"model": "m", "input": "x", "messages": []}), "Unknown parameter: 'messages'");
    check(&json!({"input": "x"}), "'model'");
    check(&json!({"model": "m", "input": "x", "max_output_tokens": 15}), "below minimum");
    check(&json!({"model": "m", "input": "x", "include": ["x"]}), "Invalid value");
    let format = json!({"type": "json_schema", "name": "a", "schema": {}});
    check(&json!({"model": "m", "input": "x", "text": {"format": format}}), "");
    check(&json!({"model": "m", "input": "x", "text": {"format": {"type": "x"}}}), "Invalid value: 'x'");
    let tool = json!({"type": "function", "name": "t", "parameters": {}, "strict": false});
    check(&json!({"model": "m", "input": "x", "tools": [tool]}), "");
    let nested = json!({"type": "function", "function": {"name": "t", "parameters": {}}});
    check(&json!({"model": "m", "input": "x", "tools": [nested]}), "Unknown parameter: 'tools[0].function'");
}

#[test]
fn calls_and_outputs_are_paired() {
    let call = |id: &str| json!({"type": "function_call", "call_id": id, "name": "t", "arguments": "{}"});
    let output = |id: &str| json!({"type": "function_call_output", "call_id": id, "output": "o"});
    check(&with(json!([call("a"), call("b"), output("b"), output("a")])), "");
    check(&with(json!([call("a")])), "No tool output found");
    check(&with(json!([output("a")])), "No tool call found");
    check(&with(json!([call("a"), output("a"), output("a")])), "No tool call found");
    check(&with(json!([call("a"), call("a")])), "Duplicate");
}

#[test]
fn messages_have_the_parts_of_their_role() {
    let message = |role: &str, part: Value| json!([{"type": "message", "role": role, "content": [part]}]);
    check(&with(message("user", json!({"type": "input_text", "text": "a"}))), "");
    check(&with(message("assistant", json!({"type": "output_text", "text": "a"}))), "");
    check(
        &with(message("assistant", json!({"type": "input_text", "text": "a"}))),
        "Invalid value: 'input_text'",
    );
    check(&with(message("user", json!({"type": "text", "text": "a"}))), "Invalid value: 'text'");
    let image = |url: &str| json!({"type": "input_image", "image_url": url, "detail": "auto"});
    check(&with(message("user", image("data:image/png;base64,iVBORw0KGgo="))), "");
    check(&with(message("user", image("data:image/png;base64,AAAA"))), "image_url");
}

#[test]
fn reasoning_comes_back_as_it_was_or_not_at_all() {
    let summary = json!([{"type": "summary_text", "text": "Hm."}]);
    let encrypted = super::super::wire::sealed("m", "rs_1", &summary);
    let item = json!({"type": "reasoning", "id": "rs_1", "summary": summary, "encrypted_content": encrypted});
    let said = json!({"type": "message", "role": "assistant", "content": "a"});
    check(&with(json!([item, said])), "");
    check(&with(json!([item])), "without its required following item");
    check(&with(json!([item, {"role": "user", "content": "a"}])), "without its required following item");
    let mut changed = item.clone();
    changed["summary"] = json!([]);
    check(&with(json!([changed, said])), "could not be verified");
    changed["encrypted_content"] = Value::Null;
    check(&with(json!([changed, said])), "not found");
    let mut of_another = with(json!([item, said]));
    of_another["model"] = "n".into();
    check(&of_another, "could not be verified");
}
