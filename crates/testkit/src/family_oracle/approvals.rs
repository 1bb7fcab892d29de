//! Approvals by a naive fold over all entries.

use std::collections::BTreeMap;

use palyra_types::approval::{ApprovalRecord, ApprovalRequested, ApprovalState};
use palyra_types::event::{ApprovalEvent, TapeEvent};
use palyra_types::tape::JournalEventRecord;
use palyra_types::{ApprovalId, Redacted};

use super::tape_entry::{TapeEntry, on_tape};

/// Returns every approval there ever was.
pub(super) fn approvals(entries: &[JournalEventRecord]) -> BTreeMap<ApprovalId, ApprovalRecord> {
    let mut approvals = BTreeMap::new();
    for at in entries.iter().filter_map(on_tape) {
        match at.event {
            TapeEvent::Approval(ApprovalEvent::Requested(requested)) => {
                approvals.entry(requested.approval).or_insert_with(|| asked(&at, requested));
            }
            TapeEvent::Approval(ApprovalEvent::Voted(voted)) => {
                if let Some(record) = pending(&mut approvals, voted.approval)
                    && !record.voters.contains(&voted.by)
                {
                    record.voters.push(voted.by);
                }
            }
            TapeEvent::Approval(ApprovalEvent::Resolved(resolved)) => {
                if let Some(record) = pending(&mut approvals, resolved.approval) {
                    record.state = resolved.state;
                    record.decided = Some(at.time);
                    record.decided_by = resolved.by;
                    record.note.clone_from(&resolved.note);
                }
            }
            _ => {}
        }
    }
    approvals
}

fn asked(at: &TapeEntry<'_>, requested: &ApprovalRequested) -> ApprovalRecord {
    ApprovalRecord {
        approval: requested.approval,
        run: at.run,
        session: at.session,
        principal: at.principal,
        effect: requested.effect,
        tape_seq: at.tape_seq,
        seq: at.seq,
        state: ApprovalState::Pending,
        risk: requested.risk,
        terms: requested.terms,
        voters: Vec::new(),
        created: at.time,
        expires: requested.expires,
        decided: None,
        decided_by: None,
        prompt: requested.prompt.clone(),
        note: Redacted::default(),
    }
}

fn pending(
    approvals: &mut BTreeMap<ApprovalId, ApprovalRecord>,
    approval: ApprovalId,
) -> Option<&mut ApprovalRecord> {
    approvals.get_mut(&approval).filter(|record| record.state == ApprovalState::Pending)
}
