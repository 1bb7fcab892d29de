//! Actors that carry runs from input to answer.
//!
//! Decisions are made below, in `run-core` and `policy`; adapters are handed in from above. What is kept in
//! memory here can be rebuilt from the journal.
//!
//! Begin at [`gateway::start`]; the road of one run goes through `session/actor.rs`, `run/actor.rs`,
//! `run/record.rs`, `run/perform/` and `tape.rs`.

#![warn(clippy::wildcard_enum_match_arm)]

pub mod caller;

pub mod gateway;

mod alarm;

mod engine;
mod asking;
mod standing_grants;
mod skill_book;
mod policy;
mod identity;
mod placeholders;

mod drain;

mod attachments;

pub mod session;

mod run;

pub mod tape;

pub mod runs;

pub mod effects;
pub mod ids;

mod run_location;
mod undo;

pub mod kept;
mod kept_erasure;

pub mod approvals;

pub mod grants;
pub mod rules;
pub mod postures;
mod shadow;
pub mod shadow_report;
mod component_error;
pub mod components;
pub mod skills;

mod jobs;
mod recovery;

pub mod access;
pub mod vault;
mod vault_error;
pub mod agents;
pub mod erasure;
pub mod journal;
pub mod model_directory;
pub mod models;
pub mod image_test;

pub mod health;

pub mod config;
pub mod error;
pub mod parts;

pub use caller::Caller;
pub use config::GatewayRuntimeConfigSnapshot;
pub use error::RequestError;
pub use gateway::GatewayRuntimeState;
pub use model_directory::ModelDirectory;
pub use parts::RuntimePorts;
pub use undo::{UndoPreview, UndoReport};
