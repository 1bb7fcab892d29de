//! Refuses requests at once while their provider is left alone.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use futures::stream::{self, BoxStream};
use futures::{FutureExt, StreamExt};
use palyra_ports::{Clock, EmbeddingRequest, ModelInfo, ModelProvider, ProviderHealth, TextEmbeddings};
use palyra_types::model::{
    ModelFailure, ModelFailureClass, ModelName, ModelPiece, ModelRequest, ProviderName,
};

use super::circuit_breaker::CircuitBreaker;
use super::provider_signs::ProviderSigns;

/// The shortest pause that is asked for: a probe that is on its way needs a while.
const PAUSE_MIN: Duration = Duration::from_secs(1);

/// The decorator; the breaker is moved by another one.
pub(super) struct FailsFast {
    inner: Arc<dyn ModelProvider>,
    signs: ProviderSigns,
    clock: Arc<dyn Clock>,
}

impl FailsFast {
    /// Wraps a provider.
    pub(super) fn new(inner: Arc<dyn ModelProvider>, signs: ProviderSigns, clock: Arc<dyn Clock>) -> Self {
        Self { inner, signs, clock }
    }
}

impl ModelProvider for FailsFast {
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
        self.signs.breaker.lock().unwrap_or_else(PoisonError::into_inner).health(self.clock.boot())
    }

    fn first_token(&self, model: &ModelName) -> Option<Duration> {
        let times = self.signs.first_tokens.lock().unwrap_or_else(PoisonError::into_inner);
        times.known(model, self.clock.boot())
    }

    fn end_pause(&self) {
        self.signs.breaker.lock().unwrap_or_else(PoisonError::into_inner).end_pause(self.clock.boot());
        self.inner.end_pause();
    }

    fn models(&self) -> BoxFuture<'static, Result<Vec<ModelInfo>, ModelFailure>> {
        self.inner.models()
    }

    fn stream(&self, request: Arc<ModelRequest>) -> BoxStream<'static, Result<ModelPiece, ModelFailure>> {
        let (inner, breaker, clock) = (self.inner.clone(), self.signs.breaker.clone(), self.clock.clone());
        // Judged at the first poll, as everything that a request does.
        let judged = async move {
            match refused(&inner.name(), &breaker, &*clock) {
                Some(failure) => stream::iter([Err(failure)]).boxed(),
                None => inner.stream(request),
            }
        };
        stream::once(judged).flatten().boxed()
    }

    fn embed(
        &self,
        model: &ModelName,
        request: EmbeddingRequest,
    ) -> BoxFuture<'static, Result<TextEmbeddings, ModelFailure>> {
        let inner = Arc::clone(&self.inner);
        let breaker = Arc::clone(&self.signs.breaker);
        let clock = Arc::clone(&self.clock);
        let model = model.clone();
        async move {
            match refused(&inner.name(), &breaker, &*clock) {
                Some(failure) => Err(failure),
                None => inner.embed(&model, request).await,
            }
        }
        .boxed()
    }
}

/// Returns the failure of a request that is not sent now.
fn refused(
    provider: &ProviderName,
    breaker: &Mutex<CircuitBreaker>,
    clock: &dyn Clock,
) -> Option<ModelFailure> {
    let breaker = breaker.lock().unwrap_or_else(PoisonError::into_inner);
    breaker.refusal(clock.boot()).map(|rest| left_alone(provider, rest, breaker.last_failure()))
}

/// Makes the failure of a request that is not sent because of those before it.
pub(super) fn left_alone(
    provider: &ProviderName,
    rest: Duration,
    last: Option<ModelFailureClass>,
) -> ModelFailure {
    let rest = rest.max(PAUSE_MIN);
    let seconds = rest.as_secs_f64().ceil();
    let how = match last {
        Some(ModelFailureClass::Network) => " (no connection, or a broken one)",
        Some(ModelFailureClass::Timeout) => " (no answer in time)",
        Some(ModelFailureClass::Transient) => " (errors of its own, or overloaded)",
        _ => "",
    };
    let detail = format!(
        "provider `{provider}` failed several times in a row{how}; requests to all of its models pause for another \
         {seconds} s, and nothing was sent"
    );
    ModelFailure { class: ModelFailureClass::Transient, detail: detail.into(), retry_after: Some(rest) }
}
