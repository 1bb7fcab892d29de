//! OpenAI Responses.

pub(super) mod wire;
pub(super) mod events;
pub(super) mod errors;
pub(super) mod validate;
mod items;
