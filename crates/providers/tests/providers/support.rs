//! Requests, and reading a stream to its end.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use palyra_model_server::{Behaviour, Dialect, ModelServer};
use palyra_ports::ModelProvider;
use palyra_providers::{
    AnthropicMessagesConfig, AnthropicMessagesProvider, GuardLimits, OpenAiChatProvider, OpenAiConfig,
    OpenAiResponsesProvider, Secret, Timeouts, guarded,
};
use palyra_testkit::FakeClock;
use palyra_types::Redacted;
use palyra_types::model::{ChatMessage, ModelFailure, ModelPiece, ModelRef, ModelRequest, RawModelAnswer};
use palyra_types::sampling::SamplingOptions;
use palyra_types::tool::{
    ApprovalRiskLevel, EffectContract, Parallelism, Taints, ToolCatalog, ToolConduct, ToolName, ToolSpec,
};

/// The key that servers of these tests want; no output may ever hold it.
pub(crate) const KEY: &str = "sk-canary-4711";

pub(crate) fn request(model: &str, input: &str) -> ModelRequest {
    ModelRequest {
        model: ModelRef::parse(model).expect("provider/model"),
        system: "Be brief.".into(),
        messages: vec![ChatMessage::user(Redacted::cleaned(input.to_owned()))],
        tools: Arc::new(ToolCatalog::new(vec![tool("read_file")])),
        client_tools: None,
        output_tokens_max: Some(100),
        response_format: None,
        sampling: SamplingOptions::default(),
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
        conduct: ToolConduct::Direct,
        capabilities: Vec::new(),
        taints: Taints::NONE,
        risk: ApprovalRiskLevel::Low,
        deadline: Duration::from_secs(1),
        output_bytes_max: 1024,
    }
}

/// An adapter of a wire format, bare or behind the decorators that ship.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Subject {
    Chat,
    Messages,
    Responses,
    GuardedChat,
    GuardedMessages,
    GuardedResponses,
}

impl Subject {
    pub(crate) const ALL: [Self; 6] = [
        Self::Chat,
        Self::Messages,
        Self::Responses,
        Self::GuardedChat,
        Self::GuardedMessages,
        Self::GuardedResponses,
    ];
    pub(crate) const BARE: [Self; 3] = [Self::Chat, Self::Messages, Self::Responses];

    pub(crate) fn dialect(self) -> Dialect {
        match self {
            Self::Chat | Self::GuardedChat => Dialect::Chat,
            Self::Messages | Self::GuardedMessages => Dialect::Messages,
            Self::Responses | Self::GuardedResponses => Dialect::Responses,
        }
    }

    /// Returns the name of a model at the subject.
    pub(crate) fn model(self, name: &str) -> String {
        match self.dialect() {
            Dialect::Chat | Dialect::Responses => format!("openai/{name}"),
            Dialect::Messages => format!("anthropic/{name}"),
        }
    }

    pub(crate) fn request(self, input: &str) -> ModelRequest {
        request(&self.model("m"), input)
    }

    /// Returns the member of a body that has the conversation.
    pub(crate) fn conversation(self) -> &'static str {
        match self.dialect() {
            Dialect::Chat | Dialect::Messages => "messages",
            Dialect::Responses => "input",
        }
    }

    /// Makes a provider that waits so long for anything.
    pub(crate) fn at(self, base_url: &str, patience: Duration) -> Arc<dyn ModelProvider> {
        self.with_timeouts(base_url, Timeouts::all(patience))
    }

    /// Makes a provider with its own patience for each step.
    pub(crate) fn with_timeouts(self, base_url: &str, timeouts: Timeouts) -> Arc<dyn ModelProvider> {
        let key = Some(Secret::new(KEY));
        let bare: Arc<dyn ModelProvider> = match self.dialect() {
            Dialect::Chat => {
                let config = OpenAiConfig { timeouts, ..OpenAiConfig::new("openai", base_url, key) };
                Arc::new(OpenAiChatProvider::new(config).expect("a good configuration"))
            }
            Dialect::Responses => {
                let config = OpenAiConfig { timeouts, ..OpenAiConfig::new("openai", base_url, key) };
                Arc::new(OpenAiResponsesProvider::new(config).expect("a good configuration"))
            }
            Dialect::Messages => {
                let config = AnthropicMessagesConfig::new("anthropic", base_url, key);
                messages_at(AnthropicMessagesConfig { timeouts, ..config })
            }
        };
        match self {
            Self::Chat | Self::Messages | Self::Responses => bare,
            Self::GuardedChat | Self::GuardedMessages | Self::GuardedResponses => {
                guarded(bare, GuardLimits::default(), Arc::new(FakeClock::new()))
            }
        }
    }

    /// Starts a server and a provider that asks it.
    pub(crate) async fn served(self, behaviour: Behaviour) -> (ModelServer, Arc<dyn ModelProvider>) {
        let server = ModelServer::start(behaviour.with_key(KEY)).await.expect("a port");
        let provider = self.at(&server.base_url(), Duration::from_secs(20));
        (server, provider)
    }
}

pub(crate) fn messages_at(config: AnthropicMessagesConfig) -> Arc<dyn ModelProvider> {
    Arc::new(AnthropicMessagesProvider::new(config).expect("a good configuration"))
}

/// What a stream gave: texts, reasoning, and its end.
pub(crate) struct Given {
    pub(crate) texts: Vec<String>,
    pub(crate) thoughts: Vec<String>,
    pub(crate) end: Result<RawModelAnswer, ModelFailure>,
}

/// Reads a stream to its end, and checks the law of streams: texts, none of them empty, then exactly
/// one answer or failure, then nothing.
pub(crate) async fn read(provider: &dyn ModelProvider, request: &ModelRequest) -> Given {
    let mut stream = provider.stream(Arc::new(request.clone()));
    let (mut texts, mut thoughts) = (Vec::new(), Vec::new());
    let end = loop {
        match stream.next().await.expect("a stream ends with an answer or a failure") {
            Ok(ModelPiece::Reasoning(text)) => thoughts.push(text.into_exposed()),
            Ok(ModelPiece::Text(text)) => texts.push(text.into_exposed()),
            Ok(ModelPiece::Answer(answer)) => break Ok(answer),
            Err(failure) => break Err(failure),
        }
    };
    assert!(stream.next().await.is_none(), "something follows the end");
    assert!(texts.iter().chain(&thoughts).all(|text| !text.is_empty()), "a piece is empty");
    Given { texts, thoughts, end }
}
