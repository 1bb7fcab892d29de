//! Whether what runs is what was allowed: by policy as it was proposed, or by a person as they were asked.

use palyra_run_core::Grant;
use palyra_types::approval::ApprovalState;
use palyra_types::event::{ApprovalEvent, ContentDigest, TapeEvent, ToolEvent};
use palyra_types::tape::OrchestratorTapeRecord;
use palyra_types::tool::ToolConduct;
use palyra_types::{ApprovalId, EffectId};

/// What a tape says about why a call may run.
#[derive(Default)]
struct CallPermission {
    wants_approval: bool,
    conduct: ToolConduct,
    /// The arguments that the person was shown last.
    shown: String,
    asked: Option<ApprovalId>,
    binding: ContentDigest,
    approved: Option<ApprovalId>,
    edited: Option<String>,
}

impl CallPermission {
    fn push(&mut self, effect: EffectId, event: &TapeEvent) {
        if let TapeEvent::Tool(ToolEvent::Decided(decided)) = event
            && decided.effect == effect
        {
            self.wants_approval |= decided.ask.is_some();
            self.conduct = decided.conduct;
        } else if let TapeEvent::Approval(ApprovalEvent::Requested(asked)) = event
            && asked.effect == effect
        {
            self.asked = Some(asked.approval);
            self.binding = asked.binding;
            self.shown.clone_from(asked.prompt.arguments.expose());
            self.edited = None;
        } else if let TapeEvent::Approval(ApprovalEvent::Resolved(resolved)) = event
            && resolved.effect == effect
        {
            let approved = resolved.state == ApprovalState::Approved;
            self.approved = approved.then_some(resolved.approval);
            self.edited = resolved.edited.as_ref().map(|edited| edited.expose().clone());
        }
    }
}

/// Returns what is wrong with the permission behind a grant.
pub(super) fn complaint(tape: &[OrchestratorTapeRecord], grant: &Grant) -> Option<&'static str> {
    let mut permission = CallPermission::default();
    tape.iter().for_each(|entry| permission.push(grant.effect(), &entry.event));
    if !permission.wants_approval {
        return None;
    }
    let wanted = permission.edited.as_ref().unwrap_or(&permission.shown);
    let prepared = permission.conduct == ToolConduct::Prepared;
    if permission.approved.is_none() {
        Some("runs, which nobody approved")
    } else if permission.approved != permission.asked {
        Some("runs by an approval that was not asked last")
    } else if wanted != grant.arguments().expose() {
        Some("runs with arguments that nobody saw")
    } else if prepared && permission.edited.is_none() && permission.binding != grant.plan().binding {
        Some("runs by a plan that nobody saw")
    } else {
        None
    }
}
