//! OpenAI Chat Completions, and what the servers of others make of it.

pub(super) mod wire;
pub(super) mod events;
pub(super) mod errors;
pub(super) mod validate;
pub(super) mod embeddings;
