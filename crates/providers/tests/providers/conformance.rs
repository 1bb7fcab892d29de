//! What every provider must do.

use std::sync::Arc;
use std::time::Duration;

use palyra_demo_model::DemoProvider;
use palyra_model_server::{Behaviour, Reply};
use palyra_ports::ModelProvider;
use palyra_providers::{GuardLimits, guarded};
use palyra_testkit::{FakeClock, Script, ScriptedProvider};
use palyra_types::Redacted;
use palyra_types::data_delimiter::DataDelimiter;
use palyra_types::model::{CallId, ChatMessage, FinishReason, ModelRequest, RenderedCall, ToolResultStatus};

use crate::support::{Subject, read, request};

/// Asks a provider to read a file, hands it the content, and expects the heading in its answer.
async fn conforms(provider: &dyn ModelProvider, model: &str) {
    assert_eq!(provider.name().as_str(), model.split('/').next().expect("a provider"));
    let models = provider.models().await.expect("models");
    let (_, name) = model.split_once('/').expect("a model");
    assert!(models.iter().any(|info| info.name.as_str() == name), "{models:?}");
    assert!(models.iter().all(|info| info.context_tokens > 0));

    let mut request = request(model, "Read README.md and tell me what this project does");
    let given = read(provider, &request).await;
    let answer = given.end.expect("an answer");
    assert_eq!(answer.finish, FinishReason::ToolCalls);
    assert_eq!(answer.proposals.len(), 1);
    let proposal = &answer.proposals[0];
    assert_eq!(proposal.tool.as_str(), "read_file");
    let arguments: serde_json::Value = serde_json::from_str(proposal.arguments.expose()).expect("JSON");
    assert_eq!(arguments["path"], "README.md");

    let call = RenderedCall {
        call: CallId("call_1".into()),
        tool: proposal.tool.clone(),
        arguments: Redacted::cleaned(proposal.arguments.expose().clone()),
    };
    request.messages.push(ChatMessage::Assistant {
        text: Redacted::cleaned(given.texts.concat()),
        calls: vec![call],
        continuation: None,
    });
    request.messages.push(ChatMessage::ToolResult {
        call: CallId("call_1".into()),
        tool: proposal.tool.clone(),
        text: "# Heron 4711\n\nCounts herons by night.\n".into(),
        status: ToolResultStatus::Succeeded,
        delimiter: DataDelimiter([9; 8]),
    });
    let given = read(provider, &request).await;
    let answer = given.end.expect("an answer");
    assert_eq!((answer.finish, answer.proposals.len()), (FinishReason::Stop, 0));
    assert_eq!(answer.answered_by.as_str(), name);
    assert!(given.texts.len() > 1, "the text did not stream");
    assert!(given.texts.concat().contains("Heron 4711"), "{:?}", given.texts);
    let usage = answer.usage.expect("usage");
    assert!(usage.input_tokens > 0 && usage.output_tokens > 0);
    any_history_is_taken(provider, request).await;
}

/// Failed tools, several inputs in a row, silence and odd names in the history are nobody's death.
async fn any_history_is_taken(provider: &dyn ModelProvider, mut request: ModelRequest) {
    let odd = RenderedCall {
        call: CallId("call_2".into()),
        tool: palyra_types::tool::ToolName::new("no such tool!"),
        arguments: "{}".into(),
    };
    request.messages.extend([
        ChatMessage::Assistant { text: "".into(), calls: Vec::new(), continuation: None },
        ChatMessage::Assistant { text: "".into(), calls: vec![odd.clone()], continuation: None },
        ChatMessage::ToolResult {
            call: odd.call,
            tool: odd.tool,
            text: "".into(),
            status: ToolResultStatus::Failed,
            delimiter: DataDelimiter([8; 8]),
        },
        ChatMessage::user("Hello".into()),
        ChatMessage::user("\u{0}\u{1f600}".into()),
    ]);
    assert!(read(provider, &request).await.end.is_ok());
}

#[tokio::test]
async fn the_demo_model_conforms() {
    conforms(&DemoProvider, "demo/demo").await;
}

#[tokio::test]
async fn every_wire_format_conforms_bare_and_guarded() {
    for subject in Subject::ALL {
        let (server, provider) = subject.served(Behaviour::assistant(Duration::ZERO)).await;
        conforms(provider.as_ref(), &subject.model("test-model")).await;
        assert_eq!(server.counts().invalid, 0, "{subject:?}");
        let asked = &server.requests()[1].body;
        let cap = asked.get("max_tokens").or_else(|| asked.get("max_output_tokens"));
        assert_eq!(cap, Some(&100.into()), "{subject:?}");
    }
}

#[tokio::test]
async fn the_scripted_provider_conforms() {
    let provider = ScriptedProvider::new(Arc::new(FakeClock::new()));
    let usage = palyra_types::model::TokenUsage { input_tokens: 1, output_tokens: 1, ..Default::default() };
    provider.push(Script::new().text("I read.").call("read_file", r#"{"path":"README.md"}"#));
    provider.push(Script::new().texts(&["Heron ", "4711"]).usage(usage));
    conforms(&provider, "scripted/scripted").await;
}

#[tokio::test]
async fn a_guarded_demo_model_conforms() {
    let clock = Arc::new(FakeClock::new());
    let provider = guarded(Arc::new(DemoProvider), GuardLimits::default(), clock);
    conforms(provider.as_ref(), "demo/demo").await;
}

#[tokio::test]
async fn a_server_that_does_not_stream_conforms_too() {
    let chat = serde_json::json!({
        "id": "x", "model": "m", "choices": [{"message": {"content": "Whole."}, "finish_reason": "stop"}],
    });
    let part = serde_json::json!({"type": "output_text", "text": "Whole."});
    let response = serde_json::json!({
        "id": "x", "model": "m", "status": "completed",
        "output": [{"type": "message", "role": "assistant", "content": [part]}],
    });
    for (subject, document) in [(Subject::Chat, chat), (Subject::Responses, response)] {
        let reply = Reply::raw("application/json", document.to_string().as_bytes());
        let (_server, provider) = subject.served(Behaviour::always(reply)).await;
        let given = read(provider.as_ref(), &subject.request("Hi")).await;
        assert_eq!((given.texts, given.end.expect("an answer").usage), (vec!["Whole.".to_owned()], None));
    }
}
