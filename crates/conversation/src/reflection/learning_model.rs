//! Asks a model what is worth remembering: once, with a small request, under the budgets of the session. Without an answer
//! only the rules find something.

use std::sync::Arc;

use palyra_admin::budgets::{AuxiliaryPayer, RequestOutcome};
use palyra_admin::models::candidates;
use palyra_learning::{
    REFLECTION_INPUT_TOKENS_MAX, REFLECTION_OUTPUT_TOKENS_MAX, ReadAnswer, ReflectedRun, read_answer,
    reflection_request,
};
use palyra_types::budget::RequestSize;
use palyra_types::data_delimiter::{DATA_RULE, DataDelimiter};
use palyra_types::model::{BYTES_PER_TOKEN_ESTIMATED, ChatMessage, ModelRef, ModelRequest};
use palyra_types::sampling::SamplingOptions;
use palyra_types::{Content, Redacted};

use crate::auxiliary_answer::{ReservedAnswer, answer_of};
use crate::parts::ConversationPorts;

/// The model that is part of the program: it only knows its tables.
const DEMO_PROVIDER: &str = "demo";
/// The origin of the data part.
const ORIGIN: &str = "conversation";
/// Bytes of an answer that are read.
const ANSWER_BYTES_MAX: usize = 8 * 1024;

/// Returns what a model found in runs; `None` where none was asked or its answer cannot be read.
pub(super) async fn reading_of_model(
    ports: &ConversationPorts,
    runs: &[ReflectedRun],
    models: &[ModelRef],
    payer: AuxiliaryPayer,
) -> Option<ReadAnswer> {
    let models: Vec<ModelRef> =
        models.iter().filter(|model| model.provider.as_str() != DEMO_PROVIDER).cloned().collect();
    let first = models.first()?.clone();
    let asked = reflection_request(runs)?;
    let mut delimiter = DataDelimiter::default();
    delimiter.0.copy_from_slice(&ports.entropy.bytes32()[..8]);
    let conversation = ports.redactor.redact(asked.conversation.clone()).text;
    let nonce = Redacted::from(u64::from_be_bytes(delimiter.0));
    let data = conversation
        .zip(nonce)
        .map(|(text, nonce)| DataDelimiter(nonce.to_be_bytes()).enclose(ORIGIN, &text));
    let instructions = format!("{}\n\n{DATA_RULE}", asked.instructions);
    let mut request = ModelRequest {
        model: first,
        system: Content::new(instructions),
        messages: vec![ChatMessage::user(data)],
        tools: Arc::default(),
        client_tools: None,
        output_tokens_max: Some(REFLECTION_OUTPUT_TOKENS_MAX),
        response_format: None,
        sampling: SamplingOptions::default(),
    };
    let messages: usize = request.messages.iter().map(ChatMessage::content_bytes).sum();
    let bytes = (messages + request.system.expose().len()) as u64;
    let input_tokens = bytes.div_ceil(BYTES_PER_TOKEN_ESTIMATED);
    if input_tokens > REFLECTION_INPUT_TOKENS_MAX {
        return None;
    }
    let size = RequestSize { input_tokens, output_tokens_max: REFLECTION_OUTPUT_TOKENS_MAX.into() };
    let found = candidates(&ports.models.borrow(), &models, ports.clock.wall());
    let call = match ports.budgets.reserve(payer, found, size).await {
        Ok(call) => call,
        Err(refusal) => {
            tracing::info!(%refusal, "no model is asked what is worth remembering");
            return None;
        }
    };
    request.model = call.model().clone();
    let provider = ports.models.borrow().provider(&request.model).map(Arc::clone);
    let Some(provider) = provider else {
        call.end(RequestOutcome::NotSent).await;
        return None;
    };
    let reserved = ReservedAnswer { call, provider, request };
    let answer = answer_of(ports, reserved, ANSWER_BYTES_MAX).await.ok()?;
    match read_answer(answer.expose(), &asked) {
        Ok(read) => {
            tracing::debug!(claims = read.claims_count(), refused = read.refused.len(), "a model answered");
            Some(read)
        }
        Err(fault) => {
            tracing::info!(%fault, "the answer of a model about what is worth remembering is not read");
            None
        }
    }
}
