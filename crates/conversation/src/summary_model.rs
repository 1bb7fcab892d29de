//! Asks a model for a summary: once, within a span, with a bounded answer, and under the budgets of its session.
//!
//! Of the models that the latest run of the session may ask, the cheapest one that the request fits is asked.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use futures::stream::BoxStream;
use palyra_admin::budgets::{
    AnswerProgress, AuxiliaryCall, AuxiliaryPayer, AuxiliaryRefusal, RequestOutcome,
};
use palyra_admin::models::candidates;
use palyra_context::compaction::CompactionTask;
use palyra_types::budget::RequestSize;
use palyra_types::compaction::SummaryRefusal;
use palyra_types::data_delimiter::DataDelimiter;
use palyra_types::model::{
    BYTES_PER_TOKEN_ESTIMATED, ChatMessage, FinishReason, ModelFailure, ModelPiece, ModelRef,
};
use palyra_types::{Content, Redacted};

use crate::parts::ConversationPorts;

/// How long a model may take.
const SUMMARY_SPAN_MAX: Duration = Duration::from_secs(60);
/// How much of an answer is read, as a multiple of what is taken.
const READ_SHARE: usize = 2;

/// An answer as it arrives.
type AnswerPieces = BoxStream<'static, Result<ModelPiece, ModelFailure>>;

/// Who may write a summary, and who pays for it.
pub(crate) struct SummaryWriters<'a> {
    /// The models, that of the session first; at least one.
    pub(crate) models: &'a [ModelRef],
    /// The window that the source was cut to.
    pub(crate) window_tokens: u64,
    /// The purses.
    pub(crate) payer: AuxiliaryPayer,
}

/// What became of a request for a summary.
pub(crate) struct WrittenSummary {
    /// The model that was asked; `None` where none was.
    pub(crate) model: Option<ModelRef>,
    /// The summary, if the check takes it.
    pub(crate) text: Result<Redacted<String>, SummaryRefusal>,
}

impl WrittenSummary {
    /// Returns that no model was asked.
    pub(crate) fn refused(why: SummaryRefusal) -> Self {
        Self { model: None, text: Err(why) }
    }
}

/// Asks for a summary.
pub(crate) async fn summary_of_model(
    ports: &ConversationPorts,
    task: &CompactionTask,
    writers: SummaryWriters<'_>,
) -> WrittenSummary {
    let ReservedSummary { call, pieces } = match reserve(ports, task, writers).await {
        Ok(reserved) => reserved,
        Err(why) => return WrittenSummary::refused(why),
    };
    let model = Some(call.model().clone());
    let answer = ask(ports, task, call, pieces).await;
    WrittenSummary { model, text: answer.and_then(|answer| checked(ports, task, answer)) }
}

/// A request for a summary that is reserved and not sent yet.
struct ReservedSummary {
    call: AuxiliaryCall,
    /// Its answer; the first poll sends it.
    pieces: AnswerPieces,
}

/// Makes the request and reserves it for the model that it goes to.
async fn reserve(
    ports: &ConversationPorts,
    task: &CompactionTask,
    writers: SummaryWriters<'_>,
) -> Result<ReservedSummary, SummaryRefusal> {
    let SummaryWriters { models, window_tokens, payer } = writers;
    let first = models.first().ok_or(SummaryRefusal::NoAnswer)?.clone();
    let lines = ports.redactor.redact(task.lines_to_keep()).text;
    let mut request = task.request(first, window_tokens, lines, delimiters(ports))?;
    let messages: usize = request.messages.iter().map(ChatMessage::content_bytes).sum();
    let bytes = (messages + request.system.expose().len()) as u64;
    let size = RequestSize {
        input_tokens: bytes.div_ceil(BYTES_PER_TOKEN_ESTIMATED),
        output_tokens_max: request.output_tokens_max.unwrap_or(u32::MAX).into(),
    };
    let candidates = candidates(&ports.models.borrow(), models, ports.clock.wall());
    let reserved = ports.budgets.reserve(payer, candidates, size).await;
    let call = reserved.map_err(|refusal| {
        tracing::info!(%refusal, "no model is asked for a summary");
        match refusal {
            AuxiliaryRefusal::OverBudget { .. } => SummaryRefusal::OverBudget,
            AuxiliaryRefusal::NoModel { .. } | AuxiliaryRefusal::NotRecorded(_) => SummaryRefusal::NoAnswer,
        }
    })?;
    request.model = call.model().clone();
    let provider = ports.models.borrow().provider(&request.model).map(Arc::clone);
    match provider {
        Some(provider) => Ok(ReservedSummary { call, pieces: provider.stream(Arc::new(request)) }),
        None => {
            call.end(RequestOutcome::NotSent).await;
            Err(SummaryRefusal::NoAnswer)
        }
    }
}

/// Sends a reserved request, and ends its reservation with what became of it.
async fn ask(
    ports: &ConversationPorts,
    task: &CompactionTask,
    mut call: AuxiliaryCall,
    pieces: AnswerPieces,
) -> Result<Content<String>, SummaryRefusal> {
    call.sent();
    let deadline = ports.clock.boot().after(SUMMARY_SPAN_MAX);
    let (answer, outcome) = tokio::select! {
        read = read(pieces, task.bytes_max() * READ_SHARE) => read,
        () = ports.clock.sleep_until(deadline) => (Err(SummaryRefusal::NoAnswer), WITHOUT_USAGE),
    };
    call.end(outcome).await;
    answer
}

/// Redacted before it is checked: the text that is recorded is the text that was checked.
fn checked(
    ports: &ConversationPorts,
    task: &CompactionTask,
    answer: Content<String>,
) -> Result<Redacted<String>, SummaryRefusal> {
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

/// The end of a request whose provider began to answer, or may have.
const WITHOUT_USAGE: RequestOutcome = RequestOutcome::Answered { usage: None };

/// Reads an answer; returns how its request ended as well.
async fn read(
    mut pieces: AnswerPieces,
    bytes_max: usize,
) -> (Result<Content<String>, SummaryRefusal>, RequestOutcome) {
    let mut text = String::new();
    let mut progress = AnswerProgress::Nothing;
    while let Some(piece) = pieces.next().await {
        match piece {
            Ok(ModelPiece::Text(piece)) => {
                progress = AnswerProgress::Begun;
                text.push_str(piece.expose());
                if text.len() > bytes_max {
                    return (Err(SummaryRefusal::TooLong), WITHOUT_USAGE);
                }
            }
            Ok(ModelPiece::Reasoning(_)) => progress = AnswerProgress::Begun,
            Ok(ModelPiece::Answer(answer)) => {
                let outcome = RequestOutcome::Answered { usage: answer.usage };
                let is_whole = answer.finish == FinishReason::Stop;
                let read = if is_whole { Ok(Content::new(text)) } else { Err(SummaryRefusal::NoAnswer) };
                return (read, outcome);
            }
            Err(failure) => {
                tracing::warn!(class = ?failure.class, "a model gave no summary");
                let outcome = RequestOutcome::of_failure(failure.class, progress);
                return (Err(SummaryRefusal::NoAnswer), outcome);
            }
        }
    }
    (Err(SummaryRefusal::NoAnswer), WITHOUT_USAGE)
}
