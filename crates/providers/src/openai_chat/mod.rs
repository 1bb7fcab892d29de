//! The OpenAI Chat Completions wire format, as OpenAI and a great many other servers speak it.
//!
//! Owns rendering a request, assembling an answer from whatever such servers send, and classifying
//! their failures. Retries nothing, follows no redirect. Begin at [`provider`].

pub mod config;
pub mod provider;

mod link;
mod render;
mod answer_reader;
mod assembly;
mod usage;
mod failure;
mod retry_after;
mod models;

pub use config::{OpenAiChatConfig, OpenAiChatConfigError};
pub use provider::OpenAiChatProvider;
