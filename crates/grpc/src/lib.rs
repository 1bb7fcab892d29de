//! The gRPC server: translates the wire to the runtime's handles and back, and nothing else.
//!
//! Decides nothing about runs and keeps no state of its own. Who calls is read from the connection
//! (`auth.rs`), never from a message; every refusal is made in `status.rs`.
//!
//! Begin at [`serve`]; the road of a run enters at `run_stream.rs`.

mod server;

mod connection;

mod auth;

mod gateway;

mod run_stream;

mod start_run;

mod files;

mod attachments;

mod runs;

mod ids;

mod tapes;

mod sessions;
mod approvals;
mod effects;
mod policy;
mod postures;
mod components;
mod skills;
mod vault;
mod agents;
mod models;
mod proof;

mod erasure;
mod journal;

mod admin;

mod daemon_facts;

mod reload;

mod limits;

mod translate;

mod status;

#[doc(hidden)]
pub mod untrusted;

pub use daemon_facts::{ConfigFact, DaemonFacts};
pub use gateway::GatewayServiceImpl;
pub use limits::ServeLimits;
pub use reload::{ReloadError, ReloadHandle, ReloadReport, ReloadRequest};
pub use server::{Listeners, ServeError, serve};
