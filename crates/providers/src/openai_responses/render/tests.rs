//! Golden renderings.

use std::sync::Arc;
use std::time::Duration;

use palyra_types::Redacted;
use palyra_types::attachment::{Attachment, AttachmentBody, RenderedAttachment};
use palyra_types::client_tool::{ClientTool, ClientToolChoice};
use palyra_types::data_delimiter::DataDelimiter;
use palyra_types::model::{
    CallId, ChatMessage, ModelRef, ProviderContinuation, RenderedCall, ToolResultStatus,
};
use palyra_types::tool::{
    ApprovalRiskLevel, EffectContract, Parallelism, Taints, ToolCatalog, ToolConduct, ToolName, ToolSpec,
};

use super::*;
use crate::openai_responses::CONTINUATION;
use crate::wire_format::continuation::BlockKind;

fn request(messages: Vec<ChatMessage>) -> ModelRequest {
    ModelRequest {
        model: ModelRef::new("p", "vendor/m-1"),
        system: "Be brief.".into(),
        messages,
        tools: Arc::default(),
        client_tools: None,
        output_tokens_max: None,
        response_format: None,
        sampling: SamplingOptions::default(),
    }
}

fn spec(name: &str) -> ToolSpec {
    ToolSpec {
        name: ToolName::new(name),
        version: 1,
        description: format!("Does {name}."),
        schema: json!({"type": "object", "properties": {"path": {"type": "string", "x-palyra-meaning": "path"}}}),
        contract: EffectContract::Pure,
        parallelism: Parallelism::Parallel,
        conduct: ToolConduct::Direct,
        capabilities: Vec::new(),
        taints: Taints::NONE,
        risk: ApprovalRiskLevel::Low,
        deadline: Duration::from_secs(1),
        output_bytes_max: 1,
    }
}

fn call(id: &str, tool: &str, arguments: &str) -> RenderedCall {
    RenderedCall {
        call: CallId(id.into()),
        tool: ToolName::new(tool),
        arguments: Redacted::cleaned(arguments.to_owned()),
    }
}

fn user(text: &str) -> ChatMessage {
    ChatMessage::user(Redacted::cleaned(text.to_owned()))
}

fn assistant(text: &str, calls: Vec<RenderedCall>, kept: Option<ProviderContinuation>) -> ChatMessage {
    ChatMessage::Assistant {
        text: Redacted::cleaned(text.to_owned()),
        calls,
        continuation: kept.map(Arc::new),
    }
}

fn result(id: &str, text: &str, status: ToolResultStatus) -> ChatMessage {
    ChatMessage::ToolResult {
        call: CallId(id.into()),
        tool: ToolName::new("t"),
        text: Redacted::cleaned(text.to_owned()),
        status,
        delimiter: DataDelimiter([1; 8]),
    }
}

fn data(text: &str) -> String {
    DataDelimiter([1; 8]).enclose("t", text)
}

/// Renders, and looks whether the fields are in the order of their names.
fn rendered(request: &ModelRequest, refused: &[OptionalFeature]) -> Value {
    let text = render(request, refused).body;
    let value: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value.to_string(), text);
    value
}

fn input(messages: Vec<ChatMessage>) -> Value {
    rendered(&request(messages), &[])["input"].clone()
}

fn said(role: &str, text: &str) -> Value {
    json!({"type": "message", "role": role, "content": text})
}

fn called(id: &str, name: &str, arguments: &str) -> Value {
    json!({"type": "function_call", "call_id": id, "name": name, "arguments": arguments})
}

fn output(id: &str, text: &str) -> Value {
    json!({"type": "function_call_output", "call_id": id, "output": text})
}

#[test]
fn a_text_request_stores_nothing_and_has_no_tools() {
    assert_eq!(
        rendered(&request(vec![user("Hi")]), &[]),
        json!({
            "model": "vendor/m-1",
            "instructions": "Be brief.",
            "input": [said("user", "Hi")],
            "include": ["reasoning.encrypted_content"],
            "store": false,
            "stream": true,
        })
    );
    let mut bare = request(vec![user("Hi")]);
    bare.system = Redacted::default().into();
    let body = rendered(&bare, &[OptionalFeature::Reasoning]);
    assert_eq!((body.get("instructions"), body.get("include")), (None, None));
}

#[test]
fn a_round_with_tools_pairs_calls_and_outputs() {
    let mut request = request(vec![
        user("Read"),
        assistant("Let me.", vec![call("c1", "a b", r#"{"path":"x"}"#), call("c2", "t", "{}")], None),
        user("and hurry"),
        result("c1", "body", ToolResultStatus::Succeeded),
        result("c2", "unknown", ToolResultStatus::Failed),
        assistant("", vec![call("c3", "t", "{}")], None),
        result("c3", "a person denied this call: keep it", ToolResultStatus::DeniedByPerson),
        assistant("", Vec::new(), None),
        assistant("Done", Vec::new(), None),
    ]);
    request.tools = Arc::new(ToolCatalog::new(vec![spec("search"), spec("read_file")]));
    request.output_tokens_max = Some(64);
    let body = rendered(&request, &[]);
    assert_eq!(
        body["input"],
        json!([
            said("user", "Read"),
            said("assistant", "Let me."),
            called("c1", "a_b", r#"{"path":"x"}"#),
            called("c2", "t", "{}"),
            said("user", "and hurry"),
            output("c1", &data("body")),
            output("c2", &format!("The tool did not succeed:\n{}", data("unknown"))),
            called("c3", "t", "{}"),
            output("c3", "a person denied this call: keep it"),
            said("assistant", "Done"),
        ])
    );
    let tool = |name: &str| {
        json!({"type": "function", "name": name, "description": format!("Does {name}."), "strict": false,
            "parameters": {"type": "object", "properties": {"path": {"type": "string"}}}})
    };
    assert_eq!(body["tools"], json!([tool("read_file"), tool("search")]));
    assert_eq!((&body["max_output_tokens"], body.get("tool_choice")), (&json!(64), None));
}

#[test]
fn a_cap_is_at_least_what_the_format_takes_and_is_left_out_where_it_is_refused() {
    let mut request = request(vec![user("Hi")]);
    request.output_tokens_max = Some(3);
    let found = render(&request, &[]);
    assert!(found.body.contains("\"max_output_tokens\":16"), "{}", found.body);
    assert_eq!(found.features, [OptionalFeature::OutputCap, OptionalFeature::Reasoning]);
    let found = render(&request, &[OptionalFeature::OutputCap]);
    assert!(!found.body.contains("max_output_tokens"), "{}", found.body);
    assert_eq!(found.features, [OptionalFeature::Reasoning]);
}

fn thought(id: &str) -> Value {
    json!({"type": "reasoning", "id": id, "summary": [{"type": "summary_text", "text": "\u{1f600}\u{2028}"}],
        "encrypted_content": format!("gAAAAA+/{id}==")})
}

/// An answer whose reasoning, text and calls are interleaved.
fn interleaved(model: &str) -> Option<ProviderContinuation> {
    let places = [
        BlockKind::Kept(thought("one")),
        BlockKind::Text("Grün".len()),
        BlockKind::Call,
        BlockKind::Text(" b".len()),
        BlockKind::Kept(thought("two")),
        BlockKind::Call,
        BlockKind::Kept(thought("three")),
    ];
    let kept = CONTINUATION.continuation(&ModelRef::new("p", model), &places)?;
    let body = Redacted::cleaned(kept.body.into_exposed());
    Some(ProviderContinuation { model: kept.model, format: kept.format, body })
}

fn second_turn(words: &str, kept: Option<ProviderContinuation>, refused: &[OptionalFeature]) -> Value {
    let calls = vec![call("c1", "t", "{}"), call("c2", "t", "{}")];
    let mut all = vec![user("Go"), assistant(words, calls, kept)];
    all.extend(["c1", "c2"].map(|id| result(id, "r", ToolResultStatus::Succeeded)));
    let input = rendered(&request(all), refused)["input"].clone();
    let items = input.as_array().unwrap();
    Value::Array(items[1..items.len() - 2].to_vec())
}

#[test]
fn reasoning_goes_back_to_its_own_model_in_its_old_places() {
    let (c1, c2) = (called("c1", "t", "{}"), called("c2", "t", "{}"));
    let whole =
        json!([thought("one"), said("assistant", "Grün"), c1, said("assistant", " b"), thought("two"), c2,]);
    assert_eq!(second_turn("Grün b", interleaved("vendor/m-1"), &[]), whole, "the last led to nothing");
    let plain = json!([said("assistant", "Grün b"), c1, c2]);
    assert_eq!(second_turn("Grün b", interleaved("vendor/m-2"), &[]), plain);
    assert_eq!(second_turn("Grün b", interleaved("vendor/m-1"), &[OptionalFeature::Reasoning]), plain);
    assert_eq!(second_turn("Grün b", None, &[]), plain);
    let of_another_format = interleaved("vendor/m-1")
        .map(|kept| ProviderContinuation { format: "anthropic_messages/1".into(), ..kept });
    assert_eq!(second_turn("Grün b", of_another_format, &[]), plain);
    let redacted = second_turn("redacted since", interleaved("vendor/m-1"), &[]);
    assert_eq!(
        redacted,
        json!([thought("one"), said("assistant", "redacted since"), c1, thought("two"), c2])
    );
}

#[test]
fn reasoning_without_words_or_calls_is_left_out() {
    let places = [BlockKind::Kept(thought("one")), BlockKind::Kept(thought("two"))];
    let kept = CONTINUATION.continuation(&ModelRef::new("p", "vendor/m-1"), &places).unwrap();
    let body = Redacted::cleaned(kept.body.into_exposed());
    let kept = ProviderContinuation { model: kept.model, format: kept.format, body };
    let found = input(vec![user("Go"), assistant("", Vec::new(), Some(kept)), user("Well?")]);
    assert_eq!(found, json!([said("user", "Go"), said("user", "Well?")]));
}

#[test]
fn a_schema_goes_into_its_field_or_into_the_instructions() {
    let mut request = request(vec![user("Hi")]);
    let schema = r#"{"type":"object","properties":{"a":{"type":"integer"}}}"#;
    request.response_format = Some(ResponseFormat { schema: Redacted::cleaned(schema.into()) });
    let body = rendered(&request, &[]);
    let expect = json!({"type": "json_schema", "name": "answer", "strict": false,
        "schema": serde_json::from_str::<Value>(schema).unwrap()});
    assert_eq!(body["text"], json!({ "format": expect }));
    assert_eq!(render(&request, &[]).features, [OptionalFeature::Schema, OptionalFeature::Reasoning]);
    let body = rendered(&request, &[OptionalFeature::Schema]);
    assert_eq!(body.get("text"), None);
    let instructions = body["instructions"].as_str().unwrap();
    assert!(
        instructions.starts_with("Be brief.\n\nAnswer with one JSON value") && instructions.ends_with(schema)
    );
}

#[test]
fn files_come_before_the_words() {
    let file = |name: &str, kind: &str, body: AttachmentBody, data: Option<&[u8]>| RenderedAttachment {
        attachment: Arc::new(Attachment {
            name: Redacted::cleaned(name.to_owned()),
            media_type: Redacted::cleaned(kind.to_owned()),
            bytes: 4,
            sha256: Redacted::cleaned([1; 32]),
            body,
        }),
        place: None,
        data: data.map(|bytes| Redacted::cleaned(Arc::from(bytes))),
        delimiter: DataDelimiter([1; 8]),
    };
    let blob = || AttachmentBody::Blob { index: 0 };
    let attachments = vec![
        file("a.png", "image/png", blob(), Some(b"\x89PNG")),
        file("a.md", "text/markdown", AttachmentBody::Text("# A".into()), None),
        file("a.zip", "application/zip", blob(), None),
    ];
    let found =
        input(vec![ChatMessage::User { text: "Look".into(), attachments, said: Some("Sunday".into()) }]);
    let text = |words: &str| json!({"type": "input_text", "text": words});
    let enclosed = |words: &str| text(&DataDelimiter([1; 8]).enclose("attached file", words));
    assert_eq!(
        found[0]["content"],
        json!([
            {"type": "input_image", "image_url": "data:image/png;base64,iVBORw==", "detail": "auto"},
            enclosed("\"a.md\" (text/markdown):\n# A"),
            enclosed("\"a.zip\" (application/zip, 4 bytes); its content is not shown"),
            text("[Sunday]\nLook"),
        ])
    );
}

#[test]
fn settings_that_the_format_knows_are_sent_and_others_are_left_out() {
    let mut request = request(vec![user("Hi")]);
    request.tools = Arc::new(ToolCatalog::new(vec![spec("a")]));
    request.sampling = SamplingOptions {
        temperature: Some(SamplingNumber::rounded(0.7)),
        top_p: Some(SamplingNumber::rounded(0.25)),
        stop: vec!["END".into()],
        seed: Some(7),
        reasoning_effort: Some(ReasoningEffort::ExtraHigh),
        verbosity: Some(AnswerVerbosity::Low),
        calls_per_answer: Some(CallsPerAnswer::One),
    };
    let body = rendered(&request, &[]);
    for (name, value) in [
        ("temperature", json!(0.7)),
        ("top_p", json!(0.25)),
        ("reasoning", json!({"effort": "xhigh"})),
        ("text", json!({"verbosity": "low"})),
        ("parallel_tool_calls", json!(false)),
    ] {
        assert_eq!(body[name], value, "{name}");
    }
    assert!(body.get("stop").is_none() && body.get("seed").is_none());
    let features = render(&request, &[]).features;
    assert!(!features.contains(&OptionalFeature::Stop) && !features.contains(&OptionalFeature::Seed));
    assert_eq!(features.last(), Some(&OptionalFeature::Reasoning));
    let body = rendered(&request, &[OptionalFeature::Effort, OptionalFeature::Verbosity]);
    assert!(body.get("reasoning").is_none() && body.get("text").is_none(), "{body}");
}

#[test]
fn functions_of_a_client_are_offered_as_they_are_and_the_choice_with_them() {
    let function = |name: &'static str, strict| ClientTool {
        name: name.into(),
        description: Redacted::default(),
        parameters: "{\"type\":\"object\"}".into(),
        strict,
    };
    let mut request = request(Vec::new());
    let mut offered = |choice| {
        request.client_tools = Some(Arc::new(ClientToolOffer {
            tools: vec![function("b", Some(true)), function("a", None)],
            choice,
            answer_tokens_max: None,
            answer_within: Duration::ZERO,
        }));
        rendered(&request, &[])
    };
    let body = offered(ClientToolChoice::Auto);
    let parameters = json!({"type": "object"});
    assert_eq!(
        body["tools"],
        json!([
            {"type": "function", "name": "b", "parameters": parameters, "strict": true},
            {"type": "function", "name": "a", "parameters": parameters, "strict": false},
        ])
    );
    assert!(body.get("tool_choice").is_none());
    assert_eq!(offered(ClientToolChoice::None)["tool_choice"], "none");
    assert_eq!(offered(ClientToolChoice::Required)["tool_choice"], "required");
    assert_eq!(offered(ClientToolChoice::Tool(1))["tool_choice"], json!({"type": "function", "name": "a"}));
    assert!(offered(ClientToolChoice::Tool(7)).get("tool_choice").is_none(), "there is no such function");
}

#[test]
fn a_conversation_that_goes_on_only_adds_items() {
    let mut request = request(vec![user("one"), assistant("ok", Vec::new(), None)]);
    let first = rendered(&request, &[]);
    request.messages.push(user("two"));
    let second = rendered(&request, &[]);
    let items = |body: &Value| body["input"].as_array().unwrap().clone();
    assert!(items(&second).starts_with(&items(&first)));
    let rest = |mut body: Value| {
        body["input"] = Value::Null;
        body
    };
    assert_eq!(rest(first), rest(second));
}
