//! What a client says of calls whose outcome nobody knew.

use palyra_runtime::RequestError;
use palyra_types::effect::{EffectResolution, EffectState};
use palyra_types::{EffectId, RunId};

use super::ConnectedClient;
use super::speak::{PATIENCE_TURNS_MAX, explain, leave_after};
use crate::fault::Fault;

const ALL: [EffectResolution; 3] =
    [EffectResolution::Happened, EffectResolution::DidNotHappen, EffectResolution::Retry];

/// Settles one of the calls in doubt, now and then one that is settled already; returns whether there was any.
pub(super) async fn settle_something(connected: &ConnectedClient) -> bool {
    if connected.client.is_stranger() {
        return false;
    }
    let dice = connected.client.dice();
    let known: Vec<(RunId, EffectId)> = {
        let oracle = connected.client.world.oracle();
        if dice.below(8) == 0 { oracle.settled().collect() } else { oracle.doubts().collect() }
    };
    if known.is_empty() {
        return false;
    }
    let (run, effect) = known[dice.index(known.len())];
    settle(connected, run, effect, dice.pick(&ALL)).await;
    true
}

/// Settles every call of a run that is in doubt.
pub(super) async fn settle_all(connected: &ConnectedClient, run: RunId) {
    let doubts: Vec<(RunId, EffectId)> = connected.client.world.oracle().doubts().collect();
    for (_, effect) in doubts.into_iter().filter(|(other, _)| *other == run) {
        let resolution = connected.client.dice().pick(&ALL);
        settle(connected, run, effect, resolution).await;
    }
}

async fn settle(connected: &ConnectedClient, run: RunId, effect: EffectId, resolution: EffectResolution) {
    let client = &connected.client;
    let world = &client.world;
    let phase = world.oracle().phase_of(run);
    world.struck(Fault::Settle, phase);
    world.note(format_args!("> {} {run} {effect} {resolution:?}", client.name()));
    let patience = world.strikes(Fault::CallerGone, phase).then(|| client.dice().below(PATIENCE_TURNS_MAX));
    let effects = &connected.gateway.runs;
    let answer = tokio::select! {
        biased;
        answer = effects.resolve_effect(connected.caller, run, effect, resolution, "so it is".into()) => answer,
        () = leave_after(patience) => return,
    };
    let state = answer.as_ref().map(|record| record.state);
    world.note(format_args!("< {} {run} {effect} {state:?}", client.name()));
    let recorded = world.oracle().settled_as(run, effect);
    match answer {
        Ok(record) => {
            if recorded != Some(resolution) || record.state != EffectState::Resolved(resolution) {
                let what = format!(
                    "{} was told that {effect} of {run} is settled, which is not in the journal",
                    client.name()
                );
                world.oracle().find(what);
            }
        }
        Err(RequestError::EffectNotUnknown) => {
            if recorded.is_none_or(|recorded| recorded == resolution) {
                let what =
                    format!("{} was told that {effect} of {run} is in no doubt, which it is", client.name());
                world.oracle().find(what);
            }
        }
        Err(error) => explain(client, &error),
    }
}
