//! What a client says to approvals, and what it makes of the answers.

use palyra_runtime::RequestError;
use palyra_runtime::approvals::{ApprovalReply, Counted, Remember, RememberScope, Resolved};
use palyra_types::approval::{ApprovalDecision, ApprovalState};
use palyra_types::{ApprovalId, RunId};

use super::Connected;
use super::speak::{explain, leave_after};
use crate::dice::Dice;
use crate::fault::Fault;

/// Turns that a client waits before it is gone, at most.
const PATIENCE_TURNS_MAX: u64 = 60;

/// Decides one of the approvals that wait, if any does: mostly with a yes.
pub(super) async fn decide_something(connected: &Connected) {
    let dice = connected.client.dice();
    let pending: Vec<(RunId, ApprovalId)> = connected.client.world.oracle().pending_approvals();
    if pending.is_empty() {
        return;
    }
    let (run, approval) = pending[dice.index(pending.len())];
    let reply = some_reply(&dice);
    decide(connected, run, approval, reply).await;
}

/// Decides everything that a run waits for.
pub(super) async fn decide_all(connected: &Connected, run: RunId) {
    let pending = connected.client.world.oracle().pending_approvals();
    for (_, approval) in pending.into_iter().filter(|(waiting, _)| *waiting == run) {
        let reply = some_reply(&connected.client.dice());
        decide(connected, run, approval, ApprovalReply { edited: None, ..reply }).await;
    }
}

fn some_reply(dice: &Dice) -> ApprovalReply {
    let plain = ApprovalReply::plain(ApprovalDecision::Approve);
    match dice.below(10) {
        0 | 1 => ApprovalReply { note: "no".into(), ..ApprovalReply::plain(ApprovalDecision::Deny) },
        2 => ApprovalReply { edited: Some(format!("{{\"n\":{}}}", dice.below(100)).into()), ..plain },
        3 => {
            let scope = if dice.below(2) == 0 { RememberScope::Session } else { RememberScope::Principal };
            let remember = Remember { scope, expires: None, uses_max: Some(2), rules: Vec::new() };
            ApprovalReply { remember: Some(remember), ..plain }
        }
        _ => plain,
    }
}

async fn decide(connected: &Connected, run: RunId, approval: ApprovalId, reply: ApprovalReply) {
    let client = &connected.client;
    let world = &client.world;
    let phase = world.oracle().phase_of(run);
    world.struck(Fault::Decide, phase);
    if world.strikes(Fault::WorldChanges, phase) {
        world.outside().change_otherwise();
    }
    let decision = reply.decision;
    world.note(format_args!("> {} {approval} {decision:?}", client.name()));
    let patience = world.strikes(Fault::CallerGone, phase).then(|| client.dice().below(PATIENCE_TURNS_MAX));
    let answer = tokio::select! {
        biased;
        answer = connected.gateway.approvals.resolve(connected.caller, approval, reply) => answer,
        () = leave_after(patience) => return,
    };
    world.note(format_args!("< {} {approval} {:?}", client.name(), answer.as_ref().map(|told| told.counted)));
    match answer {
        Ok(told) => heed(connected, run, &told),
        Err(RequestError::ApprovalDecided { state, .. }) if state != ApprovalState::Pending => {}
        Err(error) => explain(client, &error),
    }
}

/// What one is told must be in the journal.
fn heed(connected: &Connected, run: RunId, told: &Resolved) {
    let mut oracle = connected.client.world.oracle();
    let recorded = oracle.approval_state(run, told.record.approval);
    if recorded != Some(told.record.state)
        || told.counted == Counted::Yes && recorded == Some(ApprovalState::Pending)
    {
        let (approval, state) = (told.record.approval, told.record.state);
        oracle.find(format!("somebody was told that {approval} is {state:?}, which is not in the journal"));
    }
}
