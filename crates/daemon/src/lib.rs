//! The daemon: reads its configuration, builds the floors, serves, and stops in good order.
//!
//! The only crate that knows which adapter stands behind which port. Begin at [`serve`].

pub mod serve;

pub mod config;
mod trusted_place;

mod check_configuration;

mod wiring;

mod tool_setup;
mod host_sandbox;
mod egress;

mod history;
mod artifact_files;
mod backups;
mod spare_files;

mod models;
mod model_keys;
mod keyless_provider;
mod model_answers;
mod first_model;
mod model_config;
mod notifications;
mod own_model;
mod replacement;

mod policies;
mod examine_policies;

mod prices;

mod workspaces;

mod components;
mod skills;

mod system;

mod idle_memory;
mod journal_jobs;
mod journal_watch;
mod lock_watch;

mod state_lock;

mod readiness;

mod refusal;

mod listeners;
mod http_listener;
mod transports;

mod reload;
mod edited_files;

mod stop;

mod service_notices;

mod logging;

mod secrets;
mod vault;

pub use check_configuration::{CheckVerdict, ConfigFinding, check_configuration};
pub use examine_policies::{ExaminedPolicies, PolicyExamination, examine_policies, shipped_policies};
pub use host_sandbox::start_confined;
pub use own_model::{OwnModel, model_variables, own_model};
pub use serve::{ServeArgs, process_environment, serve, serve_with_tools};
pub use tool_setup::{ToolContext, ToolSetup};
