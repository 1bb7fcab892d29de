//! A server that speaks Chat Completions, as a [`ModelProvider`].
//!
//! Invariant: nothing is sent before the first poll, and dropping the stream closes the connection.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use palyra_ports::{EmbeddingRequest, ModelCapabilities, ModelInfo, ModelProvider, TextEmbeddings};
use palyra_types::model::{ModelFailure, ModelName, ModelPiece, ModelRequest, ProviderName};
use palyra_types::sampling::SamplingOptions;
use reqwest::Url;
use reqwest::header::AUTHORIZATION;

use super::assembly::ChatAssembly;
use super::config::{OpenAiChatConfig, ServerAddresses};
use super::embeddings;
use super::failure::ROWS;
use super::models::models;
use super::render::{OutputCapField, RenderOptions, SchemaBy, render};
use crate::image_models::takes_images;
use crate::wire_format::ProviderConfigError;
use crate::wire_format::exchange::{self, RenderedRequest, WireFormat};
use crate::wire_format::features::{OptionalFeature, RefusedFeatures};
use crate::wire_format::images::ImageKnowledge;
use crate::wire_format::link::{LinkParts, ServerLink};
use crate::wire_format::sampling::accepted;
use crate::wire_format::windows::Windows;

/// The adapter; clones share their connections.
#[derive(Clone)]
pub struct OpenAiChatProvider {
    name: ProviderName,
    chat: Arc<Chat>,
}

impl OpenAiChatProvider {
    /// Makes the adapter; connects to nothing yet.
    ///
    /// # Errors
    /// [`ProviderConfigError`] when the address or the key cannot be used.
    pub fn new(config: OpenAiChatConfig) -> Result<Self, ProviderConfigError> {
        let addresses = ServerAddresses::read(&config.base_url)?;
        let link = ServerLink::new(LinkParts {
            provider: &config.name,
            server: &addresses.chat,
            timeouts: config.timeouts,
            failures: ROWS,
            key: config.key.as_ref(),
            key_header: (AUTHORIZATION, "Bearer "),
            headers: &[],
            gateways: &config.gateways,
        })?;
        let (window, windows) = (config.context_tokens, Windows::default());
        let (images, images_known) = (config.images, ImageKnowledge::default());
        let refusals = RefusedFeatures::default();
        let chat = Chat { link, addresses, refusals, window, windows, images, images_known };
        Ok(Self { name: config.name, chat: Arc::new(chat) })
    }
}

impl ModelProvider for OpenAiChatProvider {
    fn name(&self) -> ProviderName {
        self.name.clone()
    }

    fn model_info(&self, model: &ModelName) -> ModelInfo {
        ModelInfo {
            name: model.clone(),
            context_tokens: self.chat.context_tokens(model),
            note: "Chat Completions".to_owned(),
            capabilities: ModelCapabilities {
                images: self.chat.images(model),
                structured_output: !self.chat.refusals.has(model, OptionalFeature::Schema),
                reasoning: true,
                tools: true,
            },
        }
    }

    fn note_images_seen(&self, model: &ModelName) {
        self.chat.images_known.learn_seeing(model);
    }

    fn models(&self) -> BoxFuture<'static, Result<Vec<ModelInfo>, ModelFailure>> {
        let provider = self.clone();
        async move {
            let chat = &provider.chat;
            let body = chat.link.get(&chat.addresses.models).await?;
            let listed = |name: &ModelName, images: Option<bool>| {
                match images {
                    Some(true) => chat.images_known.learn_seeing(name),
                    Some(false) => chat.images_known.learn_blind(name),
                    None => {}
                }
                provider.model_info(name)
            };
            let mut models = models(&body, listed)?;
            models
                .iter_mut()
                .for_each(|info| info.context_tokens = chat.window.unwrap_or(info.context_tokens));
            chat.windows.learn(&models);
            Ok(models)
        }
        .boxed()
    }

    fn stream(&self, request: Arc<ModelRequest>) -> BoxStream<'static, Result<ModelPiece, ModelFailure>> {
        exchange::stream(self.chat.clone(), request)
    }

    fn embed(
        &self,
        model: &ModelName,
        request: EmbeddingRequest,
    ) -> BoxFuture<'static, Result<TextEmbeddings, ModelFailure>> {
        let chat = Arc::clone(&self.chat);
        let model = model.clone();
        async move { embeddings::embed(&chat.link, &chat.addresses.embeddings, &model, &request).await }
            .boxed()
    }
}

/// Returns the settings that the format has a field for: that about calls is refused where there are no tools.
fn known_settings(request: &ModelRequest) -> SamplingOptions {
    let calls_per_answer = request.sampling.calls_per_answer.filter(|_| request.offers_calls());
    SamplingOptions { calls_per_answer, ..request.sampling.clone() }
}

/// The format at one server.
struct Chat {
    link: ServerLink,
    addresses: ServerAddresses,
    refusals: RefusedFeatures,
    /// The window that the configuration gives to every model here.
    window: Option<u64>,
    windows: Windows,
    /// Whether its models see images, as the configuration says.
    images: Option<bool>,
    images_known: ImageKnowledge,
}

impl Chat {
    /// The configuration knows best, then the server.
    fn context_tokens(&self, model: &ModelName) -> u64 {
        let told = || self.windows.window_of(model);
        self.window.or_else(told).unwrap_or(self.addresses.context_tokens)
    }

    /// The configuration knows best, then the server or a test, then the catalogue.
    fn images(&self, model: &ModelName) -> bool {
        let known = || self.images_known.of(model).or_else(|| takes_images(model));
        self.images.or_else(known).unwrap_or(self.addresses.images)
    }
}

impl WireFormat for Chat {
    type Assembly = ChatAssembly;

    fn link(&self) -> &ServerLink {
        &self.link
    }

    fn address(&self) -> &Url {
        &self.addresses.chat
    }

    fn refusals(&self) -> &RefusedFeatures {
        &self.refusals
    }

    fn render(&self, request: &ModelRequest, left_out: &[OptionalFeature]) -> RenderedRequest {
        let refused = left_out.contains(&OptionalFeature::Schema);
        let schema_by = if refused { SchemaBy::Instruction } else { SchemaBy::Field };
        let (sampling, mut features) = accepted(&known_settings(request), left_out);
        if request.response_format.is_some() && schema_by == SchemaBy::Field {
            features.push(OptionalFeature::Schema);
        }
        let capped = request.output_tokens_max.is_some() && !left_out.contains(&OptionalFeature::OutputCap);
        let cap = if capped { self.addresses.cap } else { OutputCapField::None };
        features.extend(capped.then_some(OptionalFeature::OutputCap));
        let options = RenderOptions { cap, schema_by, sampling };
        RenderedRequest { body: render(request, &options), features }
    }

    fn assembly(&self, _: &ModelRequest) -> ChatAssembly {
        ChatAssembly::default()
    }
}
