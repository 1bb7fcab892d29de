//! What a request for a chat completion may hold.

use palyra_types::sampling::{AnswerVerbosity, CallsPerAnswer, ReasoningEffort, SamplingNumber};
use serde_json::json;

use super::*;
use crate::request::requested_model::RequestedModel;

fn with(members: &Value) -> Result<ChatRequest, ErrorReply> {
    let mut body = json!({ "model": "palyra", "messages": [{ "role": "user", "content": "hi" }] });
    for (name, value) in members.as_object().unwrap() {
        body[name] = value.clone();
    }
    ChatRequest::parse(&body)
}

#[test]
fn a_minimal_request_is_read() {
    let request = with(&json!({})).unwrap();
    assert_eq!(request.model.model, RequestedModel::Agent(None));
    assert_eq!((request.stream, request.schema, request.output_tokens_max), (None, None, None));
    assert_eq!(request.messages[0].text, "hi");
}

#[test]
fn members_that_clients_send_are_accepted() {
    let members = json!({
        "max_tokens": 5, "max_completion_tokens": 6, "stop": ["a"], "temperature": 1, "top_p": 0.5, "tool_choice": "none",
        "parallel_tool_calls": true, "reasoning_effort": "low", "verbosity": "low", "seed": 1, "user": "u", "store": true,
        "metadata": { "a": "b" }, "service_tier": "auto", "prompt_cache_key": "k", "safety_identifier": "s",
        "logit_bias": {}, "prediction": null, "web_search_options": {}, "moderation": {}, "n": 1, "tools": [],
        "modalities": ["text"], "stream_options": { "include_obfuscation": false }, "unknown": 1, "logprobs": false,
    });
    assert_eq!(with(&members).unwrap().output_tokens_max, Some(6));
}

#[test]
fn settings_of_the_model_are_read() {
    let members = json!({
        "stop": ["a", "\n"], "temperature": 0.2, "top_p": 0.5, "seed": -3, "parallel_tool_calls": false,
        "reasoning_effort": "minimal", "verbosity": "high",
    });
    let expected = ClientSampling {
        temperature: Some(SamplingNumber::rounded(0.2)),
        top_p: Some(SamplingNumber::rounded(0.5)),
        stop: vec!["a".into(), "\n".into()],
        seed: Some(-3),
        reasoning_effort: Some(ReasoningEffort::Minimal),
        verbosity: Some(AnswerVerbosity::High),
        calls_per_answer: Some(CallsPerAnswer::One),
    };
    assert_eq!(with(&members).unwrap().sampling, expected);
    assert_eq!(with(&json!({ "stop": "END" })).unwrap().sampling.stop, ["END".into()]);
    let absent = json!({ "stop": null, "temperature": null, "seed": null, "reasoning_effort": null });
    assert_eq!(with(&absent).unwrap().sampling, ClientSampling::default());
}

#[test]
fn members_that_cannot_be_served_are_refused_by_name() {
    let cases = [
        (json!({ "n": 2 }), "n"),
        (json!({ "modalities": ["text", "audio"] }), "modalities"),
        (json!({ "logprobs": true }), "logprobs"),
        (json!({ "top_logprobs": 2 }), "logprobs"),
        (json!({ "audio": { "voice": "v", "format": "wav" } }), "audio"),
        (json!({ "temperature": 3 }), "temperature"),
        (json!({ "temperature": -0.1 }), "temperature"),
        (json!({ "top_p": 1.1 }), "top_p"),
        (json!({ "stop": 1 }), "stop"),
        (json!({ "stop": "" }), "stop"),
        (json!({ "stop": ["a", "b", "c", "d", "e"] }), "stop"),
        (json!({ "stop": ["a", 1] }), "stop"),
        (json!({ "seed": 1.5 }), "seed"),
        (json!({ "reasoning_effort": "huge" }), "reasoning_effort"),
        (json!({ "verbosity": "none" }), "verbosity"),
        (json!({ "parallel_tool_calls": "no" }), "parallel_tool_calls"),
        (json!({ "stream": "yes" }), "stream"),
        (json!({ "messages": [] }), "messages"),
        (json!({ "messages": "hi" }), "messages"),
        (json!({ "messages": [{ "role": "robot", "content": "x" }] }), "messages[0].role"),
        (json!({ "messages": [{ "role": "user" }] }), "messages[0].content"),
        (json!({ "model": null }), "model"),
        (json!({ "model": "gpt-4o" }), "model"),
        (json!({ "tools": [{ "type": "function", "function": {} }] }), "tools[0].function.name"),
        (json!({ "tool_choice": "required" }), "tool_choice"),
        (json!({ "response_format": { "type": "xml" } }), "response_format.type"),
        (json!({ "response_format": { "type": "json_schema" } }), "response_format.json_schema"),
        (json!({ "max_tokens": 0 }), "max_tokens"),
    ];
    for (members, param) in cases {
        let error = with(&members).unwrap_err();
        assert_eq!(error.param(), Some(param), "{members}");
        assert!(matches!(error.status(), 400 | 404), "{members}");
        assert_eq!(error.headers()[0].1, "false");
    }
    assert_eq!(with(&json!({ "model": "gpt-4o" })).unwrap_err().code(), Some("model_not_found"));
}

#[test]
fn a_stream_says_what_was_used_only_when_it_is_asked_to() {
    assert_eq!(with(&json!({ "stream": true })).unwrap().stream, Some(UsageReport::Omitted));
    let asked = json!({ "stream": true, "stream_options": { "include_usage": true } });
    assert_eq!(with(&asked).unwrap().stream, Some(UsageReport::Included));
}

#[test]
fn the_schema_of_an_answer_is_read() {
    let schema = json!({ "type": "object", "properties": {} });
    let format =
        json!({ "type": "json_schema", "json_schema": { "name": "n", "strict": true, "schema": schema } });
    assert_eq!(with(&json!({ "response_format": format })).unwrap().schema, Some(schema));
    let object = json!({ "response_format": { "type": "json_object" } });
    assert_eq!(with(&object).unwrap().schema, Some(json!({ "type": "object" })));
    assert_eq!(with(&json!({ "response_format": { "type": "text" } })).unwrap().schema, None);
}

#[test]
fn all_roles_are_read_and_an_assistant_may_have_calls_and_no_content() {
    let messages = json!([
        { "role": "system", "content": "s" },
        { "role": "developer", "content": [{ "type": "text", "text": "d" }] },
        { "role": "user", "content": "u", "name": "n" },
        { "role": "assistant", "content": null, "tool_calls": [
            { "id": "c1", "type": "function", "function": { "name": "f", "arguments": "{}" } },
        ] },
        { "role": "tool", "tool_call_id": "c1", "content": [{ "type": "text", "text": "r" }] },
        { "role": "assistant", "content": "a" },
        { "role": "user", "content": "v" },
        { "role": "function", "name": "f", "content": "w" },
    ]);
    let request = with(&json!({ "messages": messages })).unwrap();
    let texts: Vec<&str> = request.messages.iter().map(|message| message.text.as_str()).collect();
    assert_eq!((texts[1], texts[4], texts[6], texts[7]), ("d", "r", "v", "w"));
    assert_eq!(request.messages[7].role, MessageRole::Tool);
    assert_eq!(request.messages[3].calls, ["c1"]);
    let mut without_result = messages;
    without_result.as_array_mut().unwrap().remove(4);
    let error = with(&json!({ "messages": without_result })).unwrap_err();
    assert_eq!(error.param(), Some("messages[3]"));
}
