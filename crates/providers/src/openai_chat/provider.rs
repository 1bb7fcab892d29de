//! A server that speaks Chat Completions, as a [`ModelProvider`].
//!
//! Invariant: nothing is sent before the first poll, and dropping the stream closes the connection.

use std::sync::Arc;

use futures::future::BoxFuture;
use futures::stream::{self, BoxStream};
use futures::{FutureExt, StreamExt};
use palyra_ports::{ModelCapabilities, ModelInfo, ModelProvider};
use palyra_types::model::{ModelFailure, ModelName, ModelPiece, ModelRequest, ProviderName};
use reqwest::Response;

use super::answer_reader::{AnswerReader, Pieces};
use super::config::{OpenAiChatConfig, OpenAiChatConfigError};
use super::link::Link;
use super::models::models;
use super::render::render;

/// The adapter; clones share their connections.
#[derive(Clone)]
pub struct OpenAiChatProvider {
    name: ProviderName,
    link: Arc<Link>,
}

impl OpenAiChatProvider {
    /// Makes the adapter; connects to nothing yet.
    ///
    /// # Errors
    /// [`OpenAiChatConfigError`] when the address or the key cannot be used.
    pub fn new(config: OpenAiChatConfig) -> Result<Self, OpenAiChatConfigError> {
        let link = Arc::new(Link::new(&config)?);
        Ok(Self { name: config.name, link })
    }
}

impl ModelProvider for OpenAiChatProvider {
    fn name(&self) -> ProviderName {
        self.name.clone()
    }

    fn model_info(&self, model: &ModelName) -> ModelInfo {
        ModelInfo {
            name: model.clone(),
            context_tokens: self.link.addresses.context_tokens,
            note: "Chat Completions".to_owned(),
            capabilities: ModelCapabilities::TEXT_AND_TOOLS,
        }
    }

    fn models(&self) -> BoxFuture<'static, Result<Vec<ModelInfo>, ModelFailure>> {
        let link = self.link.clone();
        async move {
            let body = link.get(&link.addresses.models).await?;
            models(&body, link.addresses.context_tokens)
        }
        .boxed()
    }

    fn stream(&self, request: Arc<ModelRequest>) -> BoxStream<'static, Result<ModelPiece, ModelFailure>> {
        let exchange = Exchange {
            link: self.link.clone(),
            state: State::Unsent(request),
            reader: AnswerReader::new(),
            ready: Pieces::new(),
        };
        stream::unfold(exchange, Exchange::next).boxed()
    }
}

/// One request and its answer.
struct Exchange {
    link: Arc<Link>,
    state: State,
    reader: AnswerReader,
    ready: Pieces,
}

enum State {
    Unsent(Arc<ModelRequest>),
    Reading(Response),
    Over,
}

impl Exchange {
    async fn next(mut self) -> Option<(Result<ModelPiece, ModelFailure>, Self)> {
        loop {
            if let Some(piece) = self.ready.pop_front() {
                let piece = piece.map_err(|failure| self.link.scrubbed(failure));
                return Some((piece, self));
            }
            match &mut self.state {
                State::Over => return None,
                State::Unsent(request) => {
                    let body = render(request, self.link.addresses.cap).to_string();
                    match self.link.post(&self.link.addresses.chat, body).await {
                        Ok(response) => self.state = State::Reading(response),
                        Err(failure) => self.fail(failure),
                    }
                }
                State::Reading(response) => match self.link.next(response).await {
                    Ok(Some(bytes)) => self.reader.feed(&bytes, &mut self.ready),
                    Ok(None) => self.reader.end(&mut self.ready),
                    Err(failure) => self.fail(failure),
                },
            }
            if self.reader.has_ended() {
                self.close();
            }
        }
    }

    fn fail(&mut self, failure: ModelFailure) {
        self.ready.push_back(Err(failure));
        self.state = State::Over;
    }

    fn close(&mut self) {
        if let State::Reading(response) = std::mem::replace(&mut self.state, State::Over) {
            tokio::spawn(Link::finish(response));
        }
    }
}
