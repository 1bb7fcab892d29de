//! The routes of the OpenAI-compatible surface, over the runtime's handles.
//!
//! Begin at [`routes`]; then `run_start.rs` for how a request becomes a run, and `streamed.rs` and `whole.rs` for how its
//! tape becomes an answer.

pub mod services;
mod client_hints;
mod refusals;
mod openai_call;

mod recent_bodies;
mod attached_clients;
mod run_texts;
mod request_slots;
mod place_search;
mod run_start;
mod client_results;

mod streamed;
mod whole;

mod models;
mod embeddings;
mod chat;
mod responses;
pub mod routes;
