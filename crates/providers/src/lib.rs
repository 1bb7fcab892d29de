//! Places where models answer: adapters of [`palyra_ports::ModelProvider`], one folder per wire format.
//!
//! Owns the translation between our request and a vendor's bytes, and what can be found out about
//! providers without changing anything. Knows no journal, no policy and no tool: a proposal is only
//! passed on. Invariant: a stream yields texts and then exactly one answer or exactly one failure.
//! Begin at [`DemoProvider`], the smallest one.

pub mod demo;
pub mod openai_chat;

mod sse;
mod http_client;
pub mod secret;

pub use demo::DemoProvider;
pub use openai_chat::{OpenAiChatConfig, OpenAiChatConfigError, OpenAiChatProvider};
pub use secret::Secret;
