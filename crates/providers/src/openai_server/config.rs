//! What must be known of a server to talk to it.

use palyra_ports::GatewayTrail;
use palyra_types::model::ProviderName;
use reqwest::Url;

use crate::secret::Secret;
use crate::wire_format::server::{ProviderConfigError, Timeouts, base_url, below};

/// The window that is assumed of a model of which nothing is known.
const CONTEXT_TOKENS: u64 = 32_768;
/// The window of the models of OpenAI's own service, at least.
const CONTEXT_TOKENS_OPENAI: u64 = 128_000;

/// How to reach a server that speaks Chat Completions or Responses.
#[derive(Debug, Clone)]
pub struct OpenAiConfig {
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

impl OpenAiConfig {
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

    /// Says whether the address can be used, without a network.
    ///
    /// # Errors
    /// [`ProviderConfigError`] when it cannot.
    pub fn check(&self) -> Result<(), ProviderConfigError> {
        ServerAddresses::read(&self.base_url, &[]).map(drop)
    }
}

/// Whose service a server is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ServiceOwner {
    /// OpenAI's own.
    OpenAi,
    /// Another's.
    Other,
}

impl ServiceOwner {
    /// Returns the window that is assumed of its models.
    pub(crate) fn context_tokens(self) -> u64 {
        match self {
            Self::OpenAi => CONTEXT_TOKENS_OPENAI,
            Self::Other => CONTEXT_TOKENS,
        }
    }
}

/// The addresses of a server.
#[derive(Debug, Clone)]
pub(crate) struct ServerAddresses {
    /// Where a model is asked.
    pub(crate) answers: Url,
    pub(crate) models: Url,
    pub(crate) embeddings: Url,
    pub(crate) owner: ServiceOwner,
}

impl ServerAddresses {
    /// Reads a base URL, below which a model is asked at a path.
    pub(crate) fn read(text: &str, answers: &[&str]) -> Result<Self, ProviderConfigError> {
        let base = base_url(text)?;
        let is_openai = base.host_str().is_some_and(|host| host.eq_ignore_ascii_case("api.openai.com"));
        Ok(Self {
            answers: below(&base, answers)?,
            models: below(&base, &["models"])?,
            embeddings: below(&base, &["embeddings"])?,
            owner: if is_openai { ServiceOwner::OpenAi } else { ServiceOwner::Other },
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
            let found = ServerAddresses::read(base, &["chat", "completions"]).expect("a base URL");
            let found = [&found.answers, &found.models, &found.embeddings].map(Url::as_str);
            let expected =
                ["chat/completions", "models", "embeddings"].map(|path| format!("{below}/{path}{query}"));
            assert_eq!(found, expected.each_ref().map(String::as_str), "{base}");
        }
    }

    #[test]
    fn openai_s_own_service_is_known() {
        let owner = |base: &str| ServerAddresses::read(base, &["responses"]).expect("a base URL").owner;
        assert_eq!(owner("https://api.openai.com/v1"), ServiceOwner::OpenAi);
        assert_eq!(owner("https://API.OpenAI.com/v1"), ServiceOwner::OpenAi);
        assert_eq!(owner("https://openrouter.ai/api/v1"), ServiceOwner::Other);
    }
}
