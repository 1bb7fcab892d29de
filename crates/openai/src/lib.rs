//! The OpenAI-compatible faces of the gateway: chat completions, responses, embeddings and models.
//!
//! Owns what such clients send and read. Knows nothing of how a run works: it starts one, reads its tape, and shows of it
//! what the person reads. Tools of the gateway, their names and results never appear.
//!
//! Begin at [`request`] and [`reply`], which are pure; [`server`] has the routes over them.

pub mod error_reply;
pub mod identifiers;

pub mod request;
pub mod conversation;
pub mod call_rounds;

pub mod reply;
pub mod models;
pub mod input_items;

pub mod server;

pub use server::routes::openai_routes;
pub use server::services::OpenAiSpans;

#[cfg(test)]
mod tape_fixture;
