//! What all calls have in common: a deadline and our errors.

use std::future::Future;
use std::time::Duration;

use palyra_wire::operations::UnaryRequest;
use prost::Message;
use tonic::{Response, Status};

use crate::client::Client;
use crate::error::ClientError;

/// How long a call that only reads or commits may take.
pub(super) const SHORT: Duration = Duration::from_secs(30);
/// How long a call that asks a model provider may take.
pub(super) const LONG: Duration = Duration::from_secs(300);

impl Client {
    /// Calls an operation that reads or commits; its request names it.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`] after 30 s.
    pub async fn call<R: UnaryRequest>(&self, request: R) -> Result<R::Response, ClientError> {
        self.call_within(SHORT, request).await
    }

    /// Calls an operation that may ask a model provider or change many files.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`] after 300 s.
    pub async fn call_slowly<R: UnaryRequest>(&self, request: R) -> Result<R::Response, ClientError> {
        self.call_within(LONG, request).await
    }

    async fn call_within<R: UnaryRequest>(
        &self,
        span: Duration,
        request: R,
    ) -> Result<R::Response, ClientError> {
        let response = self.call_path(span, R::PATH, request.encode_to_vec()).await?;
        R::Response::decode(response)
            .map_err(|_| ClientError::Protocol { what: "an answer is not of its type" })
    }

    /// Awaits one answer, at most for `span`.
    pub(super) async fn answer<T>(
        &self,
        span: Duration,
        call: impl Future<Output = Result<Response<T>, Status>>,
    ) -> Result<T, ClientError> {
        let endpoint = self.endpoint();
        match tokio::time::timeout(span, call).await {
            Ok(Ok(response)) => Ok(response.into_inner()),
            Ok(Err(status)) => Err(ClientError::from_status(&status, &endpoint)),
            Err(elapsed) => Err(ClientError::Lost { endpoint, cause: elapsed.to_string() }),
        }
    }
}

/// Returns a required part of an answer.
pub(super) fn required<T>(part: Option<T>, what: &'static str) -> Result<T, ClientError> {
    part.ok_or(ClientError::Protocol { what })
}
