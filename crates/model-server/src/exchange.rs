//! What a reply takes from its request, whichever dialect it came in.

use serde_json::Value;

use super::fault::Fault;

/// A wire format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// OpenAI Chat Completions.
    Chat,
    /// Anthropic Messages.
    Messages,
    /// OpenAI Responses.
    Responses,
}

/// Whose server one of OpenAI's formats is: they differ in errors and in the name of reasoning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Vendor {
    /// OpenAI; the strictest.
    #[default]
    OpenAi,
    /// OpenRouter.
    OpenRouter,
    /// vLLM.
    Vllm,
    /// llama.cpp's server.
    LlamaCpp,
    /// Ollama.
    Ollama,
}

impl Vendor {
    /// Every vendor.
    pub const ALL: [Self; 5] = [Self::OpenAi, Self::OpenRouter, Self::Vllm, Self::LlamaCpp, Self::Ollama];

    /// Returns whether its servers have this fault at all: who serves own models sells nothing, limits no
    /// rate and judges no content. Asked for nevertheless, they speak as OpenAI does.
    #[must_use]
    pub fn has(self, fault: Fault) -> bool {
        let sells = matches!(self, Self::OpenAi | Self::OpenRouter);
        sells
            || !matches!(fault, Fault::Permission | Fault::RateLimit(_) | Fault::Quota | Fault::ContentPolicy)
    }
}

/// A request, as far as its reply depends on it.
#[derive(Debug, Clone)]
pub(super) struct ModelExchange {
    pub(super) dialect: Dialect,
    pub(super) vendor: Vendor,
    /// Numbers the reply.
    pub(super) number: usize,
    /// The model asked for.
    pub(super) model: String,
    /// Whether to stream.
    pub(super) streams: bool,
    /// Whether a stream of Chat Completions ends with usage.
    pub(super) wants_usage: bool,
    /// Whether an answer of Responses comes with its reasoning, encrypted.
    pub(super) wants_reasoning: bool,
    /// How many bytes the messages hold.
    pub(super) input_bytes: usize,
}

impl ModelExchange {
    /// Reads a request.
    pub(super) fn read(dialect: Dialect, vendor: Vendor, number: usize, body: &Value) -> Self {
        let flag = |at: &str| body.pointer(at).and_then(Value::as_bool).unwrap_or(false);
        let conversation = if dialect == Dialect::Responses { "input" } else { "messages" };
        Self {
            dialect,
            vendor,
            number,
            model: body.get("model").and_then(Value::as_str).unwrap_or_default().to_owned(),
            streams: flag("/stream"),
            wants_usage: flag("/stream_options/include_usage"),
            wants_reasoning: body["include"].to_string().contains("reasoning.encrypted_content"),
            input_bytes: body.get(conversation).map_or(0, |messages| messages.to_string().len()),
        }
    }
}
