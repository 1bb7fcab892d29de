//! The tools that ask servers of the open network.
//!
//! Owns their descriptions, what a model may say in a request, and how an answer becomes text. Knows no socket: it asks
//! through the port, and whom that reaches is the guarded dialer's to say.
//!
//! Invariant: what a server said stands in a fence that it cannot end, and nothing of it is told in a tool's own voice.
//! Begin at [`WebTools`].

mod web;

mod http_fetch;
mod http_send;
mod prepare;

mod request;
mod answer;
mod text;
mod clean;
mod fence;

mod failure;

pub use prepare::SentAsOf;
pub use web::{FetcherOf, WebParts, WebTools, tool_specs};
