//! Answers that come a second time: the same one again changes nothing and is no conflict, any other comes too late.
//!
//! Invariant: nobody is told that an answer counted of which a part, such as other arguments, did not.

use palyra_admin::Caller;
use palyra_ports::read_tape::{MAX_TAPE_ENTRIES_PER_RESPONSE, MoreEntries};
use palyra_types::approval::{ApprovalDecision, ApprovalRecord, ApprovalState};
use palyra_types::event::{ApprovalEvent, TapeEvent};
use palyra_types::{Content, Redacted, StoredGrantId};

use super::{AnswerCounted, ApprovalReply, ResolvedApproval};
use crate::engine::Engine;
use crate::error::RequestError;

/// Returns the answer to a repetition, `None` when there is something to decide.
///
/// # Errors
/// [`RequestError::ApprovalDecided`] when it was decided, and not so by this person.
pub(super) async fn repeated(
    engine: &Engine,
    caller: Caller,
    record: &ApprovalRecord,
    reply: &ApprovalReply,
) -> Result<Option<ResolvedApproval>, RequestError> {
    let voted = record.voters.contains(&caller.actor.principal);
    let same = match (record.state, reply.decision) {
        (ApprovalState::Pending, ApprovalDecision::Approve) => {
            voted && reply.edited.is_none() && reply.remember.is_none()
        }
        (ApprovalState::Approved, ApprovalDecision::Approve)
        | (ApprovalState::Denied, ApprovalDecision::Deny) => {
            voted || record.decided_by == Some(caller.actor.principal)
        }
        (ApprovalState::Pending, ApprovalDecision::Deny)
        | (ApprovalState::Approved, ApprovalDecision::Deny)
        | (ApprovalState::Denied, ApprovalDecision::Approve)
        | (ApprovalState::Expired | ApprovalState::Withdrawn, _) => false,
    };
    let again = |grant| ResolvedApproval {
        record: record.clone(),
        counted: AnswerCounted::Yes,
        asked_again: None,
        grant,
    };
    match (record.state, same) {
        (ApprovalState::Pending, false) => return Ok(None),
        (ApprovalState::Pending, true) => return Ok(Some(again(None))),
        (ApprovalState::Approved | ApprovalState::Denied, true) => {
            let decisive = decisive(engine, record).await?;
            let grant = decisive.grant.filter(|_| reply.remember.is_some());
            let edited = reply.edited.as_ref().map(Content::expose);
            if decisive.edited.as_ref().map(Redacted::expose) == edited
                && grant.is_some() == reply.remember.is_some()
            {
                return Ok(Some(again(grant)));
            }
        }
        (
            ApprovalState::Approved
            | ApprovalState::Denied
            | ApprovalState::Expired
            | ApprovalState::Withdrawn,
            _,
        ) => {}
    }
    Err(RequestError::ApprovalDecided { state: record.state, by: record.decided_by })
}

/// What came with the answer that decided.
#[derive(Default)]
struct DecisiveAnswer {
    edited: Option<Redacted<String>>,
    grant: Option<StoredGrantId>,
}

/// Reads it from the tape; what is of one answer is of one commit.
async fn decisive(engine: &Engine, record: &ApprovalRecord) -> Result<DecisiveAnswer, RequestError> {
    let mut decisive = DecisiveAnswer::default();
    let (mut last, mut resolved) = (record.tape_seq, false);
    loop {
        let page = engine.ports.tapes.tape(record.run, last, MAX_TAPE_ENTRIES_PER_RESPONSE).await?;
        // A commit may lie on two pages, and not on more.
        let is_last = resolved || page.more == MoreEntries::None;
        for entry in page.entries {
            last = entry.tape_seq;
            if let TapeEvent::Approval(ApprovalEvent::Resolved(end)) = entry.event {
                if end.approval == record.approval {
                    (decisive.edited, resolved) = (end.edited, true);
                }
            } else if let TapeEvent::Approval(ApprovalEvent::GrantStored(stored)) = entry.event
                && stored.approval == record.approval
            {
                decisive.grant = Some(stored.grant);
            }
        }
        if is_last {
            return Ok(decisive);
        }
    }
}
