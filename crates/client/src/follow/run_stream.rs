//! An open stream of a run.
//!
//! Owns our side of it. Invariant: whoever lets go of the stream ends our side too; without that the connection would
//! keep the stream, and 256 that were left would leave no room for another.

use futures::channel::oneshot;
use futures::stream::{self, Stream, StreamExt};
use palyra_wire::v1;
use tonic::{Status, Streaming};

/// What the daemon says on a stream.
pub(crate) struct RunStream {
    frames: Streaming<v1::RunStreamResponse>,
    _stays: StreamGuard,
}

/// Keeps our side open for as long as it lives.
pub(crate) struct StreamGuard(#[expect(dead_code, reason = "its drop is what counts")] oneshot::Sender<()>);

/// Returns our side of a stream: it says this, and stays until the other is dropped. An end that comes earlier could be
/// taken for leaving.
pub(crate) fn saying(
    frames: impl Iterator<Item = v1::RunStreamRequest> + Send + 'static,
) -> (impl Stream<Item = v1::RunStreamRequest> + Send + 'static, StreamGuard) {
    let (stays, left) = oneshot::channel();
    let until_left = stream::once(left).filter_map(|_left| std::future::ready(None));
    (stream::iter(frames).chain(until_left), StreamGuard(stays))
}

impl RunStream {
    pub(crate) fn new(frames: Streaming<v1::RunStreamResponse>, stays: StreamGuard) -> Self {
        Self { frames, _stays: stays }
    }

    /// Waits for what the daemon says next.
    pub(crate) async fn message(&mut self) -> Result<Option<v1::RunStreamResponse>, Status> {
        self.frames.message().await
    }
}
