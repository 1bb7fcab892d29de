//! Calls that do more than send one request: streams, ids, checks of the response, one file per service.
//!
//! Every other operation is [`Client::call`](crate::Client::call) with its request.

mod call;
mod operation;
mod approvals;
mod effects;
mod gateway;
mod policy;
mod vault;
mod sessions;
mod agents;
mod models;
mod erasure;
mod journal;
mod proof;
mod admin;
mod notifications;

pub use approvals::{ApprovalWatch, ExportedApprovals, WatchedApproval};
pub use journal::{JournalStep, JournalWatch};
pub use models::AskProviders;
pub use notifications::NotificationWatch;
pub use operation::OperationMessages;
pub use policy::PolicyDiffStep;
pub use proof::{ExportedParts, ProvedEntry};
pub use sessions::ActiveRun;
