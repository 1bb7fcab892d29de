//! The embedding table as a model: the adapter of [`EmbedTexts`] that needs no network.
//!
//! Its vectors say which words a text has and which words are used alike, more than what the text means: the order of words
//! counts nothing. Owns how many requests it works on at once. Invariant: a request that is dropped counts until its work is
//! done, so there are never more busy threads than the limit. Begin at [`EmbeddedModel`].

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_ports::embed_texts::{
    EmbedError, EmbedTexts, EmbeddingModel, EmbeddingModelName, EmbeddingRequest, TextEmbeddings,
};
use palyra_types::model::{ModelFailure, ModelFailureClass, TokenUsage, UsageSource};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::embedding_table::EmbeddingTable;
use crate::limits::{DIMENSIONS, EMBEDDING_REQUESTS_MAX, EMBEDDING_REQUESTS_WAITING_MAX};

/// Components of a vector, as the port counts them.
const OFFERED_DIMENSIONS: u32 = DIMENSIONS as u32;
/// What it is, for people.
const NOTE: &str = "part of the program, for English; finds texts with the same or related words more than texts with the same \
                    meaning";

/// The model that is part of the program.
#[derive(Debug, Clone)]
pub struct EmbeddedModel {
    working: Arc<Semaphore>,
    /// One permit for each request that works or waits.
    present: Arc<Semaphore>,
}

/// The permits of a request.
struct WorkPermit {
    _working: OwnedSemaphorePermit,
    _present: OwnedSemaphorePermit,
}

impl Default for EmbeddedModel {
    fn default() -> Self {
        Self::with_limits(EMBEDDING_REQUESTS_MAX, EMBEDDING_REQUESTS_WAITING_MAX)
    }
}

impl EmbeddedModel {
    /// Makes the model with other limits: so many requests work at once, and so many wait.
    #[must_use]
    pub fn with_limits(working_max: usize, waiting_max: usize) -> Self {
        let present_max = working_max.saturating_add(waiting_max).min(Semaphore::MAX_PERMITS);
        Self {
            working: Arc::new(Semaphore::new(working_max.min(present_max))),
            present: Arc::new(Semaphore::new(present_max)),
        }
    }

    async fn permit(&self) -> Result<WorkPermit, EmbedError> {
        let present = Arc::clone(&self.present).try_acquire_owned().map_err(|_| EmbedError::Busy)?;
        let working = Arc::clone(&self.working).acquire_owned().await.map_err(|_| EmbedError::Busy)?;
        Ok(WorkPermit { _working: working, _present: present })
    }
}

impl EmbedTexts for EmbeddedModel {
    fn embedding_model(&self) -> EmbeddingModel {
        EmbeddingModel {
            name: EmbeddingModelName::Embedded,
            dimensions: Some(OFFERED_DIMENSIONS),
            note: NOTE.to_owned(),
        }
    }

    fn embed(&self, request: EmbeddingRequest) -> BoxFuture<'static, Result<TextEmbeddings, EmbedError>> {
        let model = self.clone();
        async move {
            if let Some(asked) = request.dimensions().filter(|asked| *asked != OFFERED_DIMENSIONS) {
                return Err(EmbedError::Dimensions { asked, offered: OFFERED_DIMENSIONS });
            }
            let permit = model.permit().await?;
            let work = move || {
                let embedded = embed(&request);
                drop(permit);
                embedded
            };
            let embedded = tokio::task::spawn_blocking(work).await;
            embedded.unwrap_or_else(|_| Err(failed("the work on the texts did not end")))
        }
        .boxed()
    }
}

/// Makes the vectors; blocks.
fn embed(request: &EmbeddingRequest) -> Result<TextEmbeddings, EmbedError> {
    let table = EmbeddingTable::shared().map_err(|error| failed(&error.to_string()))?;
    let mut pieces: usize = 0;
    let vectors = request.texts().iter().map(|text| {
        let vector = table.unit_vector(text.expose());
        pieces = pieces.saturating_add(vector.pieces_count);
        vector.components.to_vec()
    });
    let vectors: Vec<Vec<f32>> = vectors.collect();
    let usage =
        TokenUsage { input_tokens: pieces as u64, source: UsageSource::Reported, ..TokenUsage::default() };
    let embedded = TextEmbeddings::new(vectors, request.texts().len(), usage);
    embedded.map_err(|error| failed(&error.to_string()))
}

fn failed(detail: &str) -> EmbedError {
    let class = ModelFailureClass::Permanent;
    EmbedError::Model(ModelFailure { class, detail: detail.into(), retry_after: None })
}
