//! Asking a model.

use std::sync::Arc;

use futures::future::BoxFuture;
use futures::stream::BoxStream;
use palyra_types::model::{ModelFailure, ModelName, ModelPiece, ModelRequest, ProviderName};

/// A place where models answer.
pub trait ModelProvider: Send + Sync {
    /// Returns the operator's name for it.
    fn name(&self) -> ProviderName;

    /// Returns what is known of a model, without asking anybody.
    fn model_info(&self, model: &ModelName) -> ModelInfo;

    /// Asks which models there are.
    fn models(&self) -> BoxFuture<'static, Result<Vec<ModelInfo>, ModelFailure>>;

    /// Streams one answer: any number of texts as they arrive, then exactly one answer or one failure.
    ///
    /// Nothing is sent before the first poll. Dropping the stream aborts the request at once.
    /// No retries: that is a decorator's work.
    fn stream(&self, request: Arc<ModelRequest>) -> BoxStream<'static, Result<ModelPiece, ModelFailure>>;
}

/// What is known of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelInfo {
    /// Its name.
    pub name: ModelName,
    /// Its window in tokens, input and output together.
    pub context_tokens: u64,
    /// What to say of it to a person.
    pub note: String,
}
