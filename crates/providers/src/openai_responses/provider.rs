//! A server that speaks Responses, as a [`ModelProvider`].
//!
//! Invariant: nothing is sent before the first poll, and dropping the stream closes the connection.

use std::sync::Arc;

use futures::future::BoxFuture;
use futures::stream::BoxStream;
use palyra_ports::{EmbeddingRequest, ModelInfo, ModelProvider, TextEmbeddings};
use palyra_types::model::{ModelFailure, ModelName, ModelPiece, ModelRequest, ProviderName};
use reqwest::Url;

use super::assembly::ResponseAssembly;
use super::render::render;
use crate::openai_server::OpenAiConfig;
use crate::openai_server::server::OpenAiServer;
use crate::wire_format::ProviderConfigError;
use crate::wire_format::exchange::{self, RenderedRequest, WireFormat};
use crate::wire_format::features::{OptionalFeature, RefusedFeatures};
use crate::wire_format::link::ServerLink;

/// The adapter; clones share their connections.
#[derive(Clone)]
pub struct OpenAiResponsesProvider {
    responses: Arc<ResponsesFormat>,
}

impl OpenAiResponsesProvider {
    /// Makes the adapter; connects to nothing yet.
    ///
    /// # Errors
    /// [`ProviderConfigError`] when the address or the key cannot be used.
    pub fn new(config: OpenAiConfig) -> Result<Self, ProviderConfigError> {
        let server = OpenAiServer::new(config, &["responses"], "OpenAI Responses")?;
        Ok(Self { responses: Arc::new(ResponsesFormat { server: Arc::new(server) }) })
    }
}

impl ModelProvider for OpenAiResponsesProvider {
    fn name(&self) -> ProviderName {
        self.responses.server.name().clone()
    }

    fn model_info(&self, model: &ModelName) -> ModelInfo {
        self.responses.server.model_info(model)
    }

    fn note_images_seen(&self, model: &ModelName) {
        self.responses.server.note_images_seen(model);
    }

    fn models(&self) -> BoxFuture<'static, Result<Vec<ModelInfo>, ModelFailure>> {
        Arc::clone(&self.responses.server).models()
    }

    fn stream(&self, request: Arc<ModelRequest>) -> BoxStream<'static, Result<ModelPiece, ModelFailure>> {
        exchange::stream(self.responses.clone(), request)
    }

    fn embed(
        &self,
        model: &ModelName,
        request: EmbeddingRequest,
    ) -> BoxFuture<'static, Result<TextEmbeddings, ModelFailure>> {
        Arc::clone(&self.responses.server).embed(model, request)
    }
}

/// The format at one server.
struct ResponsesFormat {
    server: Arc<OpenAiServer>,
}

impl WireFormat for ResponsesFormat {
    type Assembly = ResponseAssembly;

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
        render(request, left_out)
    }

    fn assembly(&self, request: &ModelRequest) -> ResponseAssembly {
        ResponseAssembly::new(request.model.clone())
    }
}
