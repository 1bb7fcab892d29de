//! A server, the way to it, and what is known of its models.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_ports::{EmbeddingRequest, ModelCapabilities, ModelInfo, TextEmbeddings};
use palyra_types::model::{ModelFailure, ModelName, ProviderName};
use reqwest::Url;
use reqwest::header::AUTHORIZATION;

use super::config::{OpenAiConfig, ServerAddresses, ServiceOwner};
use super::embeddings;
use super::failure::ROWS;
use super::models::models;
use crate::image_models::takes_images;
use crate::wire_format::ProviderConfigError;
use crate::wire_format::features::{OptionalFeature, RefusedFeatures};
use crate::wire_format::images::ImageKnowledge;
use crate::wire_format::link::{LinkParts, ServerLink};
use crate::wire_format::windows::Windows;

/// A server of one of the two formats.
pub(crate) struct OpenAiServer {
    name: ProviderName,
    link: ServerLink,
    addresses: ServerAddresses,
    refusals: RefusedFeatures,
    /// What to say of a model of which the server says nothing.
    note: &'static str,
    /// The window that the configuration gives to every model here.
    window: Option<u64>,
    windows: Windows,
    /// Whether its models see images, as the configuration says.
    images: Option<bool>,
    images_known: ImageKnowledge,
}

impl OpenAiServer {
    /// Makes the way to a server that asks models at a path below its base; connects to nothing yet.
    pub(crate) fn new(
        config: OpenAiConfig,
        answers: &[&str],
        note: &'static str,
    ) -> Result<Self, ProviderConfigError> {
        let addresses = ServerAddresses::read(&config.base_url, answers)?;
        let link = ServerLink::new(LinkParts {
            provider: &config.name,
            server: &addresses.answers,
            timeouts: config.timeouts,
            failures: ROWS,
            key: config.key.as_ref(),
            key_header: (AUTHORIZATION, "Bearer "),
            headers: &[],
            gateways: &config.gateways,
        })?;
        Ok(Self {
            name: config.name,
            link,
            addresses,
            refusals: RefusedFeatures::default(),
            note,
            window: config.context_tokens,
            windows: Windows::default(),
            images: config.images,
            images_known: ImageKnowledge::default(),
        })
    }

    pub(crate) fn name(&self) -> &ProviderName {
        &self.name
    }

    pub(crate) fn link(&self) -> &ServerLink {
        &self.link
    }

    /// Returns where a model is asked.
    pub(crate) fn address(&self) -> &Url {
        &self.addresses.answers
    }

    pub(crate) fn owner(&self) -> ServiceOwner {
        self.addresses.owner
    }

    pub(crate) fn refusals(&self) -> &RefusedFeatures {
        &self.refusals
    }

    /// Returns what is known of a model.
    pub(crate) fn model_info(&self, model: &ModelName) -> ModelInfo {
        ModelInfo {
            name: model.clone(),
            context_tokens: self.context_tokens(model),
            note: self.note.to_owned(),
            capabilities: ModelCapabilities {
                images: self.sees_images(model),
                structured_output: !self.refusals.has(model, OptionalFeature::Schema),
                reasoning: true,
                tools: true,
            },
        }
    }

    /// Takes note that a test has shown that a model sees images.
    pub(crate) fn note_images_seen(&self, model: &ModelName) {
        self.images_known.learn_seeing(model);
    }

    /// Asks which models there are.
    pub(crate) fn models(self: Arc<Self>) -> BoxFuture<'static, Result<Vec<ModelInfo>, ModelFailure>> {
        async move {
            let body = self.link.get(&self.addresses.models).await?;
            let listed = |name: &ModelName, images: Option<bool>| {
                match images {
                    Some(true) => self.images_known.learn_seeing(name),
                    Some(false) => self.images_known.learn_blind(name),
                    None => {}
                }
                self.model_info(name)
            };
            let mut models = models(&body, listed)?;
            models
                .iter_mut()
                .for_each(|info| info.context_tokens = self.window.unwrap_or(info.context_tokens));
            self.windows.learn(&models);
            Ok(models)
        }
        .boxed()
    }

    /// Makes a vector of each text.
    pub(crate) fn embed(
        self: Arc<Self>,
        model: &ModelName,
        request: EmbeddingRequest,
    ) -> BoxFuture<'static, Result<TextEmbeddings, ModelFailure>> {
        let model = model.clone();
        async move { embeddings::embed(&self.link, &self.addresses.embeddings, &model, &request).await }
            .boxed()
    }

    /// The configuration knows best, then the server.
    fn context_tokens(&self, model: &ModelName) -> u64 {
        let listed = || self.windows.window_of(model);
        self.window.or_else(listed).unwrap_or(self.owner().context_tokens())
    }

    /// The configuration knows best, then the server or a test, then the catalogue.
    fn sees_images(&self, model: &ModelName) -> bool {
        let known = || self.images_known.of(model).or_else(|| takes_images(model));
        self.images.or_else(known).unwrap_or(self.owner() == ServiceOwner::OpenAi)
    }
}
