//! Stored grants, and whether what ran by one is what it was given for.

use std::collections::BTreeMap;

use palyra_types::approval::{ArgumentShape, GrantScope, StoredGrant};
use palyra_types::event::{ApprovalEvent, DecidedBy, RunEvent, TapeEvent, ToolEvent, ToolProposed};
use palyra_types::tape::OrchestratorTapeRecord;
use palyra_types::{SessionId, StoredGrantId};

/// The grants of a story.
#[derive(Default)]
pub(super) struct Grants {
    given: BTreeMap<StoredGrantId, (StoredGrant, u32)>,
}

impl Grants {
    /// Takes the next entry of a run, whose earlier ones are `tape`; returns what is wrong with a use.
    pub(super) fn take(
        &mut self,
        tape: &[OrchestratorTapeRecord],
        session: SessionId,
        event: &TapeEvent,
    ) -> Option<String> {
        if let TapeEvent::Approval(ApprovalEvent::GrantStored(stored)) = event {
            self.given.insert(stored.grant, (stored.clone(), 0));
            return None;
        }
        let TapeEvent::Tool(ToolEvent::Decided(decided)) = event else { return None };
        let DecidedBy::Grant(grant) = decided.decided_by else { return None };
        let proposed = tape.iter().find_map(|entry| {
            let TapeEvent::Tool(ToolEvent::Proposed(proposed)) = &entry.event else { return None };
            (proposed.effect == decided.effect).then_some(proposed)
        });
        let Some((stored, uses)) = self.given.get_mut(&grant) else {
            return Some(format!("a call runs by grant {grant}, which nobody gave"));
        };
        *uses += 1;
        let fits = proposed.is_some_and(|proposed| covers(stored, proposed)) && holds_in(stored, tape);
        if !fits || matches!(stored.scope, GrantScope::Session(only) if only != session) {
            Some(format!("grant {grant} covers a call that it was not given for"))
        } else if stored.uses_max.is_some_and(|most| *uses > most) {
            Some(format!("grant {grant} is used {uses} times"))
        } else {
            None
        }
    }
}

/// Whether the run works in the folder that a grant is bound to.
fn holds_in(stored: &StoredGrant, tape: &[OrchestratorTapeRecord]) -> bool {
    let root = tape.iter().find_map(|entry| {
        let TapeEvent::Run(RunEvent::Started(started)) = &entry.event else { return None };
        Some(&started.workspace_root)
    });
    stored.scope == GrantScope::Everywhere || (root.is_some() && stored.bounds.workspace.as_ref() == root)
}

/// Clients write no rules of their own, so every argument has to be what it was.
fn covers(stored: &StoredGrant, proposed: &ToolProposed) -> bool {
    let arguments: Option<BTreeMap<String, serde_json::Value>> =
        serde_json::from_str(proposed.arguments.expose()).ok();
    let equal = stored.matcher.iter().map(|rule| {
        let ArgumentShape::Equal(value) = &rule.shape else { return None };
        Some((rule.argument.expose().clone(), value.expose().clone()))
    });
    let equal: Option<BTreeMap<String, String>> = equal.collect();
    let arguments = arguments
        .map(|arguments| arguments.into_iter().map(|(name, value)| (name, value.to_string())).collect());
    stored.tool.expose() == proposed.tool.expose() && equal.is_some() && arguments == equal
}
