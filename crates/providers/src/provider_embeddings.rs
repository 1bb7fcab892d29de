//! A model of a configured provider behind the port for vectors.
//!
//! Limits, keys and failures are the provider's: its guards are around each request. Owns that vectors have the number of
//! dimensions that was asked for.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_ports::ModelProvider;
use palyra_ports::embed_texts::{
    EmbedError, EmbedTexts, EmbeddingModel, EmbeddingModelName, EmbeddingRequest, TextEmbeddings,
};
use palyra_types::model::ModelRef;

/// A model of a provider that makes vectors of texts.
#[derive(Clone)]
pub struct ProviderEmbeddings {
    provider: Arc<dyn ModelProvider>,
    model: ModelRef,
}

impl ProviderEmbeddings {
    /// Takes a model of a provider; the provider is asked as it is, so it comes with its guards.
    #[must_use]
    pub fn new(provider: Arc<dyn ModelProvider>, model: ModelRef) -> Self {
        Self { provider, model }
    }
}

impl EmbedTexts for ProviderEmbeddings {
    fn embedding_model(&self) -> EmbeddingModel {
        EmbeddingModel {
            name: EmbeddingModelName::OfProvider(self.model.clone()),
            dimensions: None,
            note: self.provider.why_unusable().unwrap_or_default(),
        }
    }

    fn embed(&self, request: EmbeddingRequest) -> BoxFuture<'static, Result<TextEmbeddings, EmbedError>> {
        let asked = request.dimensions();
        let embedding = self.provider.embed(&self.model.model, request);
        async move {
            let embedded = embedding.await?;
            match asked {
                // Servers that do not know the field pass over it.
                Some(asked) if asked != embedded.dimensions() => {
                    Err(EmbedError::Dimensions { asked, offered: embedded.dimensions() })
                }
                Some(_) | None => Ok(embedded),
            }
        }
        .boxed()
    }
}
