//! Which functions are offered, and which has to be called.

use serde_json::json;

use super::*;

fn read(body: &Value, place: FunctionPlace) -> Result<OfferedTools, ErrorReply> {
    offered_tools(&FieldReader::body(body).unwrap(), place)
}

fn chat_function(name: &str) -> Value {
    json!({ "type": "function", "function": { "name": name, "description": "d", "strict": true,
        "parameters": { "type": "object" } } })
}

fn offered(body: &Value, place: FunctionPlace) -> (Vec<String>, ClientToolChoice) {
    let OfferedFunctions { functions, choice } = read(body, place).unwrap().functions.unwrap();
    (functions.into_iter().map(|function| function.name.into_exposed()).collect(), choice)
}

#[test]
fn a_function_is_read_from_both_shapes() {
    let chat = read(&json!({ "tools": [chat_function("f")] }), FunctionPlace::Member).unwrap();
    let flat = json!({ "tools": [{ "type": "function", "name": "f", "description": "d", "strict": true,
        "parameters": { "type": "object" } }] });
    let flat = read(&flat, FunctionPlace::Tool).unwrap();
    assert_eq!(chat, flat);
    let function = chat.functions.unwrap().functions.remove(0);
    assert_eq!(function.parameters.expose(), r#"{"type":"object"}"#);
    assert_eq!((function.description.expose().as_str(), function.strict), ("d", Some(true)));
    let bare = json!({ "tools": [{ "type": "function", "name": "f", "parameters": null, "strict": null }] });
    let bare = read(&bare, FunctionPlace::Tool).unwrap().functions.unwrap().functions.remove(0);
    assert_eq!((bare.strict, bare.description.expose().as_str()), (None, ""));
    assert!(bare.parameters.expose().contains("object"));
}

#[test]
fn a_choice_is_a_word_a_function_or_a_part_of_them() {
    let tools = json!([chat_function("f"), { "type": "web_search" }, chat_function("g")]);
    let both = vec!["f".to_owned(), "g".to_owned()];
    let named = json!({ "type": "function", "function": { "name": "g" } });
    let allowed = json!({ "type": "allowed_tools", "allowed_tools": { "mode": "required", "tools": [
        { "type": "function", "function": { "name": "g" } }, { "type": "web_search" },
    ] } });
    for (choice, expected) in [
        (Value::Null, (both.clone(), ClientToolChoice::Auto)),
        (json!("auto"), (both.clone(), ClientToolChoice::Auto)),
        (json!("none"), (both.clone(), ClientToolChoice::None)),
        (json!("required"), (both.clone(), ClientToolChoice::Required)),
        (named, (both, ClientToolChoice::Tool(1))),
        (allowed, (vec!["g".to_owned()], ClientToolChoice::Required)),
    ] {
        let body = json!({ "tools": tools, "tool_choice": choice });
        assert_eq!(offered(&body, FunctionPlace::Member), expected, "{choice}");
        assert_eq!(read(&body, FunctionPlace::Member).unwrap().hosted, ["web_search"]);
    }
    let flat = json!({ "tools": [{ "type": "function", "name": "f" }, { "type": "function", "name": "g" }],
        "tool_choice": { "type": "allowed_tools", "mode": "auto", "tools": [{ "type": "function", "name": "f" }] } });
    assert_eq!(offered(&flat, FunctionPlace::Tool), (vec!["f".to_owned()], ClientToolChoice::Auto));
    let flat = json!({ "tools": [{ "type": "function", "name": "f" }],
        "tool_choice": { "type": "function", "name": "f" } });
    assert_eq!(offered(&flat, FunctionPlace::Tool).1, ClientToolChoice::Tool(0));
}

#[test]
fn without_functions_there_is_nothing_to_choose() {
    for choice in [json!("none"), json!("auto"), Value::Null] {
        let body = json!({ "tools": [{ "type": "web_search" }], "tool_choice": choice });
        assert_eq!(read(&body, FunctionPlace::Tool).unwrap().functions, None);
    }
    let hosted = json!({ "tools": [{ "type": "web_search" }], "tool_choice": { "type": "web_search" } });
    assert_eq!(read(&hosted, FunctionPlace::Tool).unwrap_err().param(), Some("tool_choice"));
}

#[test]
fn what_cannot_be_offered_is_refused_by_name() {
    let function = || chat_function("f");
    for (body, param) in [
        (json!({ "tools": [{ "type": "custom", "custom": { "name": "f" } }] }), "tools[0].type"),
        (json!({ "tools": [{ "function": { "name": "f" } }] }), "tools[0].type"),
        (json!({ "tools": [{ "type": "function" }] }), "tools[0].function"),
        (json!({ "tools": [{ "type": "function", "function": {} }] }), "tools[0].function.name"),
        (json!({ "tools": [chat_function("a b")] }), "tools[0].function.name"),
        (json!({ "tools": [chat_function(&"x".repeat(65))] }), "tools[0].function.name"),
        (json!({ "tools": [function(), function()] }), "tools[1].name"),
        (
            json!({ "tools": [{ "type": "function", "function": { "name": "f", "parameters": 7 } }] }),
            "tools[0].function.parameters",
        ),
        (json!({ "functions": [{ "name": "f" }] }), "functions"),
        (json!({ "tool_choice": "required" }), "tool_choice"),
        (json!({ "tools": [function()], "tool_choice": "some" }), "tool_choice"),
        (
            json!({ "tools": [function()], "tool_choice": { "type": "function", "function": { "name": "g" } } }),
            "tool_choice",
        ),
        (
            json!({ "tools": [function()], "tool_choice": { "type": "allowed_tools", "allowed_tools": {
            "tools": [{ "type": "function", "function": { "name": "g" } }] } } }),
            "tool_choice.allowed_tools.tools",
        ),
        (
            json!({ "tools": [function()], "tool_choice": { "type": "allowed_tools", "allowed_tools": {
            "tools": [{ "type": "web_search" }] } } }),
            "tool_choice.allowed_tools.tools",
        ),
    ] {
        let error = read(&body, FunctionPlace::Member).unwrap_err();
        assert_eq!((error.status(), error.param()), (400, Some(param)), "{body}");
    }
}
