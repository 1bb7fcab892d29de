//! The built-in demo model: offline, deterministic, and honest about what it is.
//!
//! Owns the understanding of a few plain sentences and the extraction of an answer from a tool's
//! output. It sees only the rendered request and never opens anything itself.
//! Invariant: the same request yields the same pieces. Begin at [`provider`].

pub mod provider;

mod plan;
mod conversation;
mod parse;
mod questions;
mod objects;
mod clauses;
mod lexicon;
mod words;
mod intent;

mod extract;
mod markdown;

mod say;
mod pieces;

pub use provider::DemoProvider;
