//! Actors that carry runs from input to answer.
//!
//! Decisions are made below, in `run-core` and `policy`; adapters are handed in from above. What is kept in
//! memory here can be rebuilt from the journal.
//!
//! Begin at [`gateway::start`]; the road of one run goes through `session/actor.rs`, `run/actor.rs`,
//! `run/record.rs`, `run/perform/` and the crate `tape`.

#![warn(clippy::wildcard_enum_match_arm)]

pub mod gateway;

mod engine;
mod run_context;

pub mod session;

mod run;

pub mod runs;

pub mod ids;

mod run_location;
mod run_stopping;
mod undo;

pub mod kept;

pub mod approvals;

mod recovery;

mod notifications;
mod scheduled_runs;

pub mod config;
pub mod error;
pub mod parts;

pub use config::GatewayRuntimeConfigSnapshot;
pub use error::RequestError;
pub use gateway::GatewayRuntimeState;
pub use palyra_admin::Caller;
pub use palyra_admin::models::embeddings::{EmbeddingQuery, EmbeddingRefusal};
pub use palyra_context::references::{PreviewedInput, PreviewedReference, ReferenceCost};
pub use palyra_ports::model_directory::{self, ModelDirectory};
pub use palyra_tape as tape;
pub use parts::RuntimePorts;
pub use undo::{UndoPreview, UndoReport};
