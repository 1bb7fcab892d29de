//! What must be known of a server to talk to it.

use std::time::Duration;

use palyra_types::model::ProviderName;
use reqwest::Url;

use super::render::OutputCapField;
use crate::secret::Secret;

/// How long a server may be silent.
const IDLE_TIMEOUT: Duration = Duration::from_secs(120);
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
    /// How long it may be silent before the request is given up.
    pub idle_timeout: Duration,
    /// The window of its models, input and output together; `None` assumes what is usual there.
    pub context_tokens: Option<u64>,
}

impl OpenAiChatConfig {
    /// Makes a configuration with the usual limits.
    #[must_use]
    pub fn new(name: &str, base_url: &str, key: Option<Secret>) -> Self {
        let name = ProviderName::new(name);
        Self { name, base_url: base_url.to_owned(), key, idle_timeout: IDLE_TIMEOUT, context_tokens: None }
    }

    /// Says whether the address can be used, asking nobody.
    ///
    /// # Errors
    /// [`OpenAiChatConfigError`] when it cannot.
    pub fn check(&self) -> Result<(), OpenAiChatConfigError> {
        Addresses::read(&self.base_url).map(drop)
    }
}

/// Why a provider cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OpenAiChatConfigError {
    /// The base URL is none.
    #[error("the base URL is not an http or https URL")]
    BaseUrl,
    /// The base URL has a credential in it.
    #[error("the base URL holds a user name or password; name the key by a reference instead")]
    CredentialInUrl,
    /// The key cannot be sent.
    #[error("the key holds characters that no HTTP header can carry")]
    Key,
    /// No HTTP client can be made on this machine.
    #[error("the HTTP client cannot be made")]
    Client,
}

/// The addresses of a server.
#[derive(Debug, Clone)]
pub(super) struct Addresses {
    pub(super) chat: Url,
    pub(super) models: Url,
    pub(super) is_loopback: bool,
    pub(super) cap: OutputCapField,
    pub(super) context_tokens: u64,
}

impl Addresses {
    /// Reads a base URL.
    pub(super) fn read(base_url: &str) -> Result<Self, OpenAiChatConfigError> {
        let base = Url::parse(base_url.trim()).map_err(|_| OpenAiChatConfigError::BaseUrl)?;
        if !matches!(base.scheme(), "http" | "https") {
            return Err(OpenAiChatConfigError::BaseUrl);
        }
        if !base.username().is_empty() || base.password().is_some() {
            return Err(OpenAiChatConfigError::CredentialInUrl);
        }
        let host = base.host_str().ok_or(OpenAiChatConfigError::BaseUrl)?;
        let is_openai = host.eq_ignore_ascii_case("api.openai.com");
        let bare = host.trim_matches(['[', ']']);
        let is_loopback =
            host == "localhost" || bare.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback());
        Ok(Self {
            chat: below(&base, &["chat", "completions"])?,
            models: below(&base, &["models"])?,
            is_loopback,
            cap: if is_openai { OutputCapField::MaxCompletionTokens } else { OutputCapField::MaxTokens },
            context_tokens: if is_openai { CONTEXT_TOKENS_OPENAI } else { CONTEXT_TOKENS },
        })
    }
}

fn below(base: &Url, path: &[&str]) -> Result<Url, OpenAiChatConfigError> {
    let mut url = base.clone();
    url.set_fragment(None);
    url.path_segments_mut().map_err(|()| OpenAiChatConfigError::BaseUrl)?.pop_if_empty().extend(path);
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_lie_below_the_base() {
        let check = |base: &str, chat: &str, models: &str| {
            let found = Addresses::read(base).expect("a base URL");
            assert_eq!((found.chat.as_str(), found.models.as_str()), (chat, models), "{base}");
        };
        check("http://h:1/v1", "http://h:1/v1/chat/completions", "http://h:1/v1/models");
        check(" https://h/v1/ ", "https://h/v1/chat/completions", "https://h/v1/models");
        check("http://h", "http://h/chat/completions", "http://h/models");
        check("http://h/a?v=1#x", "http://h/a/chat/completions?v=1", "http://h/a/models?v=1");
        let refused = |base: &str| Addresses::read(base).expect_err("refused");
        assert_eq!(refused("h/v1"), OpenAiChatConfigError::BaseUrl);
        assert_eq!(refused("file:///etc"), OpenAiChatConfigError::BaseUrl);
        assert_eq!(refused("http://a:b@h/v1"), OpenAiChatConfigError::CredentialInUrl);
    }

    #[test]
    fn what_is_local_and_what_is_openai_is_known() {
        let read = |base: &str| Addresses::read(base).expect("a base URL");
        assert!(read("http://127.0.0.1:1/v1").is_loopback && read("http://[::1]:1/v1").is_loopback);
        assert!(read("http://localhost/v1").is_loopback && !read("http://10.0.0.1/v1").is_loopback);
        assert_eq!(read("https://api.openai.com/v1").cap, OutputCapField::MaxCompletionTokens);
        assert_eq!(read("https://openrouter.ai/api/v1").cap, OutputCapField::MaxTokens);
    }
}
