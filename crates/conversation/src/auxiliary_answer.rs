//! The answer to a request beside a run: sent once, within a span, read up to a size, and its reservation ended.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::{FutureExt, StreamExt};
use palyra_admin::budgets::{AnswerProgress, AuxiliaryCall, RequestOutcome};
use palyra_ports::ModelProvider;
use palyra_types::Content;
use palyra_types::model::{FinishReason, ModelPiece, ModelRequest};

use crate::parts::ConversationPorts;

/// How long a model may take.
const ANSWER_SPAN_MAX: Duration = Duration::from_secs(60);

/// A request that is reserved and not sent yet.
pub(crate) struct ReservedAnswer {
    pub(crate) call: AuxiliaryCall,
    pub(crate) provider: Arc<dyn ModelProvider>,
    pub(crate) request: ModelRequest,
}

/// Why there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AnswerFailure {
    /// The model gave no complete answer in time.
    NoAnswer,
    /// It is longer than what is read.
    TooLong,
}

/// Sends a reserved request, and ends its reservation with what became of it. A provider that panics gives no answer.
pub(crate) async fn answer_of(
    ports: &ConversationPorts,
    reserved: ReservedAnswer,
    bytes_max: usize,
) -> Result<Content<String>, AnswerFailure> {
    let ReservedAnswer { mut call, provider, request } = reserved;
    call.sent();
    let deadline = ports.clock.boot().after(ANSWER_SPAN_MAX);
    let reading = AssertUnwindSafe(read(provider, request, bytes_max)).catch_unwind();
    let (answer, outcome) = tokio::select! {
        read = reading => read.unwrap_or((Err(AnswerFailure::NoAnswer), WITHOUT_USAGE)),
        () = ports.clock.sleep_until(deadline) => (Err(AnswerFailure::NoAnswer), WITHOUT_USAGE),
    };
    call.end(outcome).await;
    answer
}

/// The end of a request whose provider began to answer, or may have.
const WITHOUT_USAGE: RequestOutcome = RequestOutcome::Answered { usage: None };

/// Reads an answer; returns how its request ended as well.
async fn read(
    provider: Arc<dyn ModelProvider>,
    request: ModelRequest,
    bytes_max: usize,
) -> (Result<Content<String>, AnswerFailure>, RequestOutcome) {
    let mut pieces = provider.stream(Arc::new(request));
    let mut text = String::new();
    let mut progress = AnswerProgress::Nothing;
    while let Some(piece) = pieces.next().await {
        match piece {
            Ok(ModelPiece::Text(piece)) => {
                progress = AnswerProgress::Begun;
                text.push_str(piece.expose());
                if text.len() > bytes_max {
                    return (Err(AnswerFailure::TooLong), WITHOUT_USAGE);
                }
            }
            Ok(ModelPiece::Reasoning(_)) => progress = AnswerProgress::Begun,
            Ok(ModelPiece::Answer(answer)) => {
                let outcome = RequestOutcome::Answered { usage: answer.usage };
                let is_whole = answer.finish == FinishReason::Stop;
                let read = if is_whole { Ok(Content::new(text)) } else { Err(AnswerFailure::NoAnswer) };
                return (read, outcome);
            }
            Err(failure) => {
                tracing::warn!(class = ?failure.class, "a model gave no answer beside a run");
                let outcome = RequestOutcome::of_failure(failure.class, progress);
                return (Err(AnswerFailure::NoAnswer), outcome);
            }
        }
    }
    (Err(AnswerFailure::NoAnswer), WITHOUT_USAGE)
}
