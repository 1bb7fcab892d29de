//! A server of one of OpenAI's formats, apart from how a model is asked and answers.
//!
//! Owns the addresses below a base URL, the list of models and what is known of each, vectors of texts, token counts and the
//! classes of failures. Knows neither of the two formats; each adds the address where it asks a model. Begin at [`server`].

pub mod config;
pub(crate) mod server;

pub(crate) mod failure;
pub(crate) mod usage;
pub(crate) mod tools;
mod models;
mod embeddings;

pub use config::OpenAiConfig;
