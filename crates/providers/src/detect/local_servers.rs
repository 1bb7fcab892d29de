//! Knocks at the ports where model servers on this machine usually listen.

use std::time::Duration;

use futures::future::join_all;
use palyra_ports::ModelProvider;
use palyra_types::model::ModelName;

use crate::openai_chat::OpenAiChatProvider;
use crate::openai_server::OpenAiConfig;
use crate::wire_format::Timeouts;

/// How long a server may take to tell its models.
const PROBE_TIMEOUT: Duration = Duration::from_millis(800);

/// A server that may listen here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalServer {
    /// What usually listens there.
    pub name: &'static str,
    /// Where its API would begin.
    pub base_url: String,
}

/// Where servers usually listen: name and port.
pub const LOCAL_SERVERS: &[(&str, u16)] =
    &[("Ollama", 11434), ("llama.cpp", 8080), ("LM Studio", 1234), ("vLLM", 8000)];

/// A server that answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DetectedServer {
    /// Which.
    pub server: LocalServer,
    /// The models it has.
    pub models: Vec<ModelName>,
}

impl DetectedServer {
    /// Returns one sentence that says what was found and what to do with it.
    #[must_use]
    pub fn sentence(&self) -> String {
        const MODELS_SHOWN: usize = 5;
        let LocalServer { name, base_url } = &self.server;
        let shown: Vec<&str> = self.models.iter().take(MODELS_SHOWN).map(ModelName::as_str).collect();
        let model = shown.first().copied().unwrap_or("MODEL");
        let has = match self.models.len() {
            0 => "no model".to_owned(),
            count if count > MODELS_SHOWN => format!("{count} models, among them {}", shown.join(", ")),
            _ => shown.join(", "),
        };
        format!(
            "A model server answers at {base_url} ({name}, by its port) and has {has}; it is not used by itself. \
             To use it: `palyra model add local --base-url {base_url} --model {model}`"
        )
    }
}

/// Asks the usual places on this machine, all at once.
pub async fn detect_local_servers() -> Vec<DetectedServer> {
    let servers = LOCAL_SERVERS
        .iter()
        .map(|(name, port)| LocalServer { name, base_url: format!("http://127.0.0.1:{port}/v1") });
    probe_servers(servers.collect()).await
}

/// Asks servers which models they have, all at once; who does not answer in time is not there.
pub async fn probe_servers(servers: Vec<LocalServer>) -> Vec<DetectedServer> {
    join_all(servers.into_iter().map(probe)).await.into_iter().flatten().collect()
}

async fn probe(server: LocalServer) -> Option<DetectedServer> {
    let mut config = OpenAiConfig::new("probe", &server.base_url, None);
    config.timeouts = Timeouts::all(PROBE_TIMEOUT);
    let provider = OpenAiChatProvider::new(config).ok()?;
    let models = tokio::time::timeout(PROBE_TIMEOUT, provider.models()).await.ok()?.ok()?;
    Some(DetectedServer { server, models: models.into_iter().map(|info| info.name).collect() })
}
