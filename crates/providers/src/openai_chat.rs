//! The OpenAI Chat Completions wire format, as OpenAI and a great many other servers speak it.
//!
//! Owns rendering a request and assembling an answer from whatever such servers send. Retries nothing, follows no redirect.
//! Begin at [`provider`].

pub mod provider;

mod render;
mod plain;
pub(crate) mod assembly;

pub use provider::OpenAiChatProvider;
