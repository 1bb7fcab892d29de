//! Events of requests to models.
//!
//! Owns the variants, their fields and the class of each content field; stored numbers are in the registry of kinds, not here.

use super::context_plan::ContextPlan;
use super::model_routing::ModelRouting;
use crate::content_walk::ContentClass::{Bytes, Fixed, Identity, Prose};
use crate::content_walk::content_rows;
use crate::model::{
    FinishReason, ModelFailureClass, ModelRef, ProviderContinuation, TokenUsage, UsageSource,
};
use crate::{Attempt, Redacted, TapeSeq, Timestamp};

/// A request to a model and what came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelEvent {
    /// A model was asked.
    Requested(ModelRequested),
    /// The model said something.
    Text {
        /// The attempt it belongs to.
        attempt: Attempt,
        /// The words; never empty unless erased.
        text: Redacted<String>,
    },
    /// The model's provider showed some of its reasoning; never part of an answer or of later requests.
    Reasoning {
        /// The attempt it belongs to.
        attempt: Attempt,
        /// The words; never empty unless erased.
        text: Redacted<String>,
    },
    /// The next request goes to another model of the run's chain than the one before it; it follows this entry. A
    /// remark for people: the request names its model too.
    Switched {
        /// The request that goes to it.
        attempt: Attempt,
        /// Models before it in the chain whose window is too small; 0 when the model before it failed.
        passed_over: u32,
        /// Which model.
        model: Redacted<Option<ModelRef>>,
    },
    /// The model's answer is complete.
    Message(ModelMessage),
    /// An attempt ended without an answer; its text does not count.
    AttemptAbandoned {
        /// The attempt.
        attempt: Attempt,
        /// First text entry superseded; zero when it had none.
        text_from: TapeSeq,
        /// Last text entry superseded.
        text_to: TapeSeq,
        /// Why.
        cause: AbandonCause,
        /// What comes instead.
        next: NextAttempt,
        /// When it comes; `None` for at once.
        retry_at: Option<Timestamp>,
        /// What the provider said.
        detail: Redacted<String>,
    },
}

/// A model was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelRequested {
    /// The request's number within the run.
    pub attempt: Attempt,
    /// The turn it serves, from 1; a repetition serves the same turn.
    pub turn: u32,
    /// What it was shown.
    pub context: ContextPlan,
    /// Which model.
    pub model: Redacted<Option<ModelRef>>,
    /// Why this one.
    pub routing: ModelRouting,
}

/// The model's answer is complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelMessage {
    /// The request it answers.
    pub attempt: Attempt,
    /// First entry of its text; zero when it said nothing.
    pub text_from: TapeSeq,
    /// Last entry of its text.
    pub text_to: TapeSeq,
    /// Calls proposed right after this entry.
    pub proposals: u32,
    /// Why it stopped.
    pub finish: FinishReason,
    /// What it used.
    pub usage: TokenUsage,
    /// Which model answered.
    pub model: Redacted<Option<ModelRef>>,
    /// The provider's id of the response.
    pub response_id: Redacted<String>,
    /// What the provider wants back with this message in later requests.
    pub continuation: Option<ProviderContinuation>,
}

/// What comes after an attempt that was given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum NextAttempt {
    /// None that this entry announces: the run ends, stops, or goes on by its recovery.
    #[default]
    None,
    /// The same model is asked again.
    SameModel,
    /// The next model of the run's chain is asked.
    NextModel,
    /// The same model is asked with less of the conversation.
    ShorterContext,
}

/// Why an attempt was given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AbandonCause {
    /// The daemon stopped while the model was answering.
    Restart,
    /// The provider failed.
    Failure(ModelFailureClass),
    /// The run was cancelled.
    Cancelled,
}

/// Tokens that a text entry of an abandoned attempt is counted as: its text may be erased, its number stays.
const TOKENS_PER_TEXT_ENTRY_ESTIMATED: u64 = 6;

impl AbandonCause {
    /// Estimates what an attempt without an answer used, from facts alone: the tokens that it was shown, and its text entries.
    /// `None` for a provider that failed before its first word, which is taken to have used nothing.
    #[must_use]
    pub fn estimated_usage(
        self,
        context_tokens: u64,
        text_from: TapeSeq,
        text_to: TapeSeq,
    ) -> Option<TokenUsage> {
        let silent = text_from == TapeSeq::default();
        if silent && matches!(self, Self::Failure(_)) {
            return None;
        }
        let entries = if silent { 0 } else { u64::from(text_to.0.saturating_sub(text_from.0)) + 1 };
        Some(TokenUsage {
            input_tokens: context_tokens,
            output_tokens: entries * TOKENS_PER_TEXT_ENTRY_ESTIMATED,
            source: UsageSource::Estimated,
            ..TokenUsage::default()
        })
    }
}

content_rows! {
    fn model_event(walk, event: ModelEvent) {
        match event {
            ModelEvent::Requested(ModelRequested { attempt: _, turn: _, context: _, model, routing }) => {
                walk.within(model, |walk, model| {
                    walk.maybe(model, |walk, model| walk.model(Identity, "model", model));
                });
                walk.model_routing(routing);
            }
            ModelEvent::Switched { attempt: _, passed_over: _, model } => {
                walk.within(model, |walk, model| {
                    walk.maybe(model, |walk, model| walk.model(Identity, "model", model));
                });
            }
            ModelEvent::Text { attempt: _, text } | ModelEvent::Reasoning { attempt: _, text } => {
                walk.text(Prose, "text", text);
            }
            ModelEvent::Message(message) => walk.model_message(message),
            ModelEvent::AttemptAbandoned {
                attempt: _, text_from: _, text_to: _, cause: _, next: _, retry_at: _, detail,
            } => walk.text(Prose, "detail", detail),
        }
    }

    fn model_message(walk, message: ModelMessage) {
        let ModelMessage {
            attempt: _, text_from: _, text_to: _, proposals: _, finish: _, usage: _, model, response_id,
            continuation,
        } = message;
        walk.within(model, |walk, model| {
            walk.maybe(model, |walk, model| walk.model(Identity, "model", model));
        });
        walk.text(Identity, "response_id", response_id);
        walk.maybe(continuation, |walk, ProviderContinuation { model, format, body }| {
            walk.model(Identity, "continuation.model", model);
            walk.text(Fixed, "continuation.format", format);
            walk.json(Bytes, "continuation.body", body);
        });
    }
}
