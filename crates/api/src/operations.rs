//! The handles that operations use, and how their streams look.

use futures::StreamExt;
use futures::stream::BoxStream;
use palyra_runtime::GatewayRuntimeState;
use tokio::sync::{Mutex, mpsc};
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::sync::CancellationToken;

use crate::api_error::ApiError;
use crate::daemon_facts::DaemonFacts;

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
    /// One after the other is answered whether the daemon makes room.
    pub(crate) making_room: Mutex<()>,
}

impl OperationHandlers {
    /// Makes the operations; their streams end when `stop` is cancelled.
    #[must_use]
    pub fn new(state: GatewayRuntimeState, daemon: DaemonFacts, stop: CancellationToken) -> Self {
        Self { state, daemon, stop, making_room: Mutex::default() }
    }
}

/// Returns what comes through a channel as the messages of an operation.
pub(crate) fn response_stream<T: Send + 'static>(
    steps: mpsc::Receiver<Result<T, ApiError>>,
) -> ResponseStream<T> {
    ReceiverStream::new(steps).boxed()
}
