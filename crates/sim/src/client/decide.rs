//! What a client says to approvals, and what it makes of the answers.

use palyra_runtime::approvals::{
    AnswerCounted, ApprovalReply, RememberRequest, RememberScope, ResolvedApproval,
};
use palyra_runtime::{Caller, RequestError};
use palyra_types::access::ActorIdentity;
use palyra_types::approval::{ApprovalDecision, ApprovalState};
use palyra_types::{ApprovalId, PrincipalId, RunId};

use super::ConnectedClient;
use super::speak::{PATIENCE_TURNS_MAX, explain, leave_after};
use crate::dice::ScenarioRandom;
use crate::fault::Fault;

/// Others whose yes a rule may want, by their numbers; they come over the same transport as everybody.
const OTHERS: u64 = 2;

/// Decides one of the approvals that wait, if any does: mostly with a yes.
pub(super) async fn decide_something(connected: &ConnectedClient) {
    let dice = connected.client.dice();
    let pending: Vec<(RunId, ApprovalId)> = connected.client.world.oracle().pending_approvals();
    if pending.is_empty() || connected.client.is_stranger() {
        return;
    }
    let (run, approval) = pending[dice.index(pending.len())];
    let reply = some_reply(&dice);
    let who = who(connected, dice.below(1 + OTHERS));
    decide(connected, who, run, approval, reply).await;
}

/// Returns the person that a client speaks for: its own, or another.
fn who(connected: &ConnectedClient, number: u64) -> Caller {
    match number {
        0 => connected.caller,
        other => Caller {
            actor: ActorIdentity { principal: PrincipalId::from_parts(other, 77), ..connected.caller.actor },
            ..connected.caller
        },
    }
}

/// Decides everything that a run waits for, by one person after the other until enough have said so.
pub(super) async fn decide_all(connected: &ConnectedClient, run: RunId) {
    let pending = connected.client.world.oracle().pending_approvals();
    for (_, approval) in pending.into_iter().filter(|(waiting, _)| *waiting == run) {
        let dice = connected.client.dice();
        let (reply, first) = (some_reply(&dice), dice.below(1 + OTHERS));
        for number in 0..=OTHERS {
            let state = connected.client.world.oracle().approval_state(run, approval);
            if state == Some(ApprovalState::Pending) {
                let reply = ApprovalReply { edited: None, ..reply.clone() };
                let who = who(connected, (first + number) % (1 + OTHERS));
                decide(connected, who, run, approval, reply).await;
            }
        }
    }
}

fn some_reply(dice: &ScenarioRandom) -> ApprovalReply {
    let plain = ApprovalReply::plain(ApprovalDecision::Approve);
    match dice.below(10) {
        0 | 1 => ApprovalReply { note: "no".into(), ..ApprovalReply::plain(ApprovalDecision::Deny) },
        2 => ApprovalReply { edited: Some(format!("{{\"n\":{}}}", dice.below(100)).into()), ..plain },
        3 | 4 => {
            let scope = if dice.below(2) == 0 { RememberScope::Session } else { RememberScope::Principal };
            let remember = RememberRequest { scope, expires: None, uses_max: Some(2), rules: Vec::new() };
            ApprovalReply { remember: Some(remember), ..plain }
        }
        _ => plain,
    }
}

async fn decide(
    connected: &ConnectedClient,
    who: Caller,
    run: RunId,
    approval: ApprovalId,
    reply: ApprovalReply,
) {
    let client = &connected.client;
    let world = &client.world;
    let phase = world.oracle().phase_of(run);
    world.struck(Fault::Decide, phase);
    if world.strikes(Fault::WorldChanges, phase) {
        world.outside().change_otherwise();
    }
    let decision = reply.decision;
    let lead = reply.remember.is_some().then(|| world.clock_lead());
    world.note(format_args!("> {} for {} {approval} {decision:?}", client.name(), who.actor.principal));
    let patience = world.strikes(Fault::CallerGone, phase).then(|| client.dice().below(PATIENCE_TURNS_MAX));
    let answer = tokio::select! {
        biased;
        answer = connected.gateway.waiting.approvals.resolve(who, approval, reply) => answer,
        () = leave_after(patience) => return,
    };
    world.note(format_args!("< {} {approval} {:?}", client.name(), answer.as_ref().map(|told| told.counted)));
    match answer {
        Ok(told) => note_answer(connected, who, run, &told),
        Err(RequestError::ApprovalDecided { state, .. }) if state != ApprovalState::Pending => {}
        Err(RequestError::ApproverNotEligible)
            if world.has_policy_changed()
                || !world.oracle().may_decide(run, approval, who.actor.principal) => {}
        Err(RequestError::ClockBehind { .. }) if world.is_clock_behind() => {}
        // The clock was set ahead between the question and its answer: the grant would be over before it begins.
        Err(RequestError::InvalidArgument { .. }) if lead.is_some_and(|lead| lead < world.clock_lead()) => {}
        // A rule that wants another yes each time takes no grant.
        Err(RequestError::InvalidArgument { .. })
            if lead.is_some()
                && (!world.oracle().takes_grants(run, approval) || world.has_policy_changed()) => {}
        Err(error) => explain(client, &error),
    }
}

/// What one is told must be in the journal.
fn note_answer(connected: &ConnectedClient, who: Caller, run: RunId, told: &ResolvedApproval) {
    let mut oracle = connected.client.world.oracle();
    let (approval, state) = (told.record.approval, told.record.state);
    let kept = if state == ApprovalState::Pending {
        told.counted == AnswerCounted::No || oracle.has_voted(run, approval, who.actor.principal)
    } else {
        oracle.approval_state(run, approval) == Some(state)
    };
    if !kept {
        oracle.find(format!("somebody was told that {approval} is {state:?}, which is not in the journal"));
    }
}
