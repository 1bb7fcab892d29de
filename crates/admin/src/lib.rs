//! What people decide outside of runs: secrets, skills, components, rules and settings, grants, tokens, memory, erasures.
//!
//! Owns these decisions, the care of the journal, of models and of the daemon's health, what models used, who may make them,
//! what runs read of them ([`AdminViews`]), and the reader of what waits for a person ([`attention`]). Knows no run: ending one
//! and forgetting what was remembered of erased content are asked for through [`erasure::RunStopper`] and
//! [`ErasureSubscriber`]. Begin at [`AdminHandles`].

#![warn(clippy::wildcard_enum_match_arm)]

pub mod access;
pub mod agents;
pub mod backups;
pub mod approval_page;
pub mod attention;
pub mod budgets;
pub mod components;
pub mod erasure;
pub mod grants;
pub mod healing;
pub mod health;
pub mod image_test;
pub mod journal;
pub mod memories;
pub mod models;
pub mod pending_approvals;
pub mod rules;
pub mod runtime_config;
pub mod postures;
pub mod prices;
pub mod project_rules;
pub mod shadow_report;
pub mod skills;
pub mod upkeep;
pub mod usage;
pub mod vault;

mod caller;
mod component_error;
mod erasure_exclusion;
mod erasure_subscriber;
mod identity;
mod incidents;
mod kept_erasure;
mod lost_jobs;
mod occurrence_taints;
mod policy;
mod queued_tasks;
mod shadow;
mod skill_registry;
mod standing_grants;
mod vault_error;

mod error;
mod handles;
mod parts;
mod views;

pub use caller::{CallConfirmation, Caller};
pub use erasure_exclusion::{ErasureExclusion, NoErasure};
pub use erasure_subscriber::ErasureSubscriber;
pub use error::{AdminError, OpenError};
pub use handles::AdminHandles;
pub use identity::{check_identity, check_short_text, unless_secret};
pub use lost_jobs::doubt_lost_jobs;
pub use occurrence_taints::{OccurrenceTaints, occurrence_key};
pub use parts::{AdminPorts, MemoryPorts};
pub use policy::PolicyInForce;
pub use shadow::{Shadow, ShadowCounting};
pub use skill_registry::{SkillRegistry, digest_of as skill_digest, tools_left};
pub use standing_grants::StandingGrants;
pub use views::AdminViews;
