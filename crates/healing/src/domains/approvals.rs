//! Approvals that cannot be decided, or whose decision had no effect. None is decided here.

use palyra_types::incident::{IncidentCause, IncidentEvidence};

use crate::facts::{ApprovalFact, ApprovalStanding};
use crate::finding::DomainLook;

/// Finds approvals that have been in a bad state for their window. That no person is reachable is one finding, however many
/// wait for a person; the facts begin with the oldest one.
pub(super) fn look(look: &mut DomainLook<'_>, approvals: &[ApprovalFact]) {
    let times = look.times;
    let mut unreachable = Vec::new();
    for approval in approvals {
        let (cause, window) = match approval.standing {
            ApprovalStanding::Pending => continue,
            ApprovalStanding::Unreachable => {
                unreachable.push(approval.subject);
                continue;
            }
            ApprovalStanding::Expired => (IncidentCause::ApprovalExpiryMissed, times.condition_window),
            ApprovalStanding::Decided => (IncidentCause::ApprovalNotContinued, times.run_window),
        };
        look.lasting(cause, approval.subject, window, IncidentEvidence::default());
    }
    look.shared(IncidentCause::ApproverUnreachable, &unreachable, times.approval_window);
}
