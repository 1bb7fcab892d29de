//! Golden renderings.

use std::sync::Arc;
use std::time::Duration;

use palyra_types::Redacted;
use palyra_types::client_tool::{ClientTool, ClientToolChoice, ClientToolOffer};
use palyra_types::data_delimiter::DataDelimiter;
use palyra_types::model::{CallId, ModelRef, ToolResultStatus};
use palyra_types::tool::{
    ApprovalRiskLevel, EffectContract, Parallelism, Taints, ToolCatalog, ToolConduct, ToolName, ToolSpec,
};

use super::*;

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

fn rendered_call(id: &str, tool: &str, arguments: &str) -> RenderedCall {
    RenderedCall {
        call: CallId(id.into()),
        tool: ToolName::new(tool),
        arguments: Redacted::cleaned(arguments.to_owned()),
    }
}

/// Renders, and looks whether the fields stand in the order of their names, as they always did.
fn rendered(request: &ModelRequest, cap: OutputCapField) -> Value {
    let options = RenderOptions { cap, schema_by: SchemaBy::Field, sampling: request.sampling.clone() };
    let text = render(request, &options);
    let value: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value.to_string(), text);
    value
}

#[test]
fn a_text_request_has_no_tools() {
    let rendered = rendered(&request(vec![ChatMessage::user("Hi".into())]), OutputCapField::MaxTokens);
    assert_eq!(
        rendered,
        json!({
            "model": "vendor/m-1",
            "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}],
            "stream": true,
            "stream_options": {"include_usage": true},
        })
    );
}

#[test]
fn a_round_with_tools_pairs_calls_and_results() {
    let calls = vec![
        rendered_call("c1", "read_file", r#"{"path":"a"}"#),
        rendered_call("c2", "no such\u{e9}tool!", "{}"),
    ];
    let result = |id: &str, text: &str, status| ChatMessage::ToolResult {
        call: CallId(id.into()),
        tool: ToolName::new("read_file"),
        text: Redacted::cleaned(text.to_owned()),
        status,
        delimiter: DataDelimiter([1; 8]),
    };
    let mut request = request(vec![
        ChatMessage::user("Read".into()),
        ChatMessage::Assistant { text: Redacted::default(), calls, continuation: None },
        result("c1", "body", ToolResultStatus::Succeeded),
        result("c2", "unknown tool", ToolResultStatus::Failed),
        ChatMessage::Assistant { text: Redacted::default(), calls: Vec::new(), continuation: None },
        ChatMessage::Assistant { text: "Done".into(), calls: Vec::new(), continuation: None },
    ]);
    request.system = Redacted::default().into();
    request.tools = Arc::new(ToolCatalog::new(vec![spec("search"), spec("read_file")]));
    request.output_tokens_max = Some(64);
    let tool = |name: &str| {
        json!({"type": "function", "function": {"name": name, "description": format!("Does {name}."),
            "parameters": {"type": "object", "properties": {"path": {"type": "string"}}}}})
    };
    let data =
        |text: &str| format!("<data-0101010101010101 from=\"read_file\">\n{text}\n</data-0101010101010101>");
    let failed = format!("The tool did not succeed:\n{}", data("unknown tool"));
    assert_eq!(
        rendered(&request, OutputCapField::MaxTokens),
        json!({
            "model": "vendor/m-1",
            "messages": [
                {"role": "user", "content": "Read"},
                {"role": "assistant", "content": null, "tool_calls": [
                    {"id": "c1", "type": "function", "function": {"name": "read_file", "arguments": "{\"path\":\"a\"}"}},
                    {"id": "c2", "type": "function", "function": {"name": "no_such_tool_", "arguments": "{}"}},
                ]},
                {"role": "tool", "tool_call_id": "c1", "content": data("body")},
                {"role": "tool", "tool_call_id": "c2", "content": failed},
                {"role": "assistant", "content": "Done"},
            ],
            "tools": [tool("read_file"), tool("search")],
            "max_tokens": 64,
            "stream": true,
            "stream_options": {"include_usage": true},
        })
    );
}

#[test]
fn words_of_a_person_who_denied_a_call_are_not_data() {
    let request = request(vec![
        ChatMessage::Assistant {
            text: Redacted::default(),
            calls: vec![rendered_call("c1", "edit_file", "{}")],
            continuation: None,
        },
        ChatMessage::ToolResult {
            call: CallId("c1".into()),
            tool: ToolName::new("edit_file"),
            text: "a person denied this call: keep the milk".into(),
            status: ToolResultStatus::DeniedByPerson,
            delimiter: DataDelimiter([1; 8]),
        },
    ]);
    let rendered = rendered(&request, OutputCapField::MaxTokens);
    let denied =
        json!({"role": "tool", "tool_call_id": "c1", "content": "a person denied this call: keep the milk"});
    assert_eq!(rendered["messages"].as_array().and_then(|all| all.last()), Some(&denied));
}

#[test]
fn the_cap_goes_by_two_names() {
    let mut request = request(Vec::new());
    request.output_tokens_max = Some(9);
    let rendered = rendered(&request, OutputCapField::MaxCompletionTokens);
    assert_eq!((rendered.get("max_tokens"), rendered["max_completion_tokens"].as_u64()), (None, Some(9)));
}

#[test]
fn settings_have_the_names_of_the_format() {
    let mut request = request(Vec::new());
    request.sampling = SamplingOptions {
        temperature: Some(SamplingNumber::rounded(0.7)),
        top_p: Some(SamplingNumber::rounded(0.25)),
        stop: vec!["END".into()],
        seed: Some(-7),
        reasoning_effort: Some(ReasoningEffort::ExtraHigh),
        verbosity: Some(AnswerVerbosity::Low),
        calls_per_answer: Some(CallsPerAnswer::One),
    };
    let rendered = rendered(&request, OutputCapField::None);
    for (name, value) in [
        ("temperature", json!(0.7)),
        ("top_p", json!(0.25)),
        ("stop", json!(["END"])),
        ("seed", json!(-7)),
        ("reasoning_effort", json!("xhigh")),
        ("verbosity", json!("low")),
        ("parallel_tool_calls", json!(false)),
    ] {
        assert_eq!(rendered[name], value, "{name}");
    }
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
            answer_within: std::time::Duration::ZERO,
        }));
        rendered(&request, OutputCapField::None)
    };
    let body = offered(ClientToolChoice::Auto);
    let parameters = json!({"type": "object"});
    assert_eq!(
        body["tools"],
        json!([
            {"type": "function", "function": {"name": "b", "parameters": parameters, "strict": true}},
            {"type": "function", "function": {"name": "a", "parameters": parameters}},
        ])
    );
    assert!(body.get("tool_choice").is_none());
    assert_eq!(offered(ClientToolChoice::None)["tool_choice"], "none");
    assert_eq!(offered(ClientToolChoice::Required)["tool_choice"], "required");
    let named = json!({"type": "function", "function": {"name": "a"}});
    assert_eq!(offered(ClientToolChoice::Tool(1))["tool_choice"], named);
    assert!(offered(ClientToolChoice::Tool(7)).get("tool_choice").is_none(), "there is no such function");
}
