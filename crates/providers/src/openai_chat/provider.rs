//! A server that speaks Chat Completions, as a [`ModelProvider`].
//!
//! Invariant: nothing is sent before the first poll, and dropping the stream closes the connection.

use std::sync::Arc;

use futures::future::BoxFuture;
use futures::stream::BoxStream;
use palyra_ports::{EmbeddingRequest, ModelInfo, ModelProvider, TextEmbeddings};
use palyra_types::model::{ModelFailure, ModelName, ModelPiece, ModelRequest, ProviderName};
use reqwest::Url;

use super::assembly::ChatAssembly;
use super::render::{OutputCapField, RenderOptions, SchemaBy, render};
use crate::openai_server::OpenAiConfig;
use crate::openai_server::config::ServiceOwner;
use crate::openai_server::server::OpenAiServer;
use crate::wire_format::ProviderConfigError;
use crate::wire_format::exchange::{self, RenderedRequest, WireFormat};
use crate::wire_format::features::{OptionalFeature, RefusedFeatures};
use crate::wire_format::link::ServerLink;
use crate::wire_format::sampling::accepted;

/// The adapter; clones share their connections.
#[derive(Clone)]
pub struct OpenAiChatProvider {
    chat: Arc<Chat>,
}

impl OpenAiChatProvider {
    /// Makes the adapter; connects to nothing yet.
    ///
    /// # Errors
    /// [`ProviderConfigError`] when the address or the key cannot be used.
    pub fn new(config: OpenAiConfig) -> Result<Self, ProviderConfigError> {
        let server = OpenAiServer::new(config, &["chat", "completions"], "Chat Completions")?;
        Ok(Self { chat: Arc::new(Chat { server: Arc::new(server) }) })
    }
}

impl ModelProvider for OpenAiChatProvider {
    fn name(&self) -> ProviderName {
        self.chat.server.name().clone()
    }

    fn model_info(&self, model: &ModelName) -> ModelInfo {
        self.chat.server.model_info(model)
    }

    fn note_images_seen(&self, model: &ModelName) {
        self.chat.server.note_images_seen(model);
    }

    fn models(&self) -> BoxFuture<'static, Result<Vec<ModelInfo>, ModelFailure>> {
        Arc::clone(&self.chat.server).models()
    }

    fn stream(&self, request: Arc<ModelRequest>) -> BoxStream<'static, Result<ModelPiece, ModelFailure>> {
        exchange::stream(self.chat.clone(), request)
    }

    fn embed(
        &self,
        model: &ModelName,
        request: EmbeddingRequest,
    ) -> BoxFuture<'static, Result<TextEmbeddings, ModelFailure>> {
        Arc::clone(&self.chat.server).embed(model, request)
    }
}

/// The format at one server.
struct Chat {
    server: Arc<OpenAiServer>,
}

impl WireFormat for Chat {
    type Assembly = ChatAssembly;

    fn link(&self) -> &ServerLink {
        self.server.link()
    }

    fn address(&self) -> &Url {
        self.server.address()
    }

    fn refusals(&self) -> &RefusedFeatures {
        self.server.refusals()
    }

    fn render(&self, request: &ModelRequest, left_out: &[OptionalFeature]) -> RenderedRequest {
        let refused = left_out.contains(&OptionalFeature::Schema);
        let schema_by = if refused { SchemaBy::Instruction } else { SchemaBy::Field };
        let (sampling, mut features) = accepted(&request.usable_sampling(), left_out);
        if request.response_format.is_some() && schema_by == SchemaBy::Field {
            features.push(OptionalFeature::Schema);
        }
        let capped = request.output_tokens_max.is_some() && !left_out.contains(&OptionalFeature::OutputCap);
        let cap = if capped { cap_field(self.server.owner()) } else { OutputCapField::None };
        features.extend(capped.then_some(OptionalFeature::OutputCap));
        let options = RenderOptions { cap, schema_by, sampling };
        RenderedRequest { body: render(request, &options), features }
    }

    fn assembly(&self, _: &ModelRequest) -> ChatAssembly {
        ChatAssembly::default()
    }
}

fn cap_field(owner: ServiceOwner) -> OutputCapField {
    match owner {
        ServiceOwner::OpenAi => OutputCapField::MaxCompletionTokens,
        ServiceOwner::Other => OutputCapField::MaxTokens,
    }
}
