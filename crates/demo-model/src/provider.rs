//! The demo model as a [`ModelProvider`].
//!
//! Invariant: at most 24 pieces; with `[pace=MS]` in the input, a pause before each of them.

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use futures::stream::{self, BoxStream};
use futures::{FutureExt, StreamExt};
use palyra_ports::{ModelCapabilities, ModelInfo, ModelProvider};
use palyra_types::Content;
use palyra_types::attachment::{AttachmentBody, RenderedAttachment};
use palyra_types::model::{
    ChatMessage, FinishReason, ModelAnswer, ModelFailure, ModelFailureClass, ModelName, ModelPiece,
    ModelRequest, ProviderName, RawToolProposal, TokenUsage, ToolProposal, UsageSource,
};
use palyra_types::tool::ToolName;

use super::conversation::begin;
use super::intent::IntendedCall;
use super::pieces::{pieces, take_pace};
use super::plan::next_move;

/// The name of the provider and of its only model.
pub const DEMO: &str = "demo";

/// There is no model behind it that could be overtaxed; the bound only keeps requests handy.
const CONTEXT_TOKENS: u64 = 1_000_000;
const BYTES_PER_TOKEN: usize = 4;

/// The built-in model that needs no key, no network and no configuration.
#[derive(Debug, Clone, Copy, Default)]
pub struct DemoProvider;

impl ModelProvider for DemoProvider {
    fn name(&self) -> ProviderName {
        ProviderName::new(DEMO)
    }

    fn model_info(&self, model: &ModelName) -> ModelInfo {
        ModelInfo {
            name: model.clone(),
            context_tokens: CONTEXT_TOKENS,
            note: "built in, offline, deterministic; understands a few plain sentences, no language model"
                .to_owned(),
            capabilities: ModelCapabilities::TEXT_AND_TOOLS,
        }
    }

    fn models(&self) -> BoxFuture<'static, Result<Vec<ModelInfo>, ModelFailure>> {
        let info = self.model_info(&ModelName::new(DEMO));
        async move { Ok(vec![info]) }.boxed()
    }

    fn stream(&self, request: Arc<ModelRequest>) -> BoxStream<'static, Result<ModelPiece, ModelFailure>> {
        stream::once(async move { answer(&request) })
            .flat_map(|(pace, pieces)| {
                stream::iter(pieces).then(move |piece| async move {
                    if !pace.is_zero() {
                        tokio::time::sleep(pace).await;
                    }
                    piece
                })
            })
            .boxed()
    }
}

type PieceResults = Vec<Result<ModelPiece, ModelFailure>>;

fn answer(request: &ModelRequest) -> (Duration, PieceResults) {
    if request.model.model.as_str() != DEMO {
        return (Duration::ZERO, vec![Err(unknown_model(&request.model.model))]);
    }
    let (input, pace) = take_pace(last_input(request));
    let next = next_move(request, &input);
    let proposals: Vec<RawToolProposal> =
        next.calls.iter().enumerate().map(|(at, call)| proposal(call, next.answered + at + 1)).collect();
    let answer = ModelAnswer {
        response_id: Content::default(),
        answered_by: ModelName::new(DEMO),
        finish: if proposals.is_empty() { FinishReason::Stop } else { FinishReason::ToolCalls },
        usage: Some(estimate(request, &next.text, &proposals)),
        proposals,
        continuation: None,
    };
    let texts = pieces(&next.text).into_iter().map(|text| ModelPiece::Text(Content::new(text)));
    (pace, texts.chain([ModelPiece::Answer(answer)]).map(Ok).collect())
}

fn last_input(request: &ModelRequest) -> &str {
    match begin(&request.messages).and_then(|at| request.messages.get(at)) {
        Some(ChatMessage::User { text, .. }) => text.expose(),
        Some(ChatMessage::Assistant { .. } | ChatMessage::ToolResult { .. }) | None => "",
    }
}

fn proposal(call: &IntendedCall, number: usize) -> RawToolProposal {
    ToolProposal {
        model_call_id: Content::new(format!("demo-{number}")),
        tool: ToolName::new(call.ability.tool()),
        arguments: Content::new(serde_json::Value::Object(call.arguments.clone()).to_string()),
    }
}

fn estimate(request: &ModelRequest, text: &str, proposals: &[RawToolProposal]) -> TokenUsage {
    let tokens = |bytes: usize| u64::try_from(bytes.div_ceil(BYTES_PER_TOKEN)).unwrap_or(u64::MAX);
    let read: usize = request.messages.iter().map(read_bytes).sum();
    let written: usize = proposals.iter().map(|proposal| proposal.arguments.expose().len()).sum();
    TokenUsage {
        input_tokens: tokens(request.system.expose().len() + read),
        output_tokens: tokens(text.len() + written),
        source: UsageSource::Estimated,
        ..TokenUsage::default()
    }
}

/// Returns the bytes of a message that reach this model: of what is attached, texts only.
fn read_bytes(message: &ChatMessage) -> usize {
    match message {
        ChatMessage::User { text, attachments, .. } => {
            let bytes = |file: &RenderedAttachment| match &file.attachment.body {
                AttachmentBody::Text(_) => file.content_bytes(),
                AttachmentBody::Blob { .. } => file.attachment.name.expose().len(),
            };
            text.expose().len() + attachments.iter().map(bytes).sum::<usize>()
        }
        ChatMessage::Assistant { .. } | ChatMessage::ToolResult { .. } => message.content_bytes(),
    }
}

fn unknown_model(model: &ModelName) -> ModelFailure {
    ModelFailure {
        class: ModelFailureClass::Permanent,
        detail: Content::new(format!("the demo provider has one model, `{DEMO}`, and no `{model}`")),
        retry_after: None,
    }
}

#[cfg(test)]
mod tests;
