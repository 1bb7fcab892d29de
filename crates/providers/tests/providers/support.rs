//! Requests, and reading a stream to its end.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use palyra_ports::ModelProvider;
use palyra_providers::{OpenAiChatConfig, OpenAiChatProvider, Secret, Timeouts};
use palyra_testkit::model_server::{Behaviour, ModelServer};
use palyra_types::model::{ChatMessage, ModelAnswer, ModelFailure, ModelPiece, ModelRef, ModelRequest};
use palyra_types::tool::{ApprovalRiskLevel, EffectContract, Parallelism, ToolCatalog, ToolName, ToolSpec};

/// The key that servers of these tests want; no output may ever hold it.
pub(crate) const KEY: &str = "sk-canary-4711";

pub(crate) fn request(model: &str, input: &str) -> ModelRequest {
    ModelRequest {
        model: ModelRef::parse(model).expect("provider/model"),
        system: "Be brief.".into(),
        messages: vec![ChatMessage::user(input.into())],
        tools: Arc::new(ToolCatalog::new(vec![tool("read_file")])),
        output_tokens_max: Some(100),
        response_format: None,
    }
}

fn tool(name: &str) -> ToolSpec {
    ToolSpec {
        name: ToolName::new(name),
        version: 1,
        description: "Reads a file.".to_owned(),
        schema: serde_json::json!({"type": "object", "properties": {"path": {"type": "string"}}}),
        contract: EffectContract::Pure,
        parallelism: Parallelism::Parallel,
        risk: ApprovalRiskLevel::Low,
        deadline: Duration::from_secs(1),
        output_bytes_max: 1024,
    }
}

/// Starts a server, and makes a provider for it that loses its patience soon.
pub(crate) async fn served(behaviour: Behaviour) -> (ModelServer, OpenAiChatProvider) {
    let server = ModelServer::start(behaviour.with_key(KEY)).await.expect("a port");
    let provider = provider_at(&server.base_url(), Duration::from_secs(20));
    (server, provider)
}

pub(crate) fn provider_at(base_url: &str, idle_timeout: Duration) -> OpenAiChatProvider {
    let mut config = OpenAiChatConfig::new("openai", base_url, Some(Secret::new(KEY)));
    config.timeouts = Timeouts::all(idle_timeout);
    OpenAiChatProvider::new(config).expect("a good configuration")
}

/// What a stream gave: texts, and its end.
pub(crate) struct Given {
    pub(crate) texts: Vec<String>,
    pub(crate) end: Result<ModelAnswer, ModelFailure>,
}

/// Reads a stream to its end, and checks the law of streams: texts, none of them empty, then exactly
/// one answer or failure, then nothing.
pub(crate) async fn read(provider: &dyn ModelProvider, request: &ModelRequest) -> Given {
    let mut stream = provider.stream(Arc::new(request.clone()));
    let mut texts = Vec::new();
    let end = loop {
        match stream.next().await.expect("a stream ends with an answer or a failure") {
            Ok(ModelPiece::Reasoning(_)) => {}
            Ok(ModelPiece::Text(text)) => texts.push(text.into_exposed()),
            Ok(ModelPiece::Answer(answer)) => break Ok(answer),
            Err(failure) => break Err(failure),
        }
    };
    assert!(stream.next().await.is_none(), "something follows the end");
    assert!(texts.iter().all(|text| !text.is_empty()), "a piece is empty");
    Given { texts, end }
}
