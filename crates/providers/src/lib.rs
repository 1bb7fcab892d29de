//! Places where models answer: adapters of [`palyra_ports::ModelProvider`], one folder per wire format.
//!
//! Owns the translation between our request and a vendor's bytes, and what can be found out about
//! providers without changing anything. Knows no journal, no policy and no tool: a proposal is only
//! passed on. Invariant: a stream yields texts and then exactly one answer or exactly one failure.
//! Begin at [`OpenAiChatProvider`].

pub mod openai_chat;
pub mod openai_responses;
pub mod openai_server;
pub mod anthropic_messages;
pub mod wire_format;
pub mod guard;
mod provider_embeddings;
pub mod detect;

#[cfg(test)]
mod recorded;

pub mod image_models;
mod key_reference;
pub mod secret;

#[doc(hidden)]
pub mod untrusted;

pub use anthropic_messages::{AnthropicMessagesConfig, AnthropicMessagesProvider};
pub use guard::{GuardLimits, guarded};
pub use key_reference::{KeyReference, ParseKeyReferenceError, ResolveKeyError};
pub use openai_chat::OpenAiChatProvider;
pub use openai_responses::OpenAiResponsesProvider;
pub use openai_server::OpenAiConfig;
pub use provider_embeddings::ProviderEmbeddings;
pub use secret::Secret;
pub use wire_format::{LinkPrivacy, ProviderConfigError, SecretHost, Timeouts, secret_host};
