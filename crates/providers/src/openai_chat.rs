//! The OpenAI Chat Completions wire format, as OpenAI and a great many other servers speak it.
//!
//! Owns rendering a request, assembling an answer from whatever such servers send, vectors of texts, and classifying
//! their failures. Retries nothing, follows no redirect. Begin at [`provider`].

pub mod config;
pub mod provider;

mod render;
mod plain;
pub(crate) mod assembly;
mod usage;
mod failure;
mod models;
mod embeddings;

pub use config::OpenAiChatConfig;
pub use provider::OpenAiChatProvider;
