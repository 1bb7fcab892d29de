//! Asking a model.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::{BoxFuture, ready};
use futures::stream::BoxStream;
use palyra_types::model::{
    ModelFailure, ModelFailureClass, ModelName, ModelPiece, ModelRequest, ProviderName,
};

use crate::embed_texts::{EmbeddingRequest, TextEmbeddings};

/// A place where models answer.
pub trait ModelProvider: Send + Sync {
    /// Returns the operator's name for it.
    fn name(&self) -> ProviderName;

    /// Returns what is known of a model, without asking anybody.
    fn model_info(&self, model: &ModelName) -> ModelInfo;

    /// Returns why no request can be made now, where that is known without one.
    fn why_unusable(&self) -> Option<String> {
        None
    }

    /// Returns whether requests are answered at present, as far as those before tell.
    fn health(&self) -> ProviderHealth {
        ProviderHealth::Healthy
    }

    /// Returns how long a model takes to its first words, on an average of the latest requests; `None` when none measured
    /// it lately.
    fn first_token(&self, _model: &ModelName) -> Option<Duration> {
        None
    }

    /// Takes note that a test has shown that a model sees images. What a configuration says comes first.
    fn note_images_seen(&self, _model: &ModelName) {}

    /// Ends a pause after failures before its time, since a person asks whether the provider works again.
    fn end_pause(&self) {}

    /// Asks which models there are.
    fn models(&self) -> BoxFuture<'static, Result<Vec<ModelInfo>, ModelFailure>>;

    /// Streams one answer: any number of texts as they arrive, then exactly one answer or one failure.
    ///
    /// Nothing is sent before the first poll. Dropping the stream aborts the request at once.
    /// No retries: whether there is another attempt is the run machine's decision.
    fn stream(&self, request: Arc<ModelRequest>) -> BoxStream<'static, Result<ModelPiece, ModelFailure>>;

    /// Makes a vector of each text, by a model that does so. Under the laws of [`stream`](Self::stream): nothing is sent
    /// before the first poll, dropping the future aborts the request, and it is not repeated.
    fn embed(
        &self,
        _model: &ModelName,
        _request: EmbeddingRequest,
    ) -> BoxFuture<'static, Result<TextEmbeddings, ModelFailure>> {
        ready(Err(no_embeddings(&self.name()))).boxed()
    }
}

/// The failure of a provider whose wire format has no embeddings.
fn no_embeddings(provider: &ProviderName) -> ModelFailure {
    let detail = format!("provider `{provider}` makes no embeddings: its wire format has none");
    ModelFailure { class: ModelFailureClass::Permanent, detail: detail.into(), retry_after: None }
}

/// Whether a provider answers at present.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProviderHealth {
    /// Its last request succeeded, or it was not asked yet.
    Healthy,
    /// Its last requests failed, or one request is to find out whether it has recovered.
    Degraded,
    /// No request is sent to it.
    Paused {
        /// For how long; zero where a request is finding out.
        rest: Duration,
    },
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
    /// What it takes and gives beyond text.
    pub capabilities: ModelCapabilities,
}

/// What a model takes and gives beyond plain text, as far as its provider knows.
///
/// Where nothing is known the provider's configuration decides; a wrong guess ends in a refused request,
/// never in a silently different one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ModelCapabilities {
    /// It sees images (PNG, JPEG, GIF, WebP).
    pub images: bool,
    /// It proposes tool calls.
    pub tools: bool,
    /// The provider makes its answer fit a JSON Schema; otherwise it is only told to.
    pub structured_output: bool,
    /// It may show its reasoning beside the answer.
    pub reasoning: bool,
}

impl ModelCapabilities {
    /// Reads and writes text, and nothing else.
    pub const TEXT: Self = Self { images: false, tools: false, structured_output: false, reasoning: false };
    /// Text and tool calls: what is assumed of a model of which nothing is known.
    pub const TEXT_AND_TOOLS: Self = Self { tools: true, ..Self::TEXT };
    /// Everything there is.
    pub const ALL: Self = Self { images: true, tools: true, structured_output: true, reasoning: true };
}
