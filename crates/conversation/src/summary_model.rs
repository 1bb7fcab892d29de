//! Asks a model for a summary: once, within a span, with a bounded answer, and under the budgets of its session.
//!
//! Of the models that the latest run of the session may ask, the cheapest one that the request fits is asked.

use std::sync::Arc;

use palyra_admin::budgets::{AuxiliaryPayer, AuxiliaryRefusal, RequestOutcome};
use palyra_admin::models::candidates;
use palyra_context::compaction::CompactionTask;
use palyra_types::budget::RequestSize;
use palyra_types::compaction::SummaryRefusal;
use palyra_types::data_delimiter::DataDelimiter;
use palyra_types::model::{BYTES_PER_TOKEN_ESTIMATED, ChatMessage, ModelRef};
use palyra_types::{Content, Redacted};

use crate::auxiliary_answer::{AnswerFailure, ReservedAnswer, answer_of};
use crate::parts::ConversationPorts;

/// How much of an answer is read, as a multiple of what is taken.
const READ_SHARE: usize = 2;

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
    let reserved = match reserve(ports, task, writers).await {
        Ok(reserved) => reserved,
        Err(why) => return WrittenSummary::refused(why),
    };
    let model = Some(reserved.call.model().clone());
    let answer = answer_of(ports, reserved, task.bytes_max() * READ_SHARE).await;
    let answer = answer.map_err(|failure| match failure {
        AnswerFailure::NoAnswer => SummaryRefusal::NoAnswer,
        AnswerFailure::TooLong => SummaryRefusal::TooLong,
    });
    WrittenSummary { model, text: answer.and_then(|answer| checked(ports, task, answer)) }
}

/// Makes the request and reserves it for the model that it goes to.
async fn reserve(
    ports: &ConversationPorts,
    task: &CompactionTask,
    writers: SummaryWriters<'_>,
) -> Result<ReservedAnswer, SummaryRefusal> {
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
        Some(provider) => Ok(ReservedAnswer { call, provider, request }),
        None => {
            call.end(RequestOutcome::NotSent).await;
            Err(SummaryRefusal::NoAnswer)
        }
    }
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
