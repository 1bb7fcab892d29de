//! Events of approvals, on the tape of their run.
//!
//! Owns the variants, their fields and the class of each content field; stored numbers are in the registry of kinds, not here.

use crate::approval::{
    ApprovalPromptRecord, ApprovalRequested, ApprovalResolved, ApprovalVoted, ArgumentRule, ArgumentShape,
    GrantBounds, StoredGrant,
};
use crate::content_walk::ContentClass::{Fixed, Identity, Prose};
use crate::content_walk::content_rows;

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

content_rows! {
    fn approval_event(walk, event: ApprovalEvent) {
        match event {
            ApprovalEvent::Requested(requested) => walk.approval_requested(requested),
            ApprovalEvent::Voted(ApprovalVoted { approval: _, effect: _, by: _, via: _, note }) => {
                walk.text(Prose, "note", note);
            }
            ApprovalEvent::Resolved(ApprovalResolved {
                approval: _, effect: _, state: _, by: _, via: _, edited_digest: _, edited, note,
            }) => {
                walk.maybe(edited, |walk, edited| walk.json(Prose, "edited", edited));
                walk.text(Prose, "note", note);
            }
            ApprovalEvent::GrantStored(stored) => walk.stored_grant(stored),
        }
    }

    fn approval_requested(walk, requested: ApprovalRequested) {
        let ApprovalRequested {
            approval: _, effect: _, binding: _, risk: _, terms: _, expires: _, policy_digest: _, prompt,
        } = requested;
        let ApprovalPromptRecord { tool, arguments, summary, preview, reason, unbound, asked_again } = prompt;
        walk.text(Identity, "prompt.tool", tool);
        walk.json(Prose, "prompt.arguments", arguments);
        walk.text(Prose, "prompt.summary", summary);
        walk.text(Prose, "prompt.preview", preview);
        walk.text(Prose, "prompt.reason", reason);
        walk.text(Prose, "prompt.unbound", unbound);
        walk.text(Prose, "prompt.asked_again", asked_again);
    }

    fn stored_grant(walk, stored: StoredGrant) {
        let StoredGrant {
            grant: _, principal: _, approval: _, granted_by: _, scope: _, expires: _, uses_max: _, tool,
            matcher, bounds,
        } = stored;
        walk.text(Identity, "tool", tool);
        walk.each(matcher, |walk, ArgumentRule { argument, shape }| {
            walk.text(Identity, "matcher.argument", argument);
            match shape {
                ArgumentShape::Equal(value) => walk.json(Identity, "matcher.equal", value),
                ArgumentShape::Beneath(path) => walk.text(Identity, "matcher.beneath", path),
                ArgumentShape::Origin(origin) => walk.text(Identity, "matcher.origin", origin),
                ArgumentShape::Any => {}
            }
        });
        let GrantBounds { workspace, tool_version: _, programs } = bounds;
        walk.maybe(workspace, |walk, root| walk.path(Identity, "bounds.workspace", root));
        walk.maybe(programs, |walk, digest| walk.opaque(Fixed, "bounds.programs", digest));
    }
}
