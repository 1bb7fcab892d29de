//! What must be known of a server to talk to it.

use palyra_ports::GatewayTrail;
use palyra_types::model::{ModelName, ProviderName};
use reqwest::Url;

use crate::secret::Secret;
use crate::wire_format::server::{ProviderConfigError, Timeouts, base_url, below};

/// The window that is assumed of a model.
const CONTEXT_TOKENS: u64 = 200_000;
/// How many models are asked for at once; the format allows no more.
const MODELS_LIMIT: &str = "1000";

/// Caps on an answer, which the format wants with every request: the beginning of a model's name, and what
/// such a model writes at most or, where it could write more, what nobody waits for. The first that fits.
const OUTPUT_TOKENS: &[(&str, u32)] = &[
    ("claude-3-opus", 4_096),
    ("claude-3-sonnet", 4_096),
    ("claude-3-haiku", 4_096),
    ("claude-3-5", 8_192),
    ("claude-", 32_000),
    ("", 8_192),
];

/// Whether a model is asked to reason before it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ThinkingMode {
    /// It does as it does when nothing is said.
    #[default]
    ModelDecides,
    /// It is asked to, as much as it finds fit, and to show a summary.
    Adaptive,
}

/// How to reach a server that speaks Messages.
#[derive(Debug, Clone)]
pub struct AnthropicMessagesConfig {
    /// The operator's name for it.
    pub name: ProviderName,
    /// Where its API begins, such as `https://api.anthropic.com`; with or without `/v1`.
    pub base_url: String,
    /// The credential, for servers that want one.
    pub key: Option<Secret>,
    /// How long it is waited for.
    pub timeouts: Timeouts,
    /// The window of its models, input and output together; `None` assumes 200,000.
    pub context_tokens: Option<u64>,
    /// The cap on an answer when a request names none; `None` takes one by the model's name.
    pub output_tokens: Option<u32>,
    /// Whether its models see images; `None` assumes it.
    pub images: Option<bool>,
    /// Whether they are asked to reason.
    pub thinking: ThinkingMode,
    /// Names the gateways that a request passes.
    pub gateways: GatewayTrail,
}

impl AnthropicMessagesConfig {
    /// Makes a configuration with the usual limits.
    #[must_use]
    pub fn new(name: &str, base_url: &str, key: Option<Secret>) -> Self {
        Self {
            name: ProviderName::new(name),
            base_url: base_url.to_owned(),
            key,
            timeouts: Timeouts::default(),
            context_tokens: None,
            output_tokens: None,
            images: None,
            thinking: ThinkingMode::default(),
            gateways: GatewayTrail::default(),
        }
    }

    /// Says whether the address can be used, asking nobody.
    ///
    /// # Errors
    /// [`ProviderConfigError`] when it cannot.
    pub fn check(&self) -> Result<(), ProviderConfigError> {
        ServerAddresses::read(&self.base_url).map(drop)
    }

    /// Returns the window of its models.
    pub(super) fn context_tokens(&self) -> u64 {
        self.context_tokens.unwrap_or(CONTEXT_TOKENS)
    }

    /// Returns the cap on an answer of a model when a request names none.
    pub(super) fn output_tokens(&self, model: &ModelName) -> u32 {
        let by_name = OUTPUT_TOKENS.iter().find(|(prefix, _)| model.as_str().starts_with(prefix));
        self.output_tokens.or(by_name.map(|(_, tokens)| *tokens)).unwrap_or(1)
    }
}

/// The addresses of a server.
#[derive(Debug, Clone)]
pub(super) struct ServerAddresses {
    pub(super) messages: Url,
    pub(super) models: Url,
}

impl ServerAddresses {
    /// Reads a base URL: the vendor's own clients leave `/v1` out, everybody else's write it.
    pub(super) fn read(text: &str) -> Result<Self, ProviderConfigError> {
        let base = base_url(text)?;
        let named = base.path().trim_end_matches('/').rsplit('/').next() == Some("v1");
        let version: &[&str] = if named { &[] } else { &["v1"] };
        let at = |name| below(&base, &[version, &[name]].concat());
        let mut models = at("models")?;
        models.query_pairs_mut().append_pair("limit", MODELS_LIMIT);
        Ok(Self { messages: at("messages")?, models })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_lie_below_the_base_with_or_without_its_version() {
        for base in ["https://h", "https://h/", "https://h/v1", " https://h/v1/ "] {
            let found = ServerAddresses::read(base).expect("a base URL");
            assert_eq!(found.messages.as_str(), "https://h/v1/messages", "{base}");
            assert_eq!(found.models.as_str(), "https://h/v1/models?limit=1000", "{base}");
        }
        let below = ServerAddresses::read("https://h/anthropic").expect("a base URL");
        assert_eq!(below.messages.as_str(), "https://h/anthropic/v1/messages");
        assert_eq!(ServerAddresses::read("h").map(drop), Err(ProviderConfigError::BaseUrl));
    }

    #[test]
    fn every_model_has_a_cap() {
        let mut config = AnthropicMessagesConfig::new("a", "https://h", None);
        let cap =
            |config: &AnthropicMessagesConfig, model: &str| config.output_tokens(&ModelName::new(model));
        assert_eq!(cap(&config, "claude-3-haiku-20240307"), 4_096);
        assert_eq!(cap(&config, "claude-opus-4-6"), 32_000);
        assert_eq!(cap(&config, "somebody-else"), 8_192);
        config.output_tokens = Some(7);
        assert_eq!(cap(&config, "claude-opus-4-6"), 7);
    }
}
