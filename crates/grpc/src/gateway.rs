//! `GatewayService` on the wire: the operations of its name, and `RunStream`.

use std::sync::Arc;

use futures::StreamExt;
use palyra_api::OperationHandlers;
use palyra_api::files::UploadQuota;
use palyra_runtime::GatewayRuntimeState;
use palyra_wire::v1;
use palyra_wire::v1::{RunStreamRequest, RunStreamResponse};
use tokio_util::sync::CancellationToken;
use tonic::{Request, Response, Status, Streaming};

use crate::services::{Messages, implement_service};
use crate::{auth, run_stream, status};

/// Answers `palyra.v1.GatewayService`.
pub struct GatewayServiceImpl {
    operations: Arc<OperationHandlers>,
    state: GatewayRuntimeState,
    stop: CancellationToken,
    uploads: UploadQuota,
}

impl GatewayServiceImpl {
    /// Makes the service; its streams end when `stop` is cancelled.
    #[must_use]
    pub fn new(
        operations: Arc<OperationHandlers>,
        state: GatewayRuntimeState,
        stop: CancellationToken,
    ) -> Self {
        Self { operations, state, stop, uploads: UploadQuota::default() }
    }
}

palyra_wire::service_methods!(GatewayService, implement_service, {
    GatewayServiceImpl

    async fn run_stream(
        &self,
        request: Request<Streaming<RunStreamRequest>>,
    ) -> Result<Response<Messages<RunStreamResponse>>, Status> {
        let identity = auth::identity(&request)?;
        let (state, stop, uploads) = (self.state.clone(), self.stop.clone(), self.uploads.clone());
        let context = run_stream::StreamContext { state, stop, identity, uploads };
        let frames = run_stream::open(context, request.into_inner()).await;
        frames.map(|frames| Response::new(frames.boxed())).map_err(|refusal| status::of(&refusal))
    }
});
