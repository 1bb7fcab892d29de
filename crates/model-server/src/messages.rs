//! Anthropic Messages.

pub(super) mod wire;
pub(super) mod events;
pub(super) mod errors;
pub(super) mod validate;
mod conversation;
mod blocks;
mod verdict;
