//! The Anthropic Messages wire format, as Anthropic and servers compatible with it speak it.
//!
//! Owns rendering a request, assembling an answer from blocks, keeping signed reasoning so that it can be
//! handed back byte for byte, and classifying failures. Retries nothing, follows no redirect.
//! Follows <https://platform.claude.com/docs/en/api/messages>, version 2023-06-01. Begin at [`provider`].

use crate::wire_format::continuation::ContinuationForm;

pub mod config;
pub mod provider;

mod render;
pub(crate) mod assembly;
mod usage;
mod failure;
mod models;

/// The form in which reasoning is kept.
const CONTINUATION: ContinuationForm =
    ContinuationForm { name: "anthropic_messages/1", kept: &["thinking", "redacted_thinking"] };

pub use config::{AnthropicMessagesConfig, ThinkingMode};
pub use provider::AnthropicMessagesProvider;
