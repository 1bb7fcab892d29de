//! `RunStream`: one client beside one run.
//!
//! Owns nothing of the run: it reads the tape outwards and hands frames inwards. The run ends by its own last
//! entry; a client that half-closes stops speaking and goes on listening, one that leaves ends only the stream.
//! What the client does not read waits in a bounded queue, then in the journal.
//!
//! Begin at [`open`]; then `inbound.rs` for frames from the client and `outbound.rs` for frames to it.

mod inbound;
mod parts;
mod outbound;

use std::time::Duration;

use palyra_admin::access::ReachGuard;
use palyra_api::files::UploadQuota;
use palyra_api::{ApiError, start_run};
use palyra_runtime::session::IncomingFile;
use palyra_runtime::tape::TapeFollower;
use palyra_runtime::{Caller, GatewayRuntimeState};
use palyra_types::{RunId, TapeSeq};
use palyra_wire::v1::run_stream_request::Frame as ClientFrame;
use palyra_wire::v1::run_stream_response::Frame;
use palyra_wire::v1::{
    ApprovalRefused, Attach, InputAccepted, Opened, ResolveApprovalResponse, RunStreamRequest,
    RunStreamResponse, StartRunRequest,
};
use tokio::sync::{Mutex, mpsc};
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::sync::CancellationToken;
use tonic::{Status, Streaming};
use tracing::Instrument;

use self::parts::receive_files;
use crate::auth::CallerIdentity;
use crate::status;

/// Frames on their way to one client; beyond it the follower waits.
const FRAMES_QUEUED_MAX: usize = 64;
/// Receipts of inputs not yet sent; beyond it frames from the client wait.
const RECEIPTS_QUEUED_MAX: usize = 16;
/// How long the first frame may take.
const FIRST_FRAME_SPAN_MAX: Duration = Duration::from_secs(10);
/// The longest silence on a stream, and the longest life of a stream whose token was revoked.
const HEARTBEAT_SPAN_MAX: Duration = Duration::from_secs(10);
const HEARTBEAT_SPAN_MIN: Duration = Duration::from_millis(10);
/// How long a stream may go on after the stop, to send what was committed before.
const LAST_ENTRIES_SPAN_MAX: Duration = Duration::from_millis(500);

/// The frames that a client will see.
pub(crate) type Frames = ReceiverStream<Result<RunStreamResponse, Status>>;

/// What every stream needs, whoever opens it.
pub(crate) struct StreamContext {
    pub(crate) state: GatewayRuntimeState,
    pub(crate) stop: CancellationToken,
    pub(crate) identity: CallerIdentity,
    pub(crate) uploads: UploadQuota,
}

impl StreamContext {
    /// Refuses an identity that would no longer be accepted.
    fn trusted(&self) -> Result<(), ApiError> {
        if self.identity.still_holds(&self.state.admin.access) {
            Ok(())
        } else {
            Err(ApiError::unauthenticated())
        }
    }
}

/// Reads the first frame, opens what it names, and leaves a task that keeps the two sides going.
pub(crate) async fn open(
    context: StreamContext,
    mut incoming: Streaming<RunStreamRequest>,
) -> Result<Frames, ApiError> {
    let mut first = first_frame(&mut incoming, &context.stop).await?;
    context.trusted()?;
    let announced = match &mut first {
        ClientFrame::Start(message) => std::mem::take(&mut message.attachments),
        ClientFrame::Attach(_)
        | ClientFrame::Input(_)
        | ClientFrame::AnswerApproval(_)
        | ClientFrame::Cancel(_)
        | ClientFrame::AttachmentPart(_) => Vec::new(),
    };
    let mut received = receive_files(announced, &mut incoming, &context).await?;
    let files = std::mem::take(&mut received.files);
    let (opened, follower, run) = begin(&context.state, context.identity.caller(), first, files).await?;
    drop(received);
    let (outgoing, frames) = mpsc::channel(FRAMES_QUEUED_MAX);
    let span = tracing::debug_span!("run_stream", %run);
    let reach = context.state.admin.access.count_stream(context.identity.caller());
    let task = RunStreamTask { context, run, outgoing, _reach: reach };
    tokio::spawn(task.run_to_end(opened, follower, incoming).instrument(span));
    Ok(ReceiverStream::new(frames))
}

async fn first_frame(
    incoming: &mut Streaming<RunStreamRequest>,
    stop: &CancellationToken,
) -> Result<ClientFrame, ApiError> {
    let first = tokio::select! {
        biased;
        () = stop.cancelled() => return Err(ApiError::shutting_down()),
        first = tokio::time::timeout(FIRST_FRAME_SPAN_MAX, incoming.message()) => first,
    };
    let first = first.map_err(|_| ApiError::invalid_frame("no first frame came within 10 seconds"))?;
    let first = first.map_err(|status| status::undelivered(&status))?;
    let first = first.ok_or_else(|| ApiError::invalid_frame("the stream ended before its first frame"))?;
    first.frame.ok_or_else(|| ApiError::invalid_frame("the first frame is empty: it is start or attach"))
}

async fn begin(
    state: &GatewayRuntimeState,
    caller: Caller,
    first: ClientFrame,
    files: Vec<IncomingFile>,
) -> Result<(Opened, TapeFollower, RunId), ApiError> {
    match first {
        ClientFrame::Start(message) => {
            palyra_api::admit_request::<StartRunRequest>(&state.admin.access, &caller).await?;
            start_run::start_followed(state, caller, message, files).await
        }
        ClientFrame::Attach(message) => attach(state, caller, message).await,
        ClientFrame::Input(_)
        | ClientFrame::AnswerApproval(_)
        | ClientFrame::Cancel(_)
        | ClientFrame::AttachmentPart(_) => {
            Err(ApiError::invalid_frame("the first frame is start or attach"))
        }
    }
}

async fn attach(
    state: &GatewayRuntimeState,
    caller: Caller,
    message: Attach,
) -> Result<(Opened, TapeFollower, RunId), ApiError> {
    let run = palyra_api::id("run_id", &message.run_id)?;
    let follower = state.tapes.follow(caller, run, TapeSeq(message.after_tape_seq)).await?;
    let record = state.runs.get(caller, run).await?;
    let model = start_run::model_of(&state.tapes, caller, run).await?;
    let opened = Opened {
        run_id: run.to_string(),
        session_id: record.session.to_string(),
        attached: true,
        session_created: false,
        notes: Vec::new(),
        model: model.map(|model| model.to_string()).unwrap_or_default(),
        checkpoint: None,
    };
    Ok((opened, follower, run))
}

/// What became of a frame from the client.
enum Receipt {
    /// An input was taken.
    Input(InputAccepted),
    /// An answer to an approval was taken, or came too late.
    Answered(Box<ResolveApprovalResponse>),
    /// An answer to an approval was refused.
    Refused(ApprovalRefused),
}

impl From<Receipt> for Frame {
    fn from(receipt: Receipt) -> Self {
        match receipt {
            Receipt::Input(accepted) => Self::InputAccepted(accepted),
            Receipt::Answered(answered) => Self::ApprovalAnswered(*answered),
            Receipt::Refused(refused) => Self::ApprovalRefused(refused),
        }
    }
}

/// Both sides of one stream.
struct RunStreamTask {
    context: StreamContext,
    run: RunId,
    outgoing: mpsc::Sender<Result<RunStreamResponse, Status>>,
    /// The client can reach a person, who sees what the run asks.
    _reach: Option<ReachGuard>,
}

impl RunStreamTask {
    /// Receives and sends until the run is over, somebody leaves, or a frame is wrong.
    async fn run_to_end(self, opened: Opened, follower: TapeFollower, incoming: Streaming<RunStreamRequest>) {
        let (receipts, given) = mpsc::channel(RECEIPTS_QUEUED_MAX);
        // Held while a frame is worked on, so that the end waits for its receipt.
        let at_work = Mutex::new(());
        let ended = tokio::select! {
            biased;
            () = self.outgoing.closed() => return,
            () = self.shutdown_grace() => Err(ApiError::shutting_down()),
            refusal = self.wait_for_revocation() => Err(refusal),
            refusal = self.receive_frames(incoming, receipts, &at_work) => Err(refusal),
            sent = self.send_frames(opened, follower, given, &at_work) => sent,
        };
        if let Err(refusal) = ended {
            // Fails only when the client has left.
            let _ = self.outgoing.send(Err(status::of(&refusal))).await;
        }
    }

    /// Returns a while after the stop: what is committed by then is still sent.
    async fn shutdown_grace(&self) {
        self.context.stop.cancelled().await;
        tokio::time::sleep(LAST_ENTRIES_SPAN_MAX).await;
    }

    /// Returns once the identity would no longer be accepted.
    async fn wait_for_revocation(&self) -> ApiError {
        loop {
            tokio::time::sleep(self.heartbeat()).await;
            if let Err(refusal) = self.context.trusted() {
                return refusal;
            }
        }
    }

    fn heartbeat(&self) -> Duration {
        self.context.state.sessions.config().heartbeat.clamp(HEARTBEAT_SPAN_MIN, HEARTBEAT_SPAN_MAX)
    }
}
