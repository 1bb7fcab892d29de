//! Requests of clients, from JSON to what they ask for.
//!
//! Owns which members are used, which are accepted and ignored, and which are refused with their name.

mod fields;

pub mod client_message;
mod content_parts;
mod answer_format;
pub mod offered_tools;
pub mod requested_model;
pub mod sampling;

pub mod chat_request;
mod response_items;
pub mod response_request;

pub mod embedding_request;
