//! Asks a model for a summary: once, within a span, and with a bounded answer.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use futures::stream::BoxStream;
use palyra_context::compaction::CompactionTask;
use palyra_types::compaction::SummaryRefusal;
use palyra_types::data_delimiter::DataDelimiter;
use palyra_types::model::{FinishReason, ModelFailure, ModelPiece, ModelRef};
use palyra_types::{Content, Redacted};

use crate::parts::ConversationPorts;

/// How long a model may take.
const SUMMARY_SPAN_MAX: Duration = Duration::from_secs(60);
/// How much of an answer is read, as a multiple of what is taken.
const READ_SHARE: usize = 2;

/// Returns the summary of a model, if the check takes it.
pub(crate) async fn summary_of_model(
    ports: &ConversationPorts,
    task: &CompactionTask,
    model: &ModelRef,
) -> Result<Redacted<String>, SummaryRefusal> {
    let provider = ports.models.borrow().provider(model).map(Arc::clone).ok_or(SummaryRefusal::NoAnswer)?;
    let window_tokens = provider.model_info(&model.model).context_tokens;
    let lines = ports.redactor.redact(task.lines_to_keep()).text;
    let request = task.request(model.clone(), window_tokens, lines, delimiters(ports))?;
    let pieces = provider.stream(Arc::new(request));
    let deadline = ports.clock.boot().after(SUMMARY_SPAN_MAX);
    let answer = tokio::select! {
        answer = read(pieces, task.bytes_max() * READ_SHARE) => answer?,
        () = ports.clock.sleep_until(deadline) => return Err(SummaryRefusal::NoAnswer),
    };
    // Redacted before it is checked: what is recorded is what was checked.
    let answer = ports.redactor.redact(answer).text;
    let summary = ports.redactor.redact(task.check(answer.expose())?).text;
    task.check(summary.expose())?;
    Ok(summary)
}

/// Returns two nonces that no content can know.
fn delimiters(ports: &ConversationPorts) -> [DataDelimiter; 2] {
    let random = ports.entropy.bytes32();
    let mut delimiters = [DataDelimiter::default(); 2];
    for (delimiter, bytes) in delimiters.iter_mut().zip(random.chunks_exact(8)) {
        delimiter.0.copy_from_slice(bytes);
    }
    delimiters
}

async fn read(
    mut pieces: BoxStream<'static, Result<ModelPiece, ModelFailure>>,
    bytes_max: usize,
) -> Result<Content<String>, SummaryRefusal> {
    let mut text = String::new();
    while let Some(piece) = pieces.next().await {
        match piece {
            Ok(ModelPiece::Text(piece)) => {
                text.push_str(piece.expose());
                if text.len() > bytes_max {
                    return Err(SummaryRefusal::TooLong);
                }
            }
            Ok(ModelPiece::Reasoning(_)) => {}
            Ok(ModelPiece::Answer(answer)) if answer.finish == FinishReason::Stop => {
                return Ok(Content::new(text));
            }
            Ok(ModelPiece::Answer(_)) => return Err(SummaryRefusal::NoAnswer),
            Err(failure) => {
                tracing::warn!(class = ?failure.class, "a model gave no summary");
                return Err(SummaryRefusal::NoAnswer);
            }
        }
    }
    Err(SummaryRefusal::NoAnswer)
}
