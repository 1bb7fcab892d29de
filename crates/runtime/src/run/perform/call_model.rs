//! Asks a model and hands its pieces to the run, which judges and records them.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures::{FutureExt, StreamExt};
use palyra_admin::models::{broken_off, check_proposals, failure};
use palyra_attachments::with_images;
use palyra_conversation::{ConversationsHandle, NewCompaction};
use palyra_policy::WantedAnswer;
use palyra_ports::{ModelProvider, ReadTape};
use palyra_types::compaction::{CompactionCause, CompactionRead};
use palyra_types::model::{ModelFailure, ModelFailureClass, ModelPiece, ModelRequest, RawModelAnswer};
use palyra_types::session::SessionRef;
use palyra_types::{Attempt, Content, Redacted, RunId};
use tokio::sync::mpsc;
use tokio::task::AbortHandle;

use crate::run_context::RunContext;

/// Pieces held between a model and its run; a model that is quicker than the journal waits.
const PIECES_MAX: usize = 64;

/// The run's end of a model request. Dropping it aborts the request.
pub(in crate::run) struct LiveModelCall {
    pub(in crate::run) attempt: Attempt,
    pub(in crate::run) request: Arc<ModelRequest>,
    pub(in crate::run) pieces: mpsc::Receiver<ModelStreamEvent>,
    task: AbortHandle,
}

/// What comes from a model.
pub(in crate::run) enum ModelStreamEvent {
    Text(Content<String>),
    Reasoning(Content<String>),
    Answered(RawModelAnswer),
    /// The provider refused the request as too large, and older runs of the session were summed up.
    Compacted(CompactionRead, Redacted<String>),
    Failed(ModelFailure),
}

impl Drop for LiveModelCall {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Starts a request; nothing of its answer counts before it is recorded.
pub(in crate::run) fn execute_run_stream_provider_request(
    run_context: &RunContext,
    session: SessionRef,
    run: RunId,
    attempt: Attempt,
    request: Arc<ModelRequest>,
) -> LiveModelCall {
    let (sender, pieces) = mpsc::channel(PIECES_MAX);
    let provider = run_context.ports.models.borrow().provider(&request.model).map(Arc::clone);
    let tapes = Arc::clone(&run_context.ports.tapes);
    let asked = Arc::clone(&request);
    let conversations =
        run_context.ports.config.borrow().compacts.then(|| run_context.ports.conversations.clone());
    let task = tokio::spawn(async move {
        let streaming = AssertUnwindSafe(stream(provider, tapes, asked, &sender)).catch_unwind();
        let failure = match streaming.await {
            Ok(ended) => ended.err(),
            Err(_panic) => {
                Some(failure(ModelFailureClass::Malformed, "the provider's adapter panicked; a bug"))
            }
        };
        if let Some(failure) = failure {
            if failure.class == ModelFailureClass::ContextExceeded
                && let Some(conversations) = conversations
                && let Some(compacted) = compacted(&conversations, session, run).await
            {
                // As below.
                let _ = sender.send(compacted).await;
            }
            // The run may have gone; then nobody wants to know.
            let _ = sender.send(ModelStreamEvent::Failed(failure)).await;
        }
    });
    LiveModelCall { attempt, request, pieces, task: task.abort_handle() }
}

/// Sums up what the next request is to be shorter by, if there is something to gain.
async fn compacted(
    conversations: &ConversationsHandle,
    session: SessionRef,
    run: RunId,
) -> Option<ModelStreamEvent> {
    let wanted = NewCompaction { session, cause: CompactionCause::Refused, actor: None, run: Some(run) };
    match conversations.compact(wanted).await {
        Ok(record) => {
            let read = CompactionRead { compaction: record.seq, upto: record.made.upto() };
            Some(ModelStreamEvent::Compacted(read, record.made.summary))
        }
        Err(error) => {
            tracing::info!(%error, "a session whose request is too large is not summed up");
            None
        }
    }
}

async fn stream(
    provider: Option<Arc<dyn ModelProvider>>,
    tapes: Arc<dyn ReadTape>,
    request: Arc<ModelRequest>,
    sender: &mpsc::Sender<ModelStreamEvent>,
) -> Result<(), ModelFailure> {
    let Some(provider) = provider else {
        return Err(failure(ModelFailureClass::Permanent, "the run's model is no longer configured"));
    };
    let mut wanted = WantedAnswer::of(&request)?;
    let sees = provider.model_info(&request.model.model).capabilities.images;
    let request = if sees { with_images(&*tapes, request).await } else { request };
    let mut pieces = provider.stream(request);
    while let Some(piece) = pieces.next().await {
        let news = match piece? {
            ModelPiece::Text(text) | ModelPiece::Reasoning(text) if text.expose().is_empty() => continue,
            ModelPiece::Reasoning(text) => ModelStreamEvent::Reasoning(text),
            ModelPiece::Text(text) => {
                wanted.hear(text.expose());
                ModelStreamEvent::Text(text)
            }
            ModelPiece::Answer(answer) => {
                check_proposals(&answer)?;
                wanted.check(&answer)?;
                let _ = sender.send(ModelStreamEvent::Answered(answer)).await;
                return Ok(());
            }
        };
        if sender.send(news).await.is_err() {
            return Ok(());
        }
    }
    Err(broken_off())
}
