//! Any tape renders to a conversation that providers accept.
