//! What must be known of a server to talk to it.

use palyra_ports::GatewayTrail;
use palyra_types::model::ProviderName;
use reqwest::Url;

use super::render::OutputCapField;
use crate::secret::Secret;
use crate::wire_format::server::{ProviderConfigError, Timeouts, base_url, below};

/// The window that is assumed of a model of which nothing is known.
const CONTEXT_TOKENS: u64 = 32_768;
/// The window of the models of OpenAI's own service, at least.
const CONTEXT_TOKENS_OPENAI: u64 = 128_000;

/// How to reach a server that speaks Chat Completions.
#[derive(Debug, Clone)]
pub struct OpenAiChatConfig {
    /// The operator's name for it.
    pub name: ProviderName,
    /// Where its API begins, such as `https://api.openai.com/v1`.
    pub base_url: String,
    /// The credential, for servers that want one.
    pub key: Option<Secret>,
    /// How long it is waited for.
    pub timeouts: Timeouts,
    /// The window of its models, input and output together; `None` assumes what is usual there.
    pub context_tokens: Option<u64>,
    /// Whether its models see images; `None` assumes it of OpenAI's own service only.
    pub images: Option<bool>,
    /// Names the gateways that a request passes.
    pub gateways: GatewayTrail,
}

impl OpenAiChatConfig {
    /// Makes a configuration with the usual limits.
    #[must_use]
    pub fn new(name: &str, base_url: &str, key: Option<Secret>) -> Self {
        Self {
            name: ProviderName::new(name),
            base_url: base_url.to_owned(),
            key,
            timeouts: Timeouts::default(),
            context_tokens: None,
            images: None,
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
}

/// The addresses of a server.
#[derive(Debug, Clone)]
pub(super) struct ServerAddresses {
    pub(super) chat: Url,
    pub(super) models: Url,
    pub(super) embeddings: Url,
    pub(super) cap: OutputCapField,
    pub(super) context_tokens: u64,
    pub(super) images: bool,
}

impl ServerAddresses {
    /// Reads a base URL.
    pub(super) fn read(text: &str) -> Result<Self, ProviderConfigError> {
        let base = base_url(text)?;
        let is_openai = base.host_str().is_some_and(|host| host.eq_ignore_ascii_case("api.openai.com"));
        Ok(Self {
            chat: below(&base, &["chat", "completions"])?,
            models: below(&base, &["models"])?,
            embeddings: below(&base, &["embeddings"])?,
            cap: if is_openai { OutputCapField::MaxCompletionTokens } else { OutputCapField::MaxTokens },
            context_tokens: if is_openai { CONTEXT_TOKENS_OPENAI } else { CONTEXT_TOKENS },
            images: is_openai,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_lie_below_the_base() {
        for (base, below, query) in [
            ("http://h:1/v1", "http://h:1/v1", ""),
            (" https://h/v1/ ", "https://h/v1", ""),
            ("http://h", "http://h", ""),
            ("http://h/a?v=1#x", "http://h/a", "?v=1"),
        ] {
            let found = ServerAddresses::read(base).expect("a base URL");
            let found = [&found.chat, &found.models, &found.embeddings].map(Url::as_str);
            let expected =
                ["chat/completions", "models", "embeddings"].map(|path| format!("{below}/{path}{query}"));
            assert_eq!(found, expected.each_ref().map(String::as_str), "{base}");
        }
    }

    #[test]
    fn openai_s_own_service_is_known() {
        let read = |base: &str| ServerAddresses::read(base).expect("a base URL");
        assert_eq!(read("https://api.openai.com/v1").cap, OutputCapField::MaxCompletionTokens);
        assert_eq!(read("https://openrouter.ai/api/v1").cap, OutputCapField::MaxTokens);
    }
}
