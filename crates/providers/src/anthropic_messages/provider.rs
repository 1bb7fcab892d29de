//! A server that speaks Messages, as a [`ModelProvider`].
//!
//! Invariant: nothing is sent before the first poll, and dropping the stream closes the connection.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use palyra_ports::{ModelCapabilities, ModelInfo, ModelProvider};
use palyra_types::model::{ModelFailure, ModelName, ModelPiece, ModelRequest, ProviderName};
use reqwest::Url;
use reqwest::header::HeaderName;

use super::assembly::MessageAssembly;
use super::config::{Addresses, AnthropicMessagesConfig};
use super::failure::ROWS;
use super::models::models;
use super::render::{Manner, render};
use crate::wire_format::ProviderConfigError;
use crate::wire_format::exchange::{self, Rendered, WireFormat};
use crate::wire_format::link::{Link, LinkParts};
use crate::wire_format::wishes::{Refusals, Wish};

/// The version of the API that is spoken.
const VERSION: &str = "2023-06-01";
const VERSION_HEADER: HeaderName = HeaderName::from_static("anthropic-version");
const KEY_HEADER: HeaderName = HeaderName::from_static("x-api-key");

/// The adapter; clones share their connections.
#[derive(Clone)]
pub struct AnthropicMessagesProvider {
    messages: Arc<Messages>,
}

impl AnthropicMessagesProvider {
    /// Makes the adapter; connects to nothing yet.
    ///
    /// # Errors
    /// [`ProviderConfigError`] when the address or the key cannot be used.
    pub fn new(config: AnthropicMessagesConfig) -> Result<Self, ProviderConfigError> {
        let addresses = Addresses::read(&config.base_url)?;
        let link = Link::new(LinkParts {
            provider: &config.name,
            server: &addresses.messages,
            timeouts: config.timeouts,
            failures: ROWS,
            key: config.key.as_ref(),
            key_header: (KEY_HEADER, ""),
            headers: &[(VERSION_HEADER, VERSION)],
        })?;
        let messages = Messages { link, addresses, refusals: Refusals::default(), config };
        Ok(Self { messages: Arc::new(messages) })
    }
}

impl ModelProvider for AnthropicMessagesProvider {
    fn name(&self) -> ProviderName {
        self.messages.config.name.clone()
    }

    fn model_info(&self, model: &ModelName) -> ModelInfo {
        ModelInfo {
            name: model.clone(),
            context_tokens: self.messages.config.context_tokens(),
            note: "Anthropic Messages".to_owned(),
            capabilities: ModelCapabilities {
                images: self.messages.config.images.unwrap_or(true),
                structured_output: !self.messages.refusals.has(model, Wish::Schema),
                ..ModelCapabilities::ALL
            },
        }
    }

    fn models(&self) -> BoxFuture<'static, Result<Vec<ModelInfo>, ModelFailure>> {
        let provider = self.clone();
        async move {
            let messages = &provider.messages;
            let body = messages.link.get(&messages.addresses.models).await?;
            models(&body, |name| provider.model_info(name))
        }
        .boxed()
    }

    fn stream(&self, request: Arc<ModelRequest>) -> BoxStream<'static, Result<ModelPiece, ModelFailure>> {
        exchange::stream(self.messages.clone(), request)
    }
}

/// The format at one server.
struct Messages {
    link: Link,
    addresses: Addresses,
    refusals: Refusals,
    config: AnthropicMessagesConfig,
}

impl WireFormat for Messages {
    type Assembly = MessageAssembly;

    fn link(&self) -> &Link {
        &self.link
    }

    fn address(&self) -> &Url {
        &self.addresses.messages
    }

    fn refusals(&self) -> &Refusals {
        &self.refusals
    }

    fn render(&self, request: &ModelRequest, left_out: &[Wish]) -> Rendered {
        let manner = Manner {
            output_tokens: self.config.output_tokens(&request.model.model),
            thinking: self.config.thinking,
            refused: left_out.to_vec(),
        };
        let (body, wishes) = render(request, &manner);
        Rendered { body: body.to_string(), wishes }
    }

    fn assembly(&self, request: &ModelRequest) -> MessageAssembly {
        MessageAssembly::new(request.model.clone())
    }
}
