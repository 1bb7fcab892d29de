//! Every service on the wire as one: it opens a call, asks the operation of its path, and dresses the answer.
//!
//! The operations come from the schemas, so a new method or service needs no line here. Messages are bytes until
//! `palyra-api` decodes them; only `RunStream`, which also takes a stream of messages, has its types here.
//! Begin at [`GatewayServiceImpl`].

use std::convert::Infallible;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use futures::{FutureExt, StreamExt};
use palyra_api::files::UploadQuota;
use palyra_api::{ApiError, OperationHandlers};
use palyra_runtime::GatewayRuntimeState;
use palyra_wire::bytes_codec::BytesCodec;
use palyra_wire::operations::OperationSpec;
use palyra_wire::v1::{RunStreamRequest, RunStreamResponse};
use tokio_util::sync::CancellationToken;
use tonic::body::Body;
use tonic::codegen::{Body as HttpBody, StdError, http};
use tonic::server::{Grpc, ServerStreamingService, StreamingService, UnaryService};
use tonic::{Request, Response, Status, Streaming};
use tonic_prost::ProstCodec;
use tower::Service;

use crate::{auth, run_stream, status};

/// The only operation that takes a stream of messages.
const RUN_STREAM: &str = "/palyra.v1.GatewayService/RunStream";

/// The messages of a stream to the client.
type Messages<T> = BoxStream<'static, Result<T, Status>>;

/// What calls are answered with.
pub(crate) struct ServedOperations {
    pub(crate) operations: Arc<OperationHandlers>,
    pub(crate) state: GatewayRuntimeState,
    /// Ends the streams of `RunStream`.
    pub(crate) stop: CancellationToken,
    pub(crate) uploads: UploadQuota,
    /// Bytes of a message from a client, at most.
    pub(crate) message_bytes_max: usize,
}

/// Answers every operation of the gateway.
#[derive(Clone)]
pub(crate) struct GatewayServiceImpl(pub(crate) Arc<ServedOperations>);

impl<B> Service<http::Request<B>> for GatewayServiceImpl
where
    B: HttpBody + Send + 'static,
    B::Error: Into<StdError> + Send + 'static,
{
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<B>) -> Self::Future {
        let operation = OperationSpec::by_path(request.uri().path());
        let call = operation.map(|operation| OperationCall { operation, served: Arc::clone(&self.0) });
        async move {
            Ok(match call {
                Some(call) => call.answer(request).await,
                None => Status::unimplemented("").into_http(),
            })
        }
        .boxed()
    }
}

/// A call of an operation.
struct OperationCall {
    operation: &'static OperationSpec,
    served: Arc<ServedOperations>,
}

impl OperationCall {
    async fn answer<B>(self, request: http::Request<B>) -> http::Response<Body>
    where
        B: HttpBody + Send + 'static,
        B::Error: Into<StdError> + Send + 'static,
    {
        let bytes_max = Some(self.served.message_bytes_max);
        let mut bytes = Grpc::new(BytesCodec).apply_max_message_size_config(bytes_max, None);
        match (self.operation.client_streams, self.operation.server_streams) {
            (false, false) => bytes.unary(self, request).await,
            (false, true) => bytes.server_streaming(self, request).await,
            (true, _) if self.operation.path == RUN_STREAM => {
                let codec = ProstCodec::<RunStreamResponse, RunStreamRequest>::default();
                let mut frames = Grpc::new(codec).apply_max_message_size_config(bytes_max, None);
                frames.streaming(self, request).await
            }
            (true, _) => Status::unimplemented("").into_http(),
        }
    }
}

/// Returns the answer of an operation, or the status of its refusal; `None` where no operation has the path.
fn dressed<T>(answer: Option<Result<T, ApiError>>) -> Result<T, Status> {
    let answer = answer.ok_or_else(|| Status::unimplemented(""))?;
    answer.map_err(|refusal| status::of(&refusal))
}

impl UnaryService<Bytes> for OperationCall {
    type Response = Bytes;
    type Future = BoxFuture<'static, Result<Response<Bytes>, Status>>;

    fn call(&mut self, request: Request<Bytes>) -> Self::Future {
        let operation = self.operation;
        let operations = Arc::clone(&self.served.operations);
        async move {
            let (caller, message) = auth::open(request)?;
            let answer = operations.dispatch(operation.path, caller, &message).await;
            dressed(answer).map(|answer| Response::new(answer.into()))
        }
        .boxed()
    }
}

impl ServerStreamingService<Bytes> for OperationCall {
    type Response = Bytes;
    type ResponseStream = Messages<Bytes>;
    type Future = BoxFuture<'static, Result<Response<Messages<Bytes>>, Status>>;

    fn call(&mut self, request: Request<Bytes>) -> Self::Future {
        let operation = self.operation;
        let operations = Arc::clone(&self.served.operations);
        async move {
            let (caller, message) = auth::open(request)?;
            let steps = dressed(operations.dispatch_stream(operation.path, caller, &message).await)?;
            let messages = steps.map(|step| step.map(Bytes::from).map_err(|refusal| status::of(&refusal)));
            Ok(Response::new(messages.boxed()))
        }
        .boxed()
    }
}

impl StreamingService<RunStreamRequest> for OperationCall {
    type Response = RunStreamResponse;
    type ResponseStream = Messages<RunStreamResponse>;
    type Future = BoxFuture<'static, Result<Response<Messages<RunStreamResponse>>, Status>>;

    fn call(&mut self, request: Request<Streaming<RunStreamRequest>>) -> Self::Future {
        let ServedOperations { state, stop, uploads, .. } = &*self.served;
        let state = state.clone();
        let stop = stop.clone();
        let uploads = uploads.clone();
        async move {
            let identity = auth::identity(&request)?;
            let context = run_stream::StreamContext { state, stop, identity, uploads };
            let frames = run_stream::open(context, request.into_inner()).await;
            frames.map(|frames| Response::new(frames.boxed())).map_err(|refusal| status::of(&refusal))
        }
        .boxed()
    }
}

#[cfg(test)]
mod tests {
    use palyra_wire::operations::OPERATIONS;

    use super::*;

    #[test]
    fn one_operation_takes_a_stream_of_messages() {
        let streams = OPERATIONS.iter().filter(|operation| operation.client_streams);
        let paths: Vec<_> = streams.map(|operation| operation.path).collect();
        assert_eq!(paths, [RUN_STREAM]);
    }
}
