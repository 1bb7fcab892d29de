//! The approvals of a run that wait for a decision.
//!
//! Owns who said yes so far, and whose word counts. What would run is the call's, in
//! [`tool_calls`](crate::tool_calls).

use std::collections::BTreeMap;

use palyra_types::approval::{ApprovalRequested, ApprovalTerms, SeparationRule};
use palyra_types::event::{ApprovalEvent, ContentDigest, TapeEvent};
use palyra_types::{ApprovalId, EffectId, PrincipalId, Timestamp};

/// The approvals that nobody has decided.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OpenApprovals {
    pending: BTreeMap<ApprovalId, PendingApproval>,
}

/// An approval that waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingApproval {
    /// Its id.
    pub approval: ApprovalId,
    /// The call.
    pub effect: EffectId,
    /// What it is bound to.
    pub binding: ContentDigest,
    /// What the rule wants.
    pub terms: ApprovalTerms,
    /// When it expires; `None` when it stays parked.
    pub expires: Option<Timestamp>,
    /// People who said yes so far.
    pub voters: Vec<PrincipalId>,
}

impl PendingApproval {
    fn new(requested: &ApprovalRequested) -> Self {
        Self {
            approval: requested.approval,
            effect: requested.effect,
            binding: requested.binding,
            terms: requested.terms,
            expires: requested.expires,
            voters: Vec::new(),
        }
    }

    /// Returns whether its time is over.
    #[must_use]
    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.expires.is_some_and(|expires| now >= expires)
    }
}

/// Returns whether `by` may decide for a run of `owner`.
pub(crate) fn is_eligible(separation: SeparationRule, owner: PrincipalId, by: PrincipalId) -> bool {
    match separation {
        SeparationRule::AnyPerson => true,
        SeparationRule::AnotherPerson => by != owner,
    }
}

impl OpenApprovals {
    /// Returns an approval that waits.
    #[must_use]
    pub fn get(&self, approval: ApprovalId) -> Option<&PendingApproval> {
        self.pending.get(&approval)
    }

    /// Returns those that wait, in order of id.
    pub fn iter(&self) -> impl Iterator<Item = &PendingApproval> {
        self.pending.values()
    }

    pub(crate) fn evolve(&mut self, event: &TapeEvent) {
        match event {
            TapeEvent::Approval(ApprovalEvent::Requested(requested)) => {
                self.pending.insert(requested.approval, PendingApproval::new(requested));
            }
            TapeEvent::Approval(ApprovalEvent::Voted(voted)) => {
                if let Some(pending) = self.pending.get_mut(&voted.approval) {
                    pending.voters.push(voted.by);
                }
            }
            TapeEvent::Approval(ApprovalEvent::Resolved(resolved)) => {
                self.pending.remove(&resolved.approval);
            }
            TapeEvent::Run(_)
            | TapeEvent::Model(_)
            | TapeEvent::Tool(_)
            | TapeEvent::Approval(ApprovalEvent::GrantStored(_))
            | TapeEvent::Unknown { .. } => {}
        }
    }
}
