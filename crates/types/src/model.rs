//! What travels between a run and a model: the request, the pieces of an answer, and the ways to fail.
//!
//! These are our shapes. A provider's wire format is rendered from them and never stored.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::attachment::RenderedAttachment;
use crate::client_tool::ClientToolOffer;
use crate::data_delimiter::DataDelimiter;
use crate::sampling::SamplingOptions;
use crate::tool::{ToolCatalog, ToolName};
use crate::{Content, ErrorCode, Redacted};

macro_rules! name {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Wraps a name.
            #[must_use]
            pub fn new(name: &str) -> Self {
                Self(name.into())
            }

            /// Returns the name.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

name!(
    /// The operator's name for a configured provider, such as `demo` or `openai`.
    ProviderName
);
name!(
    /// A model's name as its provider knows it.
    ModelName
);

/// Names a model at a provider; written `provider/model`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ModelRef {
    /// The configured provider.
    pub provider: ProviderName,
    /// The model there.
    pub model: ModelName,
}

impl ModelRef {
    /// Makes a reference from its two names.
    #[must_use]
    pub fn new(provider: &str, model: &str) -> Self {
        Self { provider: ProviderName::new(provider), model: ModelName::new(model) }
    }

    /// Reads `provider/model`; the model's own name may contain slashes. `None` when a part is empty, and for `provider/*`,
    /// which lists write for models that are not known.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (provider, model) = text.split_once('/')?;
        (!provider.is_empty() && !model.is_empty() && model != "*").then(|| Self::new(provider, model))
    }
}

impl fmt::Display for ModelRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.provider, self.model)
    }
}

/// A name of a model is of the configuration, or was checked where an answer comes in.
impl From<Option<ModelRef>> for Redacted<Option<ModelRef>> {
    fn from(name: Option<ModelRef>) -> Self {
        Self::of_name(name)
    }
}

/// Names of models are of the configuration.
impl From<Vec<ModelRef>> for Redacted<Vec<ModelRef>> {
    fn from(names: Vec<ModelRef>) -> Self {
        Self::of_name(names)
    }
}

/// Bytes that one token is taken for.
pub const BYTES_PER_TOKEN_ESTIMATED: u64 = 4;

/// Pairs a tool call with its result inside one request. Made by the renderer, unique within the request.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallId(pub String);

/// A tool call as the history shows it to a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenderedCall {
    /// Pairs it with its [`ChatMessage::ToolResult`].
    pub call: CallId,
    /// The tool, as the model named it.
    pub tool: ToolName,
    /// The arguments: JSON text, always an object (an unreadable one is rendered as `{}`).
    pub arguments: Redacted<String>,
}

/// One message of a request, oldest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChatMessage {
    /// Said by the person.
    User {
        /// The words.
        text: Redacted<String>,
        /// Files that came with them.
        attachments: Vec<RenderedAttachment>,
        /// When it was said, in words of the person's time zone; `None` where that is not known.
        said: Option<Arc<str>>,
    },
    /// Said by the model, with the calls it proposed.
    Assistant {
        /// The words; may be empty when there are calls.
        text: Redacted<String>,
        /// Calls in the order proposed. Each is answered by exactly one later `ToolResult`.
        calls: Vec<RenderedCall>,
        /// What its provider wants back with it.
        continuation: Option<Arc<ProviderContinuation>>,
    },
    /// What became of a call.
    ToolResult {
        /// The call it answers.
        call: CallId,
        /// The tool.
        tool: ToolName,
        /// The output, or the reason why there is none.
        text: Redacted<String>,
        /// Whether the tool succeeded.
        status: ToolResultStatus,
        /// The tags around the text where a model reads it.
        delimiter: DataDelimiter,
    },
}

impl ModelRequest {
    /// Returns whether there is something that the model can call.
    #[must_use]
    pub fn offers_calls(&self) -> bool {
        !self.tools.is_empty() || self.client_tools.as_ref().is_some_and(|offer| !offer.tools.is_empty())
    }

    /// Returns how its words are chosen, without the number of calls where there is nothing to call: servers refuse it then.
    #[must_use]
    pub fn usable_sampling(&self) -> SamplingOptions {
        let calls_per_answer = self.sampling.calls_per_answer.filter(|_| self.offers_calls());
        SamplingOptions { calls_per_answer, ..self.sampling.clone() }
    }
}

impl ChatMessage {
    /// Makes a person's message without files.
    #[must_use]
    pub fn user(text: Redacted<String>) -> Self {
        Self::User { text, attachments: Vec::new(), said: None }
    }

    /// Returns a person's words as a model reads them: with the time before them, where it is known.
    #[must_use]
    pub fn words_with_time<'a>(words: &'a str, said: Option<&str>) -> Cow<'a, str> {
        match said {
            Some(said) if !words.is_empty() => format!("[{said}]\n{words}").into(),
            Some(_) | None => words.into(),
        }
    }

    /// Returns a rough size in bytes of what a model will read.
    #[must_use]
    pub fn content_bytes(&self) -> usize {
        match self {
            Self::User { text, attachments, said } => {
                let files = attachments.iter().map(RenderedAttachment::content_bytes).sum::<usize>();
                text.expose().len() + files + said.as_ref().map_or(0, |said| said.len() + 3)
            }
            Self::Assistant { text, calls, continuation } => {
                let calls = calls.iter().map(|c| c.tool.as_str().len() + c.arguments.expose().len() + 32);
                let continuation = continuation.as_ref().map_or(0, |kept| kept.body.expose().len());
                text.expose().len() + calls.sum::<usize>() + continuation
            }
            Self::ToolResult { text, .. } => text.expose().len() + 32 + DataDelimiter::BYTES_MAX,
        }
    }
}

/// Whether a tool result tells of success.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolResultStatus {
    /// The tool did what was asked.
    Succeeded,
    /// It failed, was denied, was cancelled, or nobody knows.
    Failed,
    /// A person denied the call. The text has their words and nothing of others, so a model reads it as words of a person
    /// and not as data.
    DeniedByPerson,
}

/// Everything a provider needs for one answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelRequest {
    /// Which model.
    pub model: ModelRef,
    /// Instructions of the system and of the agent.
    pub system: Content<String>,
    /// The conversation, oldest first, calls and results paired.
    pub messages: Vec<ChatMessage>,
    /// The tools on offer; may be empty.
    pub tools: Arc<ToolCatalog>,
    /// The functions of a client on offer, in place of tools.
    pub client_tools: Option<Arc<ClientToolOffer>>,
    /// Cap on the answer, in tokens; `None` leaves it to the provider.
    pub output_tokens_max: Option<u32>,
    /// What the final answer has to look like; `None` for free text.
    pub response_format: Option<ResponseFormat>,
    /// How its words are chosen.
    pub sampling: SamplingOptions,
}

/// What a structured answer has to look like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResponseFormat<T = Redacted<Arc<str>>> {
    /// A JSON Schema (2020-12) as JSON text; always an object.
    pub schema: T,
}

/// What a provider gave with an answer and wants back with it unchanged, such as signed reasoning.
///
/// Opaque to all but the adapter that made it, which gets it back byte for byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderContinuation<T = Redacted<String>> {
    /// The model that gave it; others do not get it.
    pub model: ModelRef,
    /// The adapter's name for the form of `body`, such as `anthropic_messages/1`.
    pub format: String,
    /// What the adapter wants back; at most [`CONTINUATION_BYTES_MAX`].
    pub body: T,
}

/// Bytes of a [`ProviderContinuation`], at most.
pub const CONTINUATION_BYTES_MAX: usize = 1024 * 1024;

/// Proposals of one answer, at most: they are recorded with it in one commit.
pub const PROPOSALS_MAX: usize = 64;

/// Bytes of all arguments of one answer, at most.
pub const ARGUMENTS_BYTES_MAX: usize = 8 * 1024 * 1024;

/// A call the model wants, not yet judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolProposal<T = Redacted<String>> {
    /// The model's own id of the call: informative, never a key.
    pub model_call_id: T,
    /// The tool it named.
    pub tool: ToolName,
    /// The arguments as it wrote them; JSON text, possibly malformed.
    pub arguments: T,
}

/// Why a model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FinishReason {
    /// It was done.
    Stop,
    /// It reached the cap on output.
    Length,
    /// It wants tools.
    ToolCalls,
    /// A filter of the provider cut it off.
    ContentFilter,
    /// The provider said something else.
    Other,
}

/// Whether token counts come from the provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum UsageSource {
    /// The provider counted.
    Reported,
    /// We estimated from bytes.
    #[default]
    Estimated,
}

/// Tokens used by one answer, or summed over a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct TokenUsage {
    /// Tokens read, cached ones included.
    pub input_tokens: u64,
    /// Of those, read from the provider's cache.
    pub cached_input_tokens: u64,
    /// Tokens written, reasoning included.
    pub output_tokens: u64,
    /// Of those, reasoning that is not shown.
    pub reasoning_tokens: u64,
    /// Who counted.
    pub source: UsageSource,
}

impl TokenUsage {
    /// Returns the sum; `Reported` only if both were.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            input_tokens: self.input_tokens.saturating_add(other.input_tokens),
            cached_input_tokens: self.cached_input_tokens.saturating_add(other.cached_input_tokens),
            output_tokens: self.output_tokens.saturating_add(other.output_tokens),
            reasoning_tokens: self.reasoning_tokens.saturating_add(other.reasoning_tokens),
            source: match (self.source, other.source) {
                (UsageSource::Reported, UsageSource::Reported) => UsageSource::Reported,
                (UsageSource::Estimated, _) | (_, UsageSource::Estimated) => UsageSource::Estimated,
            },
        }
    }
}

/// The end of a complete answer. Its text was delivered as pieces before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelAnswer<T = Redacted<String>> {
    /// The provider's id of the response; may be empty.
    pub response_id: T,
    /// The model that answered, as the provider names it.
    pub answered_by: ModelName,
    /// Why it stopped.
    pub finish: FinishReason,
    /// What it used; `None` when the provider did not say.
    pub usage: Option<TokenUsage>,
    /// The calls it wants, in its order.
    pub proposals: Vec<ToolProposal<T>>,
    /// What the provider wants back with this answer in later requests.
    pub continuation: Option<ProviderContinuation<T>>,
}

/// An answer as a provider gives it.
pub type RawModelAnswer = ModelAnswer<Content<String>>;

/// A call as a provider gives it.
pub type RawToolProposal = ToolProposal<Content<String>>;

/// One piece of a streamed answer: any number of texts and reasonings, then exactly one answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelPiece {
    /// Some more text; never empty.
    Text(Content<String>),
    /// Some more of the reasoning that the provider shows beside its answer; never empty, never part of it.
    Reasoning(Content<String>),
    /// The end.
    Answer(RawModelAnswer),
}

/// The classes of failure at a model provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ModelFailureClass {
    /// The credential was refused.
    Auth,
    /// The credential may not use this model.
    Permission,
    /// Too many requests; may name a pause.
    RateLimit,
    /// The account's quota is used up.
    Quota,
    /// The provider failed for the moment (5xx, overloaded).
    Transient,
    /// The request is refused for good (unknown model, bad request).
    Permanent,
    /// The request is larger than the window.
    ContextExceeded,
    /// A content policy refused it.
    ContentPolicy,
    /// The answer does not follow its own format, or ended before its end.
    Malformed,
    /// No connection, or it broke.
    Network,
    /// Silence for too long.
    Timeout,
}

impl ModelFailureClass {
    /// Returns the stable code shown to clients.
    #[must_use]
    pub fn code(self) -> ErrorCode {
        match self {
            Self::Auth => ErrorCode::ModelAuth,
            Self::Permission => ErrorCode::ModelPermission,
            Self::RateLimit => ErrorCode::ModelRateLimited,
            Self::Quota => ErrorCode::ModelQuota,
            Self::Transient => ErrorCode::ModelTransient,
            Self::Permanent => ErrorCode::ModelPermanent,
            Self::ContextExceeded => ErrorCode::ModelContextExceeded,
            Self::ContentPolicy => ErrorCode::ModelContentPolicy,
            Self::Malformed => ErrorCode::ModelMalformed,
            Self::Network => ErrorCode::ModelNetwork,
            Self::Timeout => ErrorCode::ModelTimeout,
        }
    }
}

/// Why a model request yielded no complete answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("model request failed: {class:?}")]
pub struct ModelFailure<T = Content<String>> {
    /// The class, which decides what happens next.
    pub class: ModelFailureClass,
    /// What the provider said, bounded to 2 KiB; content, so not part of the error's own text.
    pub detail: T,
    /// The pause the provider asked for.
    pub retry_after: Option<Duration>,
}

/// A failure as a person may see it: providers quote what they were sent.
pub type CleanedFailure = ModelFailure<Redacted<String>>;
