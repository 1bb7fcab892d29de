//! Requests that Anthropic takes, and those it refuses.

use serde_json::json;

use super::*;
use crate::signature::{seal, sign};

/// Checks a body made of messages and more fields; `flaw` is part of what is wrong, empty when nothing is.
#[track_caller]
fn check(messages: &Value, more: &Value, flaw: &str) {
    let mut whole = json!({"model": "m", "max_tokens": 2_000, "messages": messages});
    whole.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    match body(Version::Of2023, &whole) {
        Ok(()) => assert!(flaw.is_empty(), "taken, though {flaw}: {whole}"),
        Err(refusal) => {
            assert!(!flaw.is_empty() && refusal.message.contains(flaw), "{}: {whole}", refusal.message);
        }
    }
}

fn user(content: impl Into<Value>) -> Value {
    json!({"role": "user", "content": content.into()})
}

fn assistant(content: impl Into<Value>) -> Value {
    json!({"role": "assistant", "content": content.into()})
}

fn call(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "t", "input": {}})
}

fn result(id: &str) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": "done"})
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

#[test]
fn roles_alternate_and_say_something() {
    let none = json!({});
    let hi = || user(json!("Hi"));
    check(&json!([hi()]), &none, "");
    check(&json!([hi(), assistant(json!("Yes?")), user(json!([text("Go on")]))]), &none, "");
    check(&json!([]), &none, "at least one message");
    check(&json!([hi(), hi()]), &none, "multiple \"user\" roles in a row");
    check(&json!([assistant(json!("Yes?")), hi()]), &none, "first message must use the \"user\" role");
    check(&json!([hi(), assistant(json!("Yes"))]), &none, "prefill");
    check(&json!([user(json!(" \n"))]), &none, "non-empty content");
    check(&json!([user(json!([]))]), &none, "non-empty content");
    check(&json!([user(json!([text("")]))]), &none, "must be non-empty");
    check(&json!([user(json!([text(" \t")]))]), &none, "non-whitespace");
    check(&json!([{"role": "system", "content": "x"}]), &none, "messages.0.role");
    check(&json!([{"role": "user", "content": "x", "name": "y"}]), &none, "messages.0.name: Extra inputs");
    check(&json!([user(json!([{"type": "text", "text": "x", "mood": 1}]))]), &none, "mood: Extra inputs");
    check(&json!([user(json!([{"type": "hologram"}]))]), &none, "Input tag 'hologram'");
    check(&json!([hi()]), &json!({"system": [text("Be brief.")]}), "");
    check(&json!([hi()]), &json!({"system": [text("")]}), "must be non-empty");
}

#[test]
fn calls_and_results_stand_directly_behind_each_other() {
    let none = json!({});
    let asked = || user(json!("Hi"));
    let both = || assistant(json!([text("Let me look."), call("a"), call("b")]));
    let pair = json!([asked(), both(), user(json!([result("b"), result("a"), text("And now?")]))]);
    check(&pair, &none, "");
    check(
        &json!([asked(), both(), user(json!([result("a")]))]),
        &none,
        "without `tool_result` blocks immediately after: b",
    );
    check(&json!([asked(), both(), user(json!("Never mind"))]), &none, "immediately after: a, b");
    check(&json!([asked(), both()]), &none, "prefill");
    check(&json!([user(json!([result("a")]))]), &none, "messages.0.content.0: unexpected `tool_use_id`");
    let late = json!([asked(), both(), user(json!([text("Wait"), result("a"), result("b")]))]);
    check(&late, &none, "must come before any other content");
    let twice = json!([asked(), both(), user(json!([result("a"), result("a"), result("b")]))]);
    check(&twice, &none, "multiple `tool_result` blocks with id: a");
    let again = json!([
        asked(),
        assistant(json!([call("a")])),
        user(json!([result("a")])),
        assistant(json!([call("a")])),
        user(json!([result("a")])),
    ]);
    check(&again, &none, "ids must be unique");
    let failed = json!({"type": "tool_result", "tool_use_id": "a", "is_error": true, "content": ""});
    check(&json!([asked(), assistant(json!([call("a")])), user(json!([failed]))]), &none, "cannot be empty");
    check(&json!([asked(), user(json!([call("a")]))]), &none, "multiple");
    check(&json!([user(json!([call("a")]))]), &none, "can only be in `assistant` messages");
    let odd =
        json!([asked(), assistant(json!([{"type": "tool_use", "id": "a", "name": "no such", "input": {}}]))]);
    check(&odd, &none, "tool_use.name");
    let unread =
        json!([asked(), assistant(json!([{"type": "tool_use", "id": "a", "name": "t", "input": "{}"}]))]);
    check(&unread, &none, "valid dictionary");
}

#[test]
fn reasoning_comes_back_first_and_byte_by_byte() {
    let on = json!({"thinking": {"type": "enabled", "budget_tokens": 1_024}});
    let thought =
        |text: &str, signature: &str| json!({"type": "thinking", "thinking": text, "signature": signature});
    let good = || thought("Hm.", &sign("m", "Hm."));
    let loops = |blocks: Value| json!([user(json!("Hi")), assistant(blocks), user(json!([result("a")]))]);
    check(&loops(json!([good(), call("a")])), &on, "");
    check(&loops(json!([{"type": "redacted_thinking", "data": seal("m", "x")}, call("a")])), &on, "");
    check(
        &loops(json!([call("a")])),
        &on,
        "Expected `thinking` or `redacted_thinking`, but found `tool_use`",
    );
    check(&loops(json!([text("So."), good(), call("a")])), &on, "but found `text`");
    check(&loops(json!([thought("Hm. ", &sign("m", "Hm.")), call("a")])), &on, "Invalid `signature`");
    check(&loops(json!([thought("Hm.", &sign("other", "Hm.")), call("a")])), &on, "Invalid `signature`");
    check(&loops(json!([{"type": "redacted_thinking", "data": "x"}, call("a")])), &on, "Invalid `data`");
    check(&loops(json!([good(), call("a")])), &json!({}), "When thinking is disabled");
    check(&loops(json!([call("a")])), &json!({"thinking": {"type": "adaptive"}}), "");
    check(&loops(json!([call("a")])), &json!({"thinking": {"type": "disabled"}}), "");
    let past = json!([user(json!("Hi")), assistant(json!([good(), text("Yes?")])), user(json!("Go on"))]);
    check(&past, &on, "");
}

#[test]
fn images_are_what_they_are_called() {
    let shown = |media_type: &str, data: &str| {
        let source = json!({"type": "base64", "media_type": media_type, "data": data});
        json!([user(json!([{"type": "image", "source": source}, text("Look")]))])
    };
    let none = json!({});
    check(&shown("image/png", "iVBORw0KGgo="), &none, "");
    check(&shown("image/webp", "iVBORw0KGgo="), &none, "appears to be a image/png image");
    check(&shown("image/bmp", "iVBORw0KGgo="), &none, "media_type");
    check(&shown("image/png", "data:image/png;base64,iVBORw0KGgo="), &none, "Invalid base64 data");
    check(&shown("image/png", "Zm9v"), &none, "Could not process image");
    let by_url = |url: &str| json!([user(json!([{"type": "image", "source": {"type": "url", "url": url}}]))]);
    check(&by_url("https://example.invalid/a.png"), &none, "");
    check(&by_url("http://example.invalid/a.png"), &none, "Only HTTPS");
    let mut inside = result("a");
    inside["content"] = shown("image/gif", "iVBORw0KGgo=")[0]["content"].clone();
    check(
        &json!([user(json!("Hi")), assistant(json!([call("a")])), user(json!([inside]))]),
        &none,
        "appears to be",
    );
}

#[test]
fn fields_are_known_and_go_together() {
    let hi = json!([user(json!("Hi"))]);
    let refused = |more: Value, flaw: &str| check(&hi, &more, flaw);
    refused(json!({"max_tokens": 0}), "max_tokens");
    refused(json!({"max_tokens": 70_000}), "maximum allowed number of output tokens");
    refused(json!({"max_completion_tokens": 5}), "max_completion_tokens: Extra inputs are not permitted");
    refused(json!({"thinking": {"type": "enabled", "budget_tokens": 100}}), "budget_tokens");
    refused(json!({"thinking": {"type": "enabled", "budget_tokens": 2_000}}), "must be greater than");
    refused(json!({"thinking": {"type": "adaptive"}, "temperature": 0.5}), "temperature");
    refused(json!({"tool_choice": {"type": "auto"}}), "while providing tools");
    let tool = |name: &str, schema: Value| json!({"name": name, "description": "d", "input_schema": schema});
    let object = || json!({"type": "object", "properties": {}});
    refused(json!({"tools": [tool("a", object()), tool("b", object())]}), "");
    refused(json!({"tools": [tool("a", object()), tool("a", object())]}), "unique");
    refused(json!({"tools": [tool("a b", object())]}), "tools.0.custom.name");
    refused(json!({"tools": [tool("a", json!({}))]}), "input_schema.type");
    refused(json!({"tools": [tool("a", json!({"type": "object", "oneOf": []}))]}), "does not support oneOf");
    refused(
        json!({"tools": [{"type": "function", "function": tool("a", object())}]}),
        "function: Extra inputs",
    );
    let fits =
        |schema: Value| json!({"output_config": {"format": {"type": "json_schema", "schema": schema}}});
    refused(fits(json!({"type": "object", "additionalProperties": false})), "");
    refused(fits(object()), "must be explicitly set to false");
    refused(json!({"output_format": {}}), "output_format: Extra inputs");
    let marked = json!({"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}});
    refused(json!({"system": [marked, marked, marked, marked]}), "");
    refused(json!({"system": [marked, marked, marked, marked, marked]}), "maximum of 4 blocks");
    let whole = json!({"model": "m", "messages": hi});
    assert!(
        body(Version::Of2026, &whole).is_err_and(|refusal| refusal.message == "max_tokens: Field required")
    );
    assert!(body(Version::Of2026, &json!({"max_tokens": 5, "messages": hi})).is_err());
    assert!(body(Version::Of2026, &Value::Null).is_err());
    let warm = json!({"model": "m", "max_tokens": 5, "messages": hi, "temperature": 1.0});
    assert!(body(Version::Of2023, &warm).is_ok());
    assert!(body(Version::Of2026, &warm).is_err_and(|refusal| refusal.message.starts_with("temperature")));
}
