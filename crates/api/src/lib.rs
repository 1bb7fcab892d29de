//! The operations of Palyra, the same for every transport: a request of a caller becomes a response or a refusal.
//!
//! Owns translation between the wire and the runtime's handles, paging and refusals. Knows no transport: who calls
//! comes with the call, proven by the transport. Decides nothing about runs and keeps no state of its own.
//!
//! Begin at [`OperationHandlers`]; each file answers the methods of one service. A transport that knows only names and
//! bytes calls [`OperationHandlers::dispatch`].

#![expect(clippy::unused_async, reason = "all operations are called alike, from one generated list")]

mod operations;
mod authorize;

mod dispatch;
mod running_changes;

pub mod start_run;
mod preview_references;
pub mod runs;
pub mod files;
mod attachments;
mod error_codes;
mod ids;
mod known_value;
mod tapes;

mod sessions;
pub mod approvals;
mod project_rules;
mod attention;
mod effects;
mod policy;
mod postures;
mod components;
mod skills;
mod vault;
mod agents;
mod models;
mod add_model;
mod usage;
mod people;
mod compactions;
mod learning;
mod memory;
mod tokens;
mod console_links;
mod proof;

mod erasure;
mod backups;
mod journal;

mod admin;
mod background;
mod budgets;
mod incidents;
mod notifications;
mod queued_tasks;
mod schedules;

mod daemon_facts;

mod reload;
mod model_changes;

mod translate;

mod api_error;

pub use api_error::ApiError;
pub use authorize::{CONFIRMATION_HEADER, admit, admit_request, authorize, confirmed, record_refusal};
pub use console_links::CONSOLE_LOGIN_PATH;
pub use daemon_facts::{ConfigFact, DaemonFacts, KeptDaemon, NeverReplaced, ReplaceDaemon, ReplacementKind};
pub use model_changes::{
    AddModelError, ConfigureModels, ExistingServer, ModelAddition, ModelChanges, ModelDraft, ModelFormat,
    NewDefault, NoModelChanges, PersistConfig, SecretDraft,
};
pub use operations::{OperationHandlers, ResponseStream};
pub use proof::checkpoint_to_wire;
pub use reload::{ReloadError, ReloadHandle, ReloadPart, ReloadReport, ReloadRequest};
pub use running_changes::RunningChanges;
pub use translate::{id, input_delivery, run_state, tape_entry};
