//! The connection to a server: sends requests, hands over bytes, and says why it could not.
//!
//! Owns the credential and every timeout. Invariant: the credential goes to the configured address
//! only (no redirects), and into no message.

use std::time::Duration;

use bytes::Bytes;
use palyra_types::Redacted;
use palyra_types::model::{ModelFailure, ModelFailureClass};
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, DATE, HeaderMap, HeaderValue, RETRY_AFTER};
use reqwest::{Client, RequestBuilder, Response, Url, redirect};

use super::config::{Addresses, OpenAiChatConfig, OpenAiChatConfigError};
use super::failure::{failure, status_failure};
use super::retry_after::{PauseHeaders, retry_after};
use crate::secret::Secret;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// How much of an error's body is read.
const ERROR_BODY_BYTES_MAX: usize = 64 * 1024;
/// How long, and for how many reads, the end of a body is waited for once the answer is complete.
const REST_TIMEOUT: Duration = Duration::from_millis(500);
const REST_CHUNKS_MAX: usize = 4;
/// How large a list of models may be.
const LIST_BODY_BYTES_MAX: usize = 8 * 1024 * 1024;

/// A way to a server.
pub(super) struct Link {
    client: Client,
    authorization: Option<HeaderValue>,
    key: Option<Secret>,
    idle_timeout: Duration,
    pub(super) addresses: Addresses,
}

impl Link {
    /// Makes the way; connects to nothing yet.
    pub(super) fn new(config: &OpenAiChatConfig) -> Result<Self, OpenAiChatConfigError> {
        let mut addresses = Addresses::read(&config.base_url)?;
        addresses.context_tokens = config.context_tokens.unwrap_or(addresses.context_tokens);
        let authorization = config.key.as_ref().map(authorization).transpose()?;
        let client =
            crate::http_client::builder().connect_timeout(CONNECT_TIMEOUT).redirect(redirect::Policy::none());
        // What listens on this machine is not to be asked through a proxy elsewhere.
        let client = if addresses.is_loopback { client.no_proxy() } else { client };
        let client = client.build().map_err(|_| OpenAiChatConfigError::Client)?;
        let key = config.key.clone();
        Ok(Self { client, authorization, key, idle_timeout: config.idle_timeout, addresses })
    }

    /// Posts a request and returns the reply once its head has come and is a good one.
    pub(super) async fn post(&self, url: &Url, body: String) -> Result<Response, ModelFailure> {
        let request = self.client.post(url.clone()).header(CONTENT_TYPE, "application/json");
        self.send(request.header(ACCEPT, "text/event-stream, application/json").body(body)).await
    }

    /// Gets a document.
    pub(super) async fn get(&self, url: &Url) -> Result<Vec<u8>, ModelFailure> {
        let mut response = self.send(self.client.get(url.clone()).header(ACCEPT, "application/json")).await?;
        let body = self.body(&mut response, LIST_BODY_BYTES_MAX).await;
        body.map_err(|failure| self.scrubbed(failure))
    }

    /// Returns the next bytes of a reply, `None` at its end.
    pub(super) async fn next(&self, response: &mut Response) -> Result<Option<Bytes>, ModelFailure> {
        match tokio::time::timeout(self.idle_timeout, response.chunk()).await {
            Ok(Ok(chunk)) => Ok(chunk),
            Ok(Err(error)) => Err(self.scrubbed(transport_failure(error))),
            Err(_) => Err(self.silence()),
        }
    }

    /// Reads what little is left behind the end of an answer, so that the connection can serve the
    /// next request; a server that goes on is hung up on.
    pub(super) async fn finish(mut response: Response) {
        let rest = async {
            for _ in 0..REST_CHUNKS_MAX {
                if !matches!(response.chunk().await, Ok(Some(_))) {
                    return;
                }
            }
        };
        // Whether it ended or not, there is nothing more to do.
        drop(tokio::time::timeout(REST_TIMEOUT, rest).await);
    }

    /// Takes the credential out of what a server said.
    pub(super) fn scrubbed(&self, failure: ModelFailure) -> ModelFailure {
        match &self.key {
            Some(key) => {
                ModelFailure { detail: Redacted::new(key.scrub(failure.detail.expose())), ..failure }
            }
            None => failure,
        }
    }

    async fn send(&self, request: RequestBuilder) -> Result<Response, ModelFailure> {
        let request = match &self.authorization {
            Some(value) => request.header(AUTHORIZATION, value.clone()),
            None => request,
        };
        let mut response = match tokio::time::timeout(self.idle_timeout, request.send()).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Err(self.scrubbed(transport_failure(error))),
            Err(_) => return Err(self.silence()),
        };
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let pause = retry_after(pause_headers(response.headers()));
        // The status alone tells the class: a body that breaks off takes nothing away.
        let body = self.body(&mut response, ERROR_BODY_BYTES_MAX).await.unwrap_or_default();
        Err(self.scrubbed(status_failure(status.as_u16(), &body, pause)))
    }

    async fn body(&self, response: &mut Response, bytes_max: usize) -> Result<Vec<u8>, ModelFailure> {
        let mut body = Vec::new();
        while let Some(chunk) = self.next(response).await? {
            let room = bytes_max - body.len();
            body.extend_from_slice(&chunk[..chunk.len().min(room)]);
            if body.len() == bytes_max {
                break;
            }
        }
        Ok(body)
    }

    fn silence(&self) -> ModelFailure {
        let seconds = self.idle_timeout.as_secs_f64();
        failure(ModelFailureClass::Timeout, &format!("the server was silent for {seconds} s"))
    }
}

fn authorization(key: &Secret) -> Result<HeaderValue, OpenAiChatConfigError> {
    let mut value =
        HeaderValue::from_str(&format!("Bearer {}", key.expose())).map_err(|_| OpenAiChatConfigError::Key)?;
    value.set_sensitive(true);
    Ok(value)
}

fn pause_headers(headers: &HeaderMap) -> PauseHeaders<'_> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    PauseHeaders {
        retry_after_ms: text("retry-after-ms"),
        retry_after: text(RETRY_AFTER.as_str()),
        date: text(DATE.as_str()),
    }
}

fn transport_failure(error: reqwest::Error) -> ModelFailure {
    let class = if error.is_timeout() { ModelFailureClass::Timeout } else { ModelFailureClass::Network };
    // The URL may carry what its owner would not show.
    let error = error.without_url();
    let what = if error.is_connect() {
        "no connection to the server"
    } else if error.is_body() || error.is_decode() {
        "the connection broke in the middle of the answer"
    } else {
        "the connection broke before an answer"
    };
    let mut cause: &dyn std::error::Error = &error;
    while let Some(below) = cause.source() {
        cause = below;
    }
    failure(class, &format!("{what}: {cause}"))
}
