//! `GatewayService` on the wire: one line per call, each to the file that answers it.

use palyra_runtime::GatewayRuntimeState;
use palyra_runtime::ids::IdsHandle;
use palyra_wire::v1::gateway_service_server::GatewayService;
use palyra_wire::v1::{
    CancelRunRequest, CancelRunResponse, GetRunRequest, GetRunResponse, ListRunsRequest, ListRunsResponse,
    ReadAttachmentRequest, ReadAttachmentResponse, ReadSessionTapeRequest, ReadSessionTapeResponse,
    ReadTapeRequest, ReadTapeResponse, ResolveIdRequest, ResolveIdResponse, RunStreamRequest,
    SendInputRequest, SendInputResponse, StartRunRequest, StartRunResponse,
};
use tokio_util::sync::CancellationToken;
use tonic::{Request, Response, Status, Streaming};

use crate::files::Uploads;
use crate::{attachments, auth, ids, run_stream, runs, start_run, tapes};

/// Answers `palyra.v1.GatewayService`.
pub struct GatewayServiceImpl {
    state: GatewayRuntimeState,
    stop: CancellationToken,
    uploads: Uploads,
}

impl GatewayServiceImpl {
    /// Makes the service; its streams end when `stop` is cancelled.
    #[must_use]
    pub fn new(state: GatewayRuntimeState, stop: CancellationToken) -> Self {
        Self { state, stop, uploads: Uploads::default() }
    }
}

#[tonic::async_trait]
impl GatewayService for GatewayServiceImpl {
    type RunStreamStream = run_stream::Frames;

    async fn run_stream(
        &self,
        request: Request<Streaming<RunStreamRequest>>,
    ) -> Result<Response<Self::RunStreamStream>, Status> {
        let identity = auth::identity(&request)?;
        let (state, stop, uploads) = (self.state.clone(), self.stop.clone(), self.uploads.clone());
        let doorway = run_stream::Doorway { state, stop, identity, uploads };
        let frames = run_stream::open(doorway, request.into_inner());
        Ok(Response::new(frames.await?))
    }

    async fn start_run(
        &self,
        request: Request<StartRunRequest>,
    ) -> Result<Response<StartRunResponse>, Status> {
        let (caller, message) = auth::open(request)?;
        Ok(Response::new(start_run::start_run(&self.state, caller, message).await?))
    }

    async fn send_input(
        &self,
        request: Request<SendInputRequest>,
    ) -> Result<Response<SendInputResponse>, Status> {
        let (caller, message) = auth::open(request)?;
        Ok(Response::new(runs::send_input(&self.state.runs, caller, message).await?))
    }

    async fn cancel_run(
        &self,
        request: Request<CancelRunRequest>,
    ) -> Result<Response<CancelRunResponse>, Status> {
        let (caller, message) = auth::open(request)?;
        Ok(Response::new(runs::cancel_run(&self.state.runs, caller, message).await?))
    }

    async fn get_run(&self, request: Request<GetRunRequest>) -> Result<Response<GetRunResponse>, Status> {
        let (caller, message) = auth::open(request)?;
        Ok(Response::new(runs::get_run(&self.state.runs, caller, message).await?))
    }

    async fn list_runs(
        &self,
        request: Request<ListRunsRequest>,
    ) -> Result<Response<ListRunsResponse>, Status> {
        let (caller, message) = auth::open(request)?;
        Ok(Response::new(runs::list_runs(&self.state.runs, caller, message).await?))
    }

    async fn read_tape(
        &self,
        request: Request<ReadTapeRequest>,
    ) -> Result<Response<ReadTapeResponse>, Status> {
        let (caller, message) = auth::open(request)?;
        Ok(Response::new(tapes::read_tape(&self.state.tapes, caller, message).await?))
    }

    async fn read_session_tape(
        &self,
        request: Request<ReadSessionTapeRequest>,
    ) -> Result<Response<ReadSessionTapeResponse>, Status> {
        let (caller, message) = auth::open(request)?;
        Ok(Response::new(tapes::read_session_tape(&self.state.tapes, caller, message).await?))
    }

    async fn resolve_id(
        &self,
        request: Request<ResolveIdRequest>,
    ) -> Result<Response<ResolveIdResponse>, Status> {
        let (caller, message) = auth::open(request)?;
        Ok(Response::new(ids::resolve_id(&IdsHandle::of(&self.state.approvals), caller, message).await?))
    }

    type ReadAttachmentStream = futures::stream::BoxStream<'static, Result<ReadAttachmentResponse, Status>>;

    async fn read_attachment(
        &self,
        request: Request<ReadAttachmentRequest>,
    ) -> Result<Response<Self::ReadAttachmentStream>, Status> {
        let (caller, message) = auth::open(request)?;
        Ok(Response::new(attachments::read_attachment(&self.state.tapes, caller, message).await?))
    }
}
