//! Operations by path, with bytes for messages: for callers that know only the schemas.

use std::time::Duration;

use bytes::Bytes;
use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_wire::bytes_codec::BytesCodec;
use palyra_wire::operations::OperationSpec;
use tonic::client::Grpc;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::{Request, Streaming};

use super::call::LONG;
use crate::client::Client;
use crate::error::ClientError;
use crate::transport::{MESSAGE_BYTES_MAX, Transport};

/// How long the first answer of a stream may take.
const FIRST_ANSWER_SPAN: Duration = LONG;

/// The messages of an operation that answers with more than one, as bytes.
pub struct OperationMessages {
    messages: Streaming<Bytes>,
    endpoint: String,
}

impl OperationMessages {
    /// Returns the next message; `None` after the last.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn next(&mut self) -> Result<Option<Vec<u8>>, ClientError> {
        let message = self.messages.message().await;
        let message = message.map_err(|status| ClientError::from_status(&status, &self.endpoint))?;
        Ok(message.map(|bytes| bytes.to_vec()))
    }
}

impl Client {
    async fn ready(&self) -> Result<Grpc<Transport>, ClientError> {
        let connection = self.connection();
        let mut grpc = Grpc::new(connection.transport).max_decoding_message_size(MESSAGE_BYTES_MAX);
        grpc.ready().await.map_err(|error| ClientError::lost(&connection.endpoint, &error))?;
        Ok(grpc)
    }

    /// Calls an operation that has one request and one response, with their bytes.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn call_operation(
        &self,
        operation: &OperationSpec,
        request: Vec<u8>,
    ) -> Result<Vec<u8>, ClientError> {
        self.call_path(LONG, operation.path, request).await.map(|bytes| bytes.to_vec())
    }

    /// Calls a path with the bytes of a request; returns those of the response. Boxed, so that the body is compiled here and
    /// not again in each crate that calls something.
    pub(super) fn call_path(
        &self,
        span: Duration,
        path: &'static str,
        request: Vec<u8>,
    ) -> BoxFuture<'_, Result<Bytes, ClientError>> {
        async move {
            let mut grpc = self.ready().await?;
            let path = PathAndQuery::from_static(path);
            let call = grpc.unary(Request::new(Bytes::from(request)), path, BytesCodec);
            self.answer(span, call).await
        }
        .boxed()
    }

    /// Calls an operation that has one request and a stream of responses, with their bytes.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn stream_operation(
        &self,
        operation: &OperationSpec,
        request: Vec<u8>,
    ) -> Result<OperationMessages, ClientError> {
        let mut grpc = self.ready().await?;
        let path = PathAndQuery::from_static(operation.path);
        let call = grpc.server_streaming(Request::new(Bytes::from(request)), path, BytesCodec);
        let messages = self.answer(FIRST_ANSWER_SPAN, call).await?;
        Ok(OperationMessages { messages, endpoint: self.endpoint() })
    }
}
