//! Lets a provider have so many requests at once; the others wait in the order they came.
//!
//! Invariants: a request holds its lease from before it is sent until its end or its drop, also when the
//! provider panics; a waiting request that is dropped leaves the queue; the queue is bounded.

use std::sync::Arc;

use futures::future::BoxFuture;
use futures::stream::{self, BoxStream};
use futures::{FutureExt, StreamExt};
use palyra_ports::{EmbeddingRequest, ModelInfo, ModelProvider, ProviderHealth, TextEmbeddings};
use palyra_types::model::{
    ModelFailure, ModelFailureClass, ModelName, ModelPiece, ModelRequest, ProviderName,
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

type PieceStream = BoxStream<'static, Result<ModelPiece, ModelFailure>>;

/// The decorator.
pub(super) struct LeasedProvider {
    inner: Arc<dyn ModelProvider>,
    places: Arc<RequestSlots>,
}

/// Who may be sent, and who may wait for it. Tokio's semaphore is fair: first come, first served.
struct RequestSlots {
    sending: Arc<Semaphore>,
    /// One for each request that is sent or waits.
    present: Arc<Semaphore>,
}

/// What a request holds; its place in the queue goes with its lease.
struct Lease {
    _sending: OwnedSemaphorePermit,
    _present: OwnedSemaphorePermit,
}

impl LeasedProvider {
    /// Wraps a provider that gets so many requests at once, at least one, while so many wait.
    pub(super) fn new(
        inner: Arc<dyn ModelProvider>,
        parallel_requests_max: usize,
        waiting_requests_max: usize,
    ) -> Self {
        let sending = parallel_requests_max.clamp(1, Semaphore::MAX_PERMITS);
        let present = sending.saturating_add(waiting_requests_max).min(Semaphore::MAX_PERMITS);
        let places = RequestSlots {
            sending: Arc::new(Semaphore::new(sending)),
            present: Arc::new(Semaphore::new(present)),
        };
        Self { inner, places: Arc::new(places) }
    }
}

impl RequestSlots {
    async fn lease(&self) -> Result<Lease, ModelFailure> {
        let present = self.present.clone().try_acquire_owned().map_err(|_| too_many())?;
        let sending = self.sending.clone().acquire_owned().await.map_err(|_| too_many())?;
        Ok(Lease { _sending: sending, _present: present })
    }
}

impl ModelProvider for LeasedProvider {
    fn name(&self) -> ProviderName {
        self.inner.name()
    }

    fn model_info(&self, model: &ModelName) -> ModelInfo {
        self.inner.model_info(model)
    }

    fn note_images_seen(&self, model: &ModelName) {
        self.inner.note_images_seen(model);
    }

    fn health(&self) -> ProviderHealth {
        self.inner.health()
    }

    fn end_pause(&self) {
        self.inner.end_pause();
    }

    fn models(&self) -> BoxFuture<'static, Result<Vec<ModelInfo>, ModelFailure>> {
        self.inner.models()
    }

    fn stream(&self, request: Arc<ModelRequest>) -> PieceStream {
        let (inner, places) = (self.inner.clone(), self.places.clone());
        let leased = async move {
            match places.lease().await {
                Ok(lease) => {
                    let answer = LeasedAnswer { pieces: inner.stream(request), lease: Some(lease) };
                    stream::unfold(answer, LeasedAnswer::next).boxed()
                }
                Err(failure) => stream::iter([Err(failure)]).boxed(),
            }
        };
        stream::once(leased).flatten().boxed()
    }

    fn embed(
        &self,
        model: &ModelName,
        request: EmbeddingRequest,
    ) -> BoxFuture<'static, Result<TextEmbeddings, ModelFailure>> {
        let inner = Arc::clone(&self.inner);
        let places = Arc::clone(&self.places);
        let model = model.clone();
        async move {
            let lease = places.lease().await?;
            let embedded = inner.embed(&model, request).await;
            drop(lease);
            embedded
        }
        .boxed()
    }
}

/// An answer under way, with its lease.
struct LeasedAnswer {
    pieces: PieceStream,
    lease: Option<Lease>,
}

impl LeasedAnswer {
    /// Returns the next piece. The lease ends with the last one, not only when the stream is dropped.
    async fn next(mut self) -> Option<(Result<ModelPiece, ModelFailure>, Self)> {
        let piece = self.pieces.next().await?;
        match &piece {
            Ok(ModelPiece::Text(_) | ModelPiece::Reasoning(_)) => {}
            Ok(ModelPiece::Answer(_)) | Err(_) => drop(self.lease.take()),
        }
        Some((piece, self))
    }
}

fn too_many() -> ModelFailure {
    let detail = "too many requests wait for this provider here; nothing was sent";
    // The class of what it is to the run: it was not the provider that failed.
    ModelFailure { class: ModelFailureClass::RateLimit, detail: detail.into(), retry_after: None }
}
