//! Watches how a provider's requests end, and moves its breaker accordingly.
//!
//! Invariant: every ticket is settled once, with the request's end, or with its drop if that comes first.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::future::BoxFuture;
use futures::stream::{self, BoxStream};
use futures::{FutureExt, StreamExt};
use palyra_ports::{Clock, EmbeddingRequest, ModelInfo, ModelProvider, ProviderHealth, TextEmbeddings};
use palyra_types::BootTime;
use palyra_types::model::{ModelFailure, ModelName, ModelPiece, ModelRequest, ProviderName};

use super::circuit_breaker::{BreakerTicket, CircuitBreaker, HealthSign};
use super::fails_fast::left_alone;
use super::first_token_times::FirstTokenTimes;
use super::provider_signs::ProviderSigns;

type PieceStream = BoxStream<'static, Result<ModelPiece, ModelFailure>>;

/// The decorator.
pub(super) struct WatchedProvider {
    inner: Arc<dyn ModelProvider>,
    signs: ProviderSigns,
    clock: Arc<dyn Clock>,
}

impl WatchedProvider {
    /// Wraps a provider.
    pub(super) fn new(inner: Arc<dyn ModelProvider>, signs: ProviderSigns, clock: Arc<dyn Clock>) -> Self {
        Self { inner, signs, clock }
    }
}

impl ModelProvider for WatchedProvider {
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
        let (inner, signs, clock) = (self.inner.clone(), self.signs.clone(), self.clock.clone());
        let admitted = async move {
            match RequestWatch::begin(&inner.name(), signs.breaker, clock) {
                Ok(watch) => {
                    let first_token = FirstTokenWatch {
                        model: request.model.model.clone(),
                        begun: watch.clock.boot(),
                        times: signs.first_tokens,
                    };
                    let pieces = inner.stream(request);
                    let answer = WatchedAnswer { pieces, watch, first_token: Some(first_token) };
                    stream::unfold(answer, WatchedAnswer::next).boxed()
                }
                Err(failure) => stream::iter([Err(failure)]).boxed(),
            }
        };
        stream::once(admitted).flatten().boxed()
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
            let mut watch = RequestWatch::begin(&inner.name(), breaker, clock)?;
            let embedded = inner.embed(&model, request).await;
            match &embedded {
                Ok(_) => watch.end(HealthSign::Alive),
                Err(failure) => watch.fail(failure),
            }
            embedded
        }
        .boxed()
    }
}

/// An answer under way, whose pieces say whether the provider is alive.
struct WatchedAnswer {
    pieces: PieceStream,
    watch: RequestWatch,
    /// There until the first words.
    first_token: Option<FirstTokenWatch>,
}

/// Measures how long a model takes to its first words.
struct FirstTokenWatch {
    model: ModelName,
    begun: BootTime,
    times: Arc<Mutex<FirstTokenTimes>>,
}

impl WatchedAnswer {
    async fn next(mut self) -> Option<(Result<ModelPiece, ModelFailure>, Self)> {
        let piece = self.pieces.next().await?;
        if let (Ok(_), Some(FirstTokenWatch { model, begun, times })) = (&piece, self.first_token.take()) {
            let now = self.watch.clock.boot();
            let mut times = times.lock().unwrap_or_else(PoisonError::into_inner);
            times.measured(&model, now.since(begun), now);
        }
        match &piece {
            Ok(ModelPiece::Text(_) | ModelPiece::Reasoning(_)) => self.watch.speaks(),
            Ok(ModelPiece::Answer(_)) => self.watch.end(HealthSign::Alive),
            Err(failure) => self.watch.fail(failure),
        }
        Some((piece, self))
    }
}

/// A request on its way.
struct RequestWatch {
    breaker: Arc<Mutex<CircuitBreaker>>,
    clock: Arc<dyn Clock>,
    ticket: Option<BreakerTicket>,
}

impl RequestWatch {
    fn begin(
        provider: &ProviderName,
        breaker: Arc<Mutex<CircuitBreaker>>,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, ModelFailure> {
        let admitted = {
            let mut breaker = lock(&breaker);
            breaker.admit(clock.boot()).map_err(|rest| left_alone(provider, rest, breaker.last_failure()))
        };
        Ok(Self { ticket: Some(admitted?), breaker, clock })
    }

    fn speaks(&mut self) {
        let now = self.clock.boot();
        self.ticket = self.ticket.map(|ticket| lock(&self.breaker).speaks(ticket, now));
    }

    fn fail(&mut self, failure: &ModelFailure) {
        lock(&self.breaker).remember(failure.class);
        self.end(HealthSign::of(failure.class));
    }

    fn end(&mut self, sign: HealthSign) {
        if let Some(ticket) = self.ticket.take() {
            lock(&self.breaker).settle(ticket, sign, self.clock.boot());
        }
    }
}

impl Drop for RequestWatch {
    fn drop(&mut self) {
        self.end(HealthSign::Unclear);
    }
}

fn lock(breaker: &Mutex<CircuitBreaker>) -> MutexGuard<'_, CircuitBreaker> {
    breaker.lock().unwrap_or_else(PoisonError::into_inner)
}
