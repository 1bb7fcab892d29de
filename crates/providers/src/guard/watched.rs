//! Watches how a provider's requests end, and moves its breaker accordingly.
//!
//! Invariant: every ticket is settled once, with the request's end, or with its drop if that comes first.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::{self, BoxStream};
use palyra_ports::{Clock, ModelInfo, ModelProvider};
use palyra_types::model::{ModelFailure, ModelName, ModelPiece, ModelRequest, ProviderName};

use super::circuit_breaker::{CircuitBreaker, Sign, Ticket};
use super::fails_fast::left_alone;

type Pieces = BoxStream<'static, Result<ModelPiece, ModelFailure>>;

/// The decorator.
pub(super) struct Watched {
    inner: Arc<dyn ModelProvider>,
    breaker: Arc<Mutex<CircuitBreaker>>,
    clock: Arc<dyn Clock>,
}

impl Watched {
    /// Wraps a provider.
    pub(super) fn new(
        inner: Arc<dyn ModelProvider>,
        breaker: Arc<Mutex<CircuitBreaker>>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self { inner, breaker, clock }
    }
}

impl ModelProvider for Watched {
    fn name(&self) -> ProviderName {
        self.inner.name()
    }

    fn model_info(&self, model: &ModelName) -> ModelInfo {
        self.inner.model_info(model)
    }

    fn note_images_seen(&self, model: &ModelName) {
        self.inner.note_images_seen(model);
    }

    fn models(&self) -> BoxFuture<'static, Result<Vec<ModelInfo>, ModelFailure>> {
        self.inner.models()
    }

    fn stream(&self, request: Arc<ModelRequest>) -> Pieces {
        let (inner, breaker, clock) = (self.inner.clone(), self.breaker.clone(), self.clock.clone());
        let admitted = async move {
            match Watch::begin(&inner.name(), breaker, clock) {
                Ok(watch) => stream::unfold((inner.stream(request), watch), next).boxed(),
                Err(failure) => stream::iter([Err(failure)]).boxed(),
            }
        };
        stream::once(admitted).flatten().boxed()
    }
}

async fn next(
    (mut pieces, mut watch): (Pieces, Watch),
) -> Option<(Result<ModelPiece, ModelFailure>, (Pieces, Watch))> {
    let piece = pieces.next().await?;
    match &piece {
        Ok(ModelPiece::Text(_) | ModelPiece::Reasoning(_)) => watch.speaks(),
        Ok(ModelPiece::Answer(_)) => watch.end(Sign::Alive),
        Err(failure) => watch.fail(failure),
    }
    Some((piece, (pieces, watch)))
}

/// A request on its way.
struct Watch {
    breaker: Arc<Mutex<CircuitBreaker>>,
    clock: Arc<dyn Clock>,
    ticket: Option<Ticket>,
}

impl Watch {
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
        self.end(Sign::of(failure.class));
    }

    fn end(&mut self, sign: Sign) {
        if let Some(ticket) = self.ticket.take() {
            lock(&self.breaker).settle(ticket, sign, self.clock.boot());
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.end(Sign::Unclear);
    }
}

fn lock(breaker: &Mutex<CircuitBreaker>) -> MutexGuard<'_, CircuitBreaker> {
    breaker.lock().unwrap_or_else(PoisonError::into_inner)
}
