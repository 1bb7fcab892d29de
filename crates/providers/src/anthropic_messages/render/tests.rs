//! Golden renderings.

use std::sync::Arc;
use std::time::Duration;

use palyra_types::Redacted;
use palyra_types::attachment::{Attachment, AttachmentBody, RenderedAttachment};
use palyra_types::client_tool::{ClientTool, ClientToolChoice, ClientToolOffer};
use palyra_types::data_delimiter::DataDelimiter;
use palyra_types::model::{
    CallId, ChatMessage, ModelRef, ProviderContinuation, RenderedCall, ResponseFormat, ToolResultStatus,
};
use palyra_types::sampling::{AnswerVerbosity, SamplingNumber};
use palyra_types::tool::{
    ApprovalRiskLevel, EffectContract, Parallelism, Taints, ToolCatalog, ToolConduct, ToolName,
};

use super::*;
use crate::anthropic_messages::CONTINUATION;
use crate::wire_format::continuation::BlockKind;

fn manner() -> RenderOptions {
    RenderOptions { output_tokens: 32_000, thinking: ThinkingMode::ModelDecides, refused: Vec::new() }
}

fn request(messages: Vec<ChatMessage>) -> ModelRequest {
    ModelRequest {
        model: ModelRef::new("p", "m-1"),
        system: "Be brief.".into(),
        messages,
        tools: Arc::default(),
        client_tools: None,
        output_tokens_max: None,
        response_format: None,
        sampling: SamplingOptions::default(),
    }
}

fn spec(name: &str, schema: Value) -> ToolSpec {
    ToolSpec {
        name: ToolName::new(name),
        version: 1,
        description: format!("Does {name}."),
        schema,
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

fn data(origin: &str, text: &str) -> String {
    DataDelimiter([1; 8]).enclose(origin, text)
}

fn messages(all: Vec<ChatMessage>) -> Value {
    render(&request(all), &manner()).0["messages"].clone()
}

fn text(words: &str) -> Value {
    json!({"type": "text", "text": words})
}

fn marked(mut block: Value) -> Value {
    mark(&mut block);
    block
}

#[test]
fn a_text_request_has_what_the_format_wants_and_no_more() {
    let (body, features) = render(&request(vec![user("Hi")]), &manner());
    assert_eq!(
        body,
        json!({
            "model": "m-1",
            "max_tokens": 32_000,
            "stream": true,
            "system": [marked(text("Be brief."))],
            "messages": [{"role": "user", "content": [marked(text("Hi"))]}],
        })
    );
    assert!(features.is_empty());
    let mut bare = request(vec![user("Hi")]);
    bare.system = Redacted::default().into();
    bare.output_tokens_max = Some(9);
    let (body, _) = render(&bare, &manner());
    assert_eq!((body.get("system"), &body["max_tokens"]), (None, &json!(9)));
    bare.output_tokens_max = Some(100_000);
    assert_eq!(render(&bare, &manner()).0["max_tokens"], 32_000, "no more than the model gives");
}

#[test]
fn tools_have_a_schema_of_an_object_and_the_last_one_the_mark() {
    let mut request = request(vec![user("Hi")]);
    let tools = vec![
        spec("search.all", json!({})),
        spec(
            "a",
            json!({"type": "object", "properties": {"x": {"type": "string", "x-palyra-meaning": "path"}}}),
        ),
    ];
    request.tools = Arc::new(ToolCatalog::new(tools));
    let tool = |name: &str, of: &str, schema: Value| json!({"name": name, "description": format!("Does {of}."), "input_schema": schema});
    let last = marked(tool("search_all", "search.all", json!({"type": "object"})));
    let first = tool("a", "a", json!({"type": "object", "properties": {"x": {"type": "string"}}}));
    assert_eq!(render(&request, &manner()).0["tools"], json!([first, last]));
}

#[test]
fn calls_and_results_are_paired_in_alternating_turns() {
    let found = messages(vec![
        user("Read"),
        assistant("Let me.", vec![call("c1", "a b", r#"{"path":"x"}"#), call("c 2", "t", "[]")], None),
        user("and hurry"),
        result("c1", "body", ToolResultStatus::Succeeded),
        result("c 2", " ", ToolResultStatus::Failed),
        assistant("", vec![call("c3", "t", "{}")], None),
        result("c3", "a person denied this call: keep it", ToolResultStatus::DeniedByPerson),
        assistant(" ", Vec::new(), None),
        user("Thanks"),
    ]);
    assert_eq!(
        found,
        json!([
            {"role": "user", "content": [text("Read")]},
            {"role": "assistant", "content": [
                text("Let me."),
                {"type": "tool_use", "id": "c1", "name": "a_b", "input": {"path": "x"}},
                {"type": "tool_use", "id": "c_2", "name": "t", "input": {}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "c1", "content": data("t", "body")},
                {"type": "tool_result", "tool_use_id": "c_2", "is_error": true, "content": "(nothing)"},
                marked(text("and hurry")),
            ]},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "c3", "name": "t", "input": {}}]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "c3", "is_error": true,
                    "content": "a person denied this call: keep it"},
                marked(text("Thanks")),
            ]},
        ])
    );
}

#[test]
fn any_conversation_begins_and_ends_with_the_user() {
    let begun = marked(text("(The beginning of the conversation is left out.)"));
    let go_on = marked(text("(Please go on.)"));
    assert_eq!(messages(Vec::new()), json!([{"role": "user", "content": [begun]}]));
    assert_eq!(
        messages(vec![assistant("Hello", Vec::new(), None)]),
        json!([
            {"role": "user", "content": [begun]},
            {"role": "assistant", "content": [text("Hello")]},
            {"role": "user", "content": [go_on]},
        ])
    );
    assert_eq!(messages(vec![user("")]), json!([{"role": "user", "content": [marked(text("(nothing)"))]}]));
}

#[test]
fn only_the_last_two_turns_of_the_user_are_marked() {
    let all = (0..5).flat_map(|_| [user("a"), assistant("b", Vec::new(), None)]).chain([user("c")]);
    let found = messages(all.collect());
    let marked: Vec<usize> = found
        .as_array()
        .expect("messages")
        .iter()
        .enumerate()
        .filter(|(_, message)| message["content"][0].get("cache_control").is_some())
        .map(|(at, _)| at)
        .collect();
    assert_eq!(marked, [8, 10]);
}

fn thought(words: &str) -> Value {
    json!({"type": "thinking", "thinking": words, "signature": format!("S({words})+/=")})
}

/// An answer whose reasoning, text and calls are interleaved.
fn interleaved(model: &str) -> Option<ProviderContinuation> {
    let places = [
        BlockKind::Kept(thought("one")),
        BlockKind::Text("Grün".len()),
        BlockKind::Kept(json!({"type": "redacted_thinking", "data": "Zm9v"})),
        BlockKind::Call,
        BlockKind::Text(" b".len()),
        BlockKind::Kept(thought("two")),
        BlockKind::Call,
    ];
    let kept = CONTINUATION.continuation(&ModelRef::new("p", model), &places)?;
    let body = Redacted::cleaned(kept.body.into_exposed());
    Some(ProviderContinuation { model: kept.model, format: kept.format, body })
}

fn second_turn(words: &str, kept: Option<ProviderContinuation>, manner: &RenderOptions) -> (Value, Value) {
    let calls = vec![call("c1", "t", "{}"), call("c2", "t", "{}")];
    let results = ["c1", "c2"].map(|id| result(id, "r", ToolResultStatus::Succeeded));
    let mut all = vec![user("Go"), assistant(words, calls, kept)];
    all.extend(results);
    let (body, _) = render(&request(all), manner);
    (body["messages"][1]["content"].clone(), body.get("thinking").cloned().unwrap_or_default())
}

#[test]
fn reasoning_goes_back_to_its_own_model_in_its_old_places() {
    let tool_use = |id: &str| json!({"type": "tool_use", "id": id, "name": "t", "input": {}});
    let redacted = json!({"type": "redacted_thinking", "data": "Zm9v"});
    let adaptive = json!({"type": "adaptive", "display": "summarized"});
    let (content, thinking) = second_turn("Grün b", interleaved("m-1"), &manner());
    let (c1, c2) = (tool_use("c1"), tool_use("c2"));
    let whole = json!([thought("one"), text("Grün"), redacted, c1, text(" b"), thought("two"), c2]);
    assert_eq!((content, thinking), (whole, adaptive.clone()));

    let plain = json!([text("Grün b"), c1, c2]);
    let of_another = second_turn("Grün b", interleaved("m-2"), &manner());
    assert_eq!(of_another, (plain.clone(), Value::Null));
    let refused = RenderOptions { refused: vec![OptionalFeature::Reasoning], ..manner() };
    assert_eq!(second_turn("Grün b", interleaved("m-1"), &refused), (plain.clone(), Value::Null));
    let asked = RenderOptions { thinking: ThinkingMode::Adaptive, ..manner() };
    assert_eq!(second_turn("Grün b", None, &asked), (plain, adaptive));

    let (content, _) = second_turn("redacted since", interleaved("m-1"), &manner());
    assert_eq!(content, json!([thought("one"), text("redacted since"), redacted, c1, thought("two"), c2]));
}

#[test]
fn a_schema_goes_into_its_field_or_into_the_instructions() {
    let mut request = request(vec![user("Hi")]);
    let with_schema = |request: &mut ModelRequest, schema: &str| {
        request.response_format = Some(ResponseFormat { schema: Redacted::cleaned(schema.into()) });
    };
    with_schema(&mut request, r#"{"type":"object","properties":{"a":{"type":"integer"}}}"#);
    let (body, features) = render(&request, &manner());
    let schema =
        json!({"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": false});
    assert_eq!(body["output_config"], json!({"format": {"type": "json_schema", "schema": schema}}));
    assert_eq!(features, [OptionalFeature::Schema]);

    let rendered = |request: &ModelRequest, manner: &RenderOptions| {
        let (body, features) = render(request, manner);
        assert!(body.get("output_config").is_none() && features.is_empty());
        body["system"][0]["text"].as_str().expect("instructions").to_owned()
    };
    let refused = RenderOptions { refused: vec![OptionalFeature::Schema], ..manner() };
    let expect =
        "Be brief.\n\nAnswer with one JSON value that fits this JSON Schema, and with nothing else:\n";
    assert!(rendered(&request, &refused).starts_with(expect));
    with_schema(&mut request, r#"{"type":"object","additionalProperties":true}"#);
    assert!(rendered(&request, &manner()).ends_with(r#"{"type":"object","additionalProperties":true}"#));
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
    let found = messages(vec![ChatMessage::User { text: "Look".into(), attachments, said: None }]);
    let source = json!({"type": "base64", "media_type": "image/png", "data": "iVBORw=="});
    let shown = data("attached file", "\"a.md\" (text/markdown):\n# A");
    let named = data("attached file", "\"a.zip\" (application/zip, 4 bytes); its content is not shown");
    assert_eq!(
        found[0]["content"],
        json!([{"type": "image", "source": source}, text(&shown), text(&named), marked(text("Look"))])
    );
}

#[test]
fn settings_that_the_format_knows_are_sent_and_others_are_left_out() {
    let mut request = request(vec![user("Hi")]);
    request.tools = Arc::new(ToolCatalog::new(vec![spec("a", json!({}))]));
    request.sampling = SamplingOptions {
        temperature: Some(SamplingNumber::rounded(0.7)),
        top_p: Some(SamplingNumber::rounded(0.25)),
        stop: vec!["END".into()],
        seed: Some(7),
        reasoning_effort: Some(ReasoningEffort::High),
        verbosity: Some(AnswerVerbosity::Low),
        calls_per_answer: Some(CallsPerAnswer::One),
    };
    request.response_format =
        Some(ResponseFormat { schema: Redacted::cleaned(r#"{"type":"object"}"#.into()) });
    let (body, features) = render(&request, &manner());
    assert_eq!((&body["temperature"], &body["top_p"]), (&json!(0.7), &json!(0.25)));
    assert_eq!(body["stop_sequences"], json!(["END"]));
    assert_eq!(body["output_config"]["effort"], "high");
    assert_eq!(body["output_config"]["format"]["type"], "json_schema");
    assert_eq!(body["tool_choice"], json!({"type": "auto", "disable_parallel_tool_use": true}));
    assert!(body.get("seed").is_none() && body.get("verbosity").is_none());
    assert!(features.contains(&OptionalFeature::Effort) && features.contains(&OptionalFeature::Schema));
    let refused = vec![OptionalFeature::Temperature, OptionalFeature::Stop];
    request.sampling.reasoning_effort = Some(ReasoningEffort::Minimal);
    request.sampling.calls_per_answer = Some(CallsPerAnswer::Several);
    let (body, _) = render(&request, &RenderOptions { refused, ..manner() });
    for name in ["temperature", "stop_sequences", "tool_choice"] {
        assert!(body.get(name).is_none(), "{name}");
    }
    assert!(body["output_config"].get("effort").is_none());
    assert_eq!(body["top_p"], 0.25);
}

#[test]
fn functions_of_a_client_are_offered_and_chosen() {
    let tool =
        ClientTool { name: "a".into(), description: "Does a.".into(), parameters: "{}".into(), strict: None };
    let mut request = request(vec![user("Hi")]);
    let mut offered = |choice, thinking| {
        let offer = ClientToolOffer {
            tools: vec![tool.clone()],
            choice,
            answer_tokens_max: None,
            answer_within: std::time::Duration::ZERO,
        };
        request.client_tools = Some(Arc::new(offer));
        request.sampling.calls_per_answer = Some(CallsPerAnswer::One);
        render(&request, &RenderOptions { thinking, ..manner() }).0
    };
    let body = offered(ClientToolChoice::Auto, ThinkingMode::ModelDecides);
    assert_eq!(
        (&body["tools"][0]["name"], &body["tools"][0]["input_schema"]),
        (&json!("a"), &json!({"type": "object"}))
    );
    assert_eq!(body["tool_choice"], json!({"type": "auto", "disable_parallel_tool_use": true}));
    let any = json!({"type": "any", "disable_parallel_tool_use": true});
    assert_eq!(offered(ClientToolChoice::Required, ThinkingMode::ModelDecides)["tool_choice"], any);
    let named = json!({"type": "tool", "name": "a", "disable_parallel_tool_use": true});
    assert_eq!(offered(ClientToolChoice::Tool(0), ThinkingMode::ModelDecides)["tool_choice"], named);
    assert_eq!(
        offered(ClientToolChoice::None, ThinkingMode::ModelDecides)["tool_choice"],
        json!({"type": "none"})
    );
    let thinks = offered(ClientToolChoice::Required, ThinkingMode::Adaptive);
    assert_eq!(thinks["tool_choice"]["type"], "auto", "a model that thinks cannot be made to call");
}
