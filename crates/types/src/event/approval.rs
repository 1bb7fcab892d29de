//! Events of approvals, on the tape of their run.
//!
//! Owns the variants and their fields; stored numbers are in the registry of kinds, not here.

use crate::approval::{ApprovalRequested, ApprovalResolved, ApprovalVoted, StoredGrant};

/// A question whether a call may run, and its answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApprovalEvent {
    /// A person is asked whether a call may run.
    Requested(Box<ApprovalRequested>),
    /// One of several people whose yes is needed said yes.
    Voted(ApprovalVoted),
    /// An approval is decided.
    Resolved(ApprovalResolved),
    /// A permission that outlives its call was given with an approval.
    GrantStored(StoredGrant),
}
