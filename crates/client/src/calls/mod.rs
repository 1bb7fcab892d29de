//! Every call of the wire as a method of [`Client`](crate::Client), one file per service.

mod call;
mod approvals;
mod effects;
mod gateway;
mod policy;
mod components;
mod skills;
mod vault;
mod sessions;
mod agents;
mod models;
mod erasure;
mod journal;
mod proof;
mod admin;

pub use approvals::{ApprovalWatch, ExportedApprovals, WatchedApproval};
pub use journal::{JournalStep, JournalWatch};
pub use models::AskProviders;
pub use policy::PolicyDiffStep;
pub use proof::{ExportedParts, ProvedEntry};
