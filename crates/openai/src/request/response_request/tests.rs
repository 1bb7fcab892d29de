//! What a request for a response may hold.

use palyra_types::RunId;
use palyra_types::client_tool::ClientCallId;
use palyra_types::sampling::{AnswerVerbosity, ReasoningEffort, SamplingNumber};
use serde_json::json;

use super::*;
use crate::identifiers::call_item_id;

fn with(members: &Value) -> Result<ResponseRequest, ErrorReply> {
    let mut body = json!({ "model": "palyra", "input": "hi" });
    for (name, value) in members.as_object().unwrap() {
        body[name] = value.clone();
    }
    ResponseRequest::parse(&body)
}

#[test]
fn a_minimal_request_is_stored_and_not_streamed() {
    let request = with(&json!({})).unwrap();
    assert_eq!((request.retention, request.delivery), (ResponseRetention::Stored, ResponseDelivery::Whole));
    assert_eq!(request.input, [ClientMessage::words(MessageRole::User, "hi", "input")]);
}

#[test]
fn background_needs_store() {
    let retention = |members| with(&members).map(|request| request.retention);
    assert_eq!(retention(json!({ "background": true })), Ok(ResponseRetention::Background));
    assert_eq!(retention(json!({ "store": false })), Ok(ResponseRetention::Unstored));
    let error = retention(json!({ "store": false, "background": true })).unwrap_err();
    assert_eq!((error.status(), error.param()), (400, Some("background")));
}

#[test]
fn a_response_that_was_not_stored_cannot_be_continued() {
    let run = RunId::from_parts(1, 1);
    let previous = |retention| {
        with(&json!({ "previous_response_id": ResponseId { run, part: 0, retention }.to_string() }))
    };
    let stored = previous(ResponseRetention::Stored).unwrap();
    assert_eq!(stored.previous.map(|id| id.run), Some(run));
    let error = previous(ResponseRetention::Unstored).unwrap_err();
    assert_eq!((error.status(), error.code()), (400, Some("previous_response_not_found")));
    let both = json!({ "previous_response_id": "resp_x", "conversation": "conv_1" });
    assert_eq!(with(&both).unwrap_err().param(), Some("conversation"));
}

#[test]
fn items_of_the_input_are_read_with_and_without_a_type() {
    let input = json!([
        { "role": "developer", "content": "d" },
        { "type": "message", "role": "user", "content": [{ "type": "input_text", "text": "u" }] },
        { "type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x" },
        { "type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}" },
        { "type": "custom_tool_call", "call_id": "c2", "name": "g", "input": "x" },
        { "type": "custom_tool_call_output", "call_id": "c2", "output": "r2" },
        { "type": "function_call_output", "call_id": "c1", "output": [{ "type": "input_text", "text": "r1" }] },
        { "type": "web_search_call", "id": "ws_1", "status": "completed" },
        { "type": "message", "role": "assistant", "id": "msg_1", "content": [{ "type": "output_text", "text": "a" }] },
        { "type": "item_reference", "id": "msg_2" },
        { "role": "user", "content": "v" },
    ]);
    let request = with(&json!({ "input": input })).unwrap();
    let texts: Vec<&str> = request.input.iter().map(|message| message.text.as_str()).collect();
    assert_eq!(texts.len(), 10);
    assert_eq!((texts[0], texts[1], texts[5], texts[7], texts[9]), ("d", "u", "r1", "a", "v"));
    assert!(texts[6].contains("web_search_call"), "kept as text");
    assert_eq!(request.input[8].reference.as_deref(), Some("msg_2"));
}

#[test]
fn items_of_tools_that_do_not_exist_here_are_kept_as_text() {
    for kind in [
        "web_search_call",
        "file_search_call",
        "computer_call",
        "local_shell_call",
        "image_generation_call",
        "mcp_call",
        "mcp_list_tools",
        "mcp_approval_request",
        "mcp_approval_response",
    ] {
        let input = json!([{ "type": kind, "id": "i1" }, { "role": "user", "content": "u" }]);
        let request = with(&json!({ "input": input })).unwrap();
        assert_eq!(request.input[0].role, MessageRole::Assistant, "{kind}");
        assert!(request.input[0].text.contains(kind), "{}", request.input[0].text);
        assert!(request.input[0].calls.is_empty(), "no result is awaited: {kind}");
    }
}

#[test]
fn a_call_whose_output_is_missing_is_named() {
    let input = json!([
        { "role": "user", "content": "u" },
        { "type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}" },
        { "type": "function_call", "call_id": "c2", "name": "f", "arguments": "{}" },
        { "type": "function_call_output", "call_id": "c1", "output": "r" },
    ]);
    let error = with(&json!({ "input": input })).unwrap_err();
    assert!(error.message().contains("c2") && !error.message().contains("c1"), "{}", error.message());
}

#[test]
fn results_can_be_those_of_calls_of_the_previous_response() {
    let run = RunId::from_parts(1, 1);
    let id = ResponseId { run, part: 0, retention: ResponseRetention::Stored }.to_string();
    let call = ClientCallId { run, number: 1 };
    let output = json!({ "type": "function_call_output", "call_id": call.to_string(), "output": "r" });
    let alone = json!({ "input": [output] });
    assert_eq!(with(&alone).unwrap_err().param(), Some("input[0]"));
    let after = with(&json!({ "input": [output], "previous_response_id": id })).unwrap();
    assert_eq!(after.input[0].answers, Some(call.to_string()));
    let named = json!({ "input": [{ "type": "item_reference", "id": call_item_id(call) }, output] });
    assert_eq!(with(&named).unwrap().input[0].calls, [call.to_string()]);
}

#[test]
fn hosted_tools_are_ignored_and_functions_of_the_client_are_read() {
    let request = with(&json!({ "tools": [{ "type": "web_search" }, { "type": "mcp" }] })).unwrap();
    assert_eq!(request.ignored_tools, ["web_search", "mcp"]);
    let chosen = json!({ "tools": [{ "type": "web_search" }], "tool_choice": { "type": "web_search" } });
    assert_eq!(with(&chosen).unwrap_err().param(), Some("tool_choice"));
    assert_eq!(request.functions, None);
    let tools = json!([{ "type": "function", "name": "f" }]);
    let request = with(&json!({ "tools": tools })).unwrap();
    assert_eq!(request.functions.unwrap().functions.len(), 1);
    assert_eq!(request.echo.members["tools"], tools);
}

#[test]
fn members_that_clients_send_are_accepted_and_some_are_repeated() {
    let members = json!({
        "include": ["reasoning.encrypted_content"], "prompt_cache_key": "k", "client_metadata": {}, "service_tier": "auto",
        "text": { "verbosity": "low", "format": { "type": "json_schema", "name": "n", "schema": { "type": "object" } } },
        "truncation": "auto", "metadata": { "a": "b" }, "max_output_tokens": 9, "instructions": "be brief",
        "reasoning": { "effort": "high", "summary": "auto" }, "temperature": 0.5,
    });
    let request = with(&members).unwrap();
    assert_eq!(request.schema, Some(json!({ "type": "object" })));
    assert_eq!((request.output_tokens_max, request.instructions.as_deref()), (Some(9), Some("be brief")));
    assert_eq!(request.echo.members["metadata"], json!({ "a": "b" }));
    assert_eq!(request.echo.members["truncation"], "auto");
    assert_eq!(request.sampling.reasoning_effort, Some(ReasoningEffort::High));
    assert_eq!(request.sampling.verbosity, Some(AnswerVerbosity::Low));
    assert_eq!(request.sampling.temperature, Some(SamplingNumber::rounded(0.5)));
}

#[test]
fn members_of_the_wrong_type_are_refused_by_name() {
    for (members, param) in [
        (json!({ "input": null }), "input"),
        (json!({ "input": [] }), "input"),
        (json!({ "input": [{ "type": "message", "content": "x" }] }), "input[0].role"),
        (json!({ "input": [{ "type": "message", "role": "user" }] }), "input[0].content"),
        (json!({ "input": [7] }), "input[0]"),
        (json!({ "text": { "format": { "type": "json_schema", "schema": {} } } }), "text.format.name"),
        (json!({ "stream": 1 }), "stream"),
        (json!({ "reasoning": "high" }), "reasoning"),
        (json!({ "reasoning": { "effort": "huge" } }), "reasoning.effort"),
        (json!({ "text": { "verbosity": "none" } }), "text.verbosity"),
        (json!({ "temperature": 2.1 }), "temperature"),
        (json!({ "max_output_tokens": 0 }), "max_output_tokens"),
    ] {
        assert_eq!(with(&members).unwrap_err().param(), Some(param), "{members}");
    }
}
