//! Approvals that cannot be decided, or whose decision had no effect. None is decided here.

use palyra_types::incident::{IncidentCause, IncidentEvidence};

use crate::facts::{ApprovalFact, ApprovalStanding};
use crate::finding::DomainLook;

/// Finds an approval that has been in a bad state for its window.
pub(super) fn look(look: &mut DomainLook<'_>, approval: &ApprovalFact) {
    let times = look.times;
    let (cause, window) = match approval.standing {
        ApprovalStanding::Pending => return,
        ApprovalStanding::Unreachable => (IncidentCause::ApproverUnreachable, times.approval_window),
        ApprovalStanding::Expired => (IncidentCause::ApprovalExpiryMissed, times.condition_window),
        ApprovalStanding::Decided => (IncidentCause::ApprovalNotContinued, times.run_window),
    };
    look.lasting(cause, approval.subject, window, IncidentEvidence::default());
}
