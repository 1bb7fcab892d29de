//! The handles that operations use, and how their streams look.

use futures::StreamExt;
use futures::stream::BoxStream;
use palyra_runtime::GatewayRuntimeState;
use tokio::sync::{Mutex, mpsc};
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::api_error::ApiError;
use crate::daemon_facts::DaemonFacts;
use crate::running_changes::RunningChanges;

/// The messages of an operation that answers with more than one.
pub type ResponseStream<T> = BoxStream<'static, Result<T, ApiError>>;

/// Answers every operation of `palyra.v1` that takes one request.
///
/// A function has the name of its method in snake case. The transport checks the audience before, from the table in
/// [`palyra_wire::operations`].
pub struct OperationHandlers {
    pub(crate) state: GatewayRuntimeState,
    pub(crate) daemon: DaemonFacts,
    pub(crate) stop: CancellationToken,
    /// Transports answer unary operations through it.
    pub running: RunningChanges,
    /// One after the other is answered whether the daemon makes room.
    pub(crate) making_room: Mutex<()>,
}

impl OperationHandlers {
    /// Makes the operations; their streams end when `stop` is cancelled.
    #[must_use]
    pub fn new(state: GatewayRuntimeState, daemon: DaemonFacts, stop: CancellationToken) -> Self {
        Self { state, daemon, stop, running: RunningChanges::default(), making_room: Mutex::default() }
    }
}

/// Takes the messages of a stream, and a refusal that ends it.
pub(crate) type ResponseSender<T> = mpsc::Sender<Result<T, ApiError>>;

/// Answers with what `work` sends, of which `queued` messages wait at most; its refusal is the last message. It runs to its
/// end also when the client leaves, unless it looks for that itself.
pub(crate) fn respond<T: Send + 'static, F>(
    queued: usize,
    work: impl FnOnce(ResponseSender<T>) -> F,
) -> ResponseStream<T>
where
    F: Future<Output = Result<(), ApiError>> + Send + 'static,
{
    let (response_tx, steps) = mpsc::channel(queued);
    let work = work(response_tx.clone());
    let to_its_end = async move {
        if let Err(refusal) = work.await {
            // Fails only when nobody listens any more.
            let _ = response_tx.send(Err(refusal)).await;
        }
    };
    tokio::spawn(to_its_end.in_current_span());
    ReceiverStream::new(steps).boxed()
}

/// Answers as [`respond`] does, while the client listens and until the daemon stops.
pub(crate) fn respond_until<T: Send + 'static, F>(
    stop: CancellationToken,
    queued: usize,
    work: impl FnOnce(ResponseSender<T>) -> F,
) -> ResponseStream<T>
where
    F: Future<Output = Result<(), ApiError>> + Send + 'static,
{
    respond(queued, |response_tx| {
        let work = work(response_tx.clone());
        async move {
            tokio::select! {
                biased;
                () = stop.cancelled() => Err(ApiError::shutting_down()),
                () = response_tx.closed() => Ok(()),
                ended = work => ended,
            }
        }
    })
}

/// Sends the last message of a stream.
///
/// # Errors
/// The refusal that it would have been.
pub(crate) async fn send_last<T>(
    response_tx: &ResponseSender<T>,
    last: Result<T, impl Into<ApiError>>,
) -> Result<(), ApiError> {
    let last = last.map_err(Into::into)?;
    // Fails only when nobody listens any more.
    let _ = response_tx.send(Ok(last)).await;
    Ok(())
}
