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
use super::config::{AnthropicMessagesConfig, ServerAddresses};
use super::failure::ROWS;
use super::models::models;
use super::render::{RenderOptions, render};
use crate::wire_format::ProviderConfigError;
use crate::wire_format::exchange::{self, RenderedRequest, WireFormat};
use crate::wire_format::features::{OptionalFeature, RefusedFeatures};
use crate::wire_format::link::{LinkParts, ServerLink};

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
        let addresses = ServerAddresses::read(&config.base_url)?;
        let link = ServerLink::new(LinkParts {
            provider: &config.name,
            server: &addresses.messages,
            timeouts: config.timeouts,
            failures: ROWS,
            key: config.key.as_ref(),
            key_header: (KEY_HEADER, ""),
            headers: &[(VERSION_HEADER, VERSION)],
            gateways: &config.gateways,
        })?;
        let messages = Messages { link, addresses, refusals: RefusedFeatures::default(), config };
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
                structured_output: !self.messages.refusals.has(model, OptionalFeature::Schema),
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
    link: ServerLink,
    addresses: ServerAddresses,
    refusals: RefusedFeatures,
    config: AnthropicMessagesConfig,
}

impl WireFormat for Messages {
    type Assembly = MessageAssembly;

    fn link(&self) -> &ServerLink {
        &self.link
    }

    fn address(&self) -> &Url {
        &self.addresses.messages
    }

    fn refusals(&self) -> &RefusedFeatures {
        &self.refusals
    }

    fn render(&self, request: &ModelRequest, left_out: &[OptionalFeature]) -> RenderedRequest {
        let manner = RenderOptions {
            output_tokens: self.config.output_tokens(&request.model.model),
            thinking: self.config.thinking,
            refused: left_out.to_vec(),
        };
        let (body, features) = render(request, &manner);
        RenderedRequest { body: body.to_string(), features }
    }

    fn assembly(&self, request: &ModelRequest) -> MessageAssembly {
        MessageAssembly::new(request.model.clone())
    }
}
