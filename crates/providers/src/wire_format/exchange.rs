//! One request and its answer, whatever the wire format.
//!
//! Owns the law of streams: nothing is sent before the first poll; texts, then exactly one answer or one
//! failure, then nothing; dropping the stream closes the connection. Begin at [`stream`].

use std::sync::Arc;

use futures::StreamExt;
use futures::stream::{self, BoxStream};
use palyra_types::model::{ModelFailure, ModelPiece, ModelRequest};
use reqwest::{Response, Url};

use super::answer_reader::{AnswerAssembly, AnswerReader, PieceQueue};
use super::features::{OptionalFeature, RefusedFeatures};
use super::link::{ServerLink, SilenceTimer};

/// What a vendor's format has of its own.
pub(crate) trait WireFormat: Send + Sync + 'static {
    /// Puts an answer together.
    type Assembly: AnswerAssembly;

    /// Returns the way to the server.
    fn link(&self) -> &ServerLink;

    /// Returns where a model is asked.
    fn address(&self) -> &Url;

    /// Returns what models have refused.
    fn refusals(&self) -> &RefusedFeatures;

    /// Renders a request without some wishes; equal requests give equal bytes.
    fn render(&self, request: &ModelRequest, left_out: &[OptionalFeature]) -> RenderedRequest;

    /// Begins to read the answer to a request.
    fn assembly(&self, request: &ModelRequest) -> Self::Assembly;
}

/// A request, ready for the wire.
pub(crate) struct RenderedRequest {
    /// The body.
    pub(crate) body: String,
    /// What it wishes for that the server may not know.
    pub(crate) features: Vec<OptionalFeature>,
}

/// Streams one answer.
pub(crate) fn stream<F: WireFormat>(
    format: Arc<F>,
    request: Arc<ModelRequest>,
) -> BoxStream<'static, Result<ModelPiece, ModelFailure>> {
    let reader = AnswerReader::new(format.assembly(&request));
    // In a box, for it is handed in and out with each piece.
    let exchange = Box::new(WireExchange {
        format,
        request,
        state: ExchangeState::Unsent,
        reader,
        ready: PieceQueue::new(),
    });
    stream::unfold(exchange, WireExchange::next).boxed()
}

struct WireExchange<F: WireFormat> {
    format: Arc<F>,
    request: Arc<ModelRequest>,
    state: ExchangeState,
    reader: AnswerReader<F::Assembly>,
    ready: PieceQueue,
}

enum ExchangeState {
    Unsent,
    Reading(Response, SilenceTimer),
    Over,
}

impl<F: WireFormat> WireExchange<F> {
    async fn next(mut self: Box<Self>) -> Option<(Result<ModelPiece, ModelFailure>, Box<Self>)> {
        loop {
            if let Some(piece) = self.ready.pop_front() {
                let piece = piece.map_err(|failure| self.format.link().scrubbed(failure));
                return Some((piece, self));
            }
            match &mut self.state {
                ExchangeState::Over => return None,
                ExchangeState::Unsent => match self.ask().await {
                    Ok(response) => {
                        self.state = ExchangeState::Reading(response, self.format.link().silence());
                    }
                    Err(failure) => self.fail(failure),
                },
                ExchangeState::Reading(response, silence) => {
                    match self.format.link().next(response, silence).await {
                        Ok(Some(bytes)) => self.reader.feed(&bytes, &mut self.ready),
                        Ok(None) => self.reader.end(&mut self.ready),
                        Err(failure) => self.fail(failure),
                    }
                }
            }
            if self.reader.has_ended() {
                self.close();
            }
        }
    }

    /// Sends the request; once again for each wish that is refused and left out then.
    async fn ask(&self) -> Result<Response, ModelFailure> {
        let (format, model) = (&self.format, &self.request.model.model);
        let mut left_out = format.refusals().of(model);
        loop {
            let RenderedRequest { body, features } = format.render(&self.request, &left_out);
            let failure = match format.link().post(format.address(), body).await {
                Ok(response) => return Ok(response),
                Err(failure) => failure,
            };
            match format.refusals().learn(model, &features, &failure) {
                Some(feature) => left_out.push(feature),
                None => return Err(failure),
            }
        }
    }

    fn fail(&mut self, failure: ModelFailure) {
        self.ready.push_back(Err(failure));
        self.state = ExchangeState::Over;
    }

    fn close(&mut self) {
        if let ExchangeState::Reading(response, _) = std::mem::replace(&mut self.state, ExchangeState::Over) {
            tokio::spawn(ServerLink::finish(response));
        }
    }
}
