//! What people do with what was said: they remember and forget, sum conversations up and take that back, and erase.

use palyra_admin::memories::{MemoryFilter, NewMemory};
use palyra_ports::erase_journal::ErasureSubject;
use palyra_ports::search_memories::{MemoryCall, MemoryDraft, MemoryReach, UseMemories};
use palyra_types::proof::ErasureReason;
use palyra_types::tool::Taints;
use palyra_types::{EffectId, RunId};

use super::ConnectedClient;
use super::budgets::explain_admin;
use super::speak::{some_run, some_session};
use crate::dice::ScenarioRandom;

/// Different items of a client.
const ITEMS: u64 = 6;

/// Does one of these things.
pub(super) async fn act(connected: &ConnectedClient) {
    let dice = connected.client.dice();
    match dice.below(20) {
        0..=2 => save(connected, &dice).await,
        3..=5 => learn(connected, &dice).await,
        6 => forget(connected, &dice).await,
        7..=12 => compact(connected, &dice).await,
        13 => revert(connected, &dice).await,
        _ => erase(connected, &dice).await,
    }
}

fn some_text(connected: &ConnectedClient, dice: &ScenarioRandom) -> String {
    let name = connected.client.name();
    format!("{name} knows {}; {name} says things like that.", dice.below(ITEMS))
}

async fn save(connected: &ConnectedClient, dice: &ScenarioRandom) {
    let text = some_text(connected, dice);
    let new =
        NewMemory { text: text.as_str().into(), scope: MemoryFilter::All, lifetime: None, replaces: None };
    let outcome = connected.gateway.admin.memories.save(connected.caller, new).await.map(drop);
    connected.client.world.note(format_args!("< `{text}` is saved: {outcome:?}"));
    outcome.err().into_iter().for_each(|error| explain_admin(&connected.client, &error));
}

/// Saves an item as a tool of a run does it.
async fn learn(connected: &ConnectedClient, dice: &ScenarioRandom) {
    let Some(run) = some_run(connected, dice) else { return };
    let session = {
        let oracle = connected.client.world.oracle();
        oracle.run(run).filter(|_| !oracle.is_erased(run)).map(|view| view.session())
    };
    let Some(session) = session else { return };
    let call = MemoryCall {
        principal: connected.caller.actor.principal,
        session,
        run,
        effect: EffectId(1),
        root: "/simulated".into(),
        taints: Taints::WEB,
    };
    let text = some_text(connected, dice);
    let draft = MemoryDraft {
        text: text.as_str().into(),
        reach: MemoryReach::Everywhere,
        lifetime: None,
        replaces: None,
    };
    let memories = connected.gateway.admin.memories.clone();
    let outcome = UseMemories::save(&memories, call, draft).await.map(drop);
    connected.client.world.note(format_args!("< `{text}` is learned in {run}: {outcome:?}"));
}

async fn forget(connected: &ConnectedClient, dice: &ScenarioRandom) {
    let memories = &connected.gateway.admin.memories;
    let listed = memories.list(connected.caller, MemoryFilter::All, None, 50).await;
    let Ok(listed) = listed else { return };
    if listed.items.is_empty() {
        return;
    }
    let memory = listed.items[dice.index(listed.items.len())].saved.memory;
    let outcome = memories.forget(connected.caller, memory).await.map(drop);
    connected.client.world.note(format_args!("< {memory} is forgotten: {outcome:?}"));
    outcome.err().into_iter().for_each(|error| explain_admin(&connected.client, &error));
}

async fn compact(connected: &ConnectedClient, dice: &ScenarioRandom) {
    let Some(session) = some_session(connected, dice) else { return };
    connected.client.world.note(format_args!("> {} sums {session} up", connected.client.name()));
    let outcome = connected.gateway.sessions.compact(connected.caller, session).await.map(|made| made.seq);
    connected.client.world.note(format_args!("< {} {session}: {outcome:?}", connected.client.name()));
    outcome.err().into_iter().for_each(|error| explain_admin(&connected.client, &error));
}

async fn revert(connected: &ConnectedClient, dice: &ScenarioRandom) {
    let Some(session) = some_session(connected, dice) else { return };
    let outcome = connected.gateway.sessions.revert_compaction(connected.caller, session, None).await;
    let outcome = outcome.map(|made| made.seq);
    connected
        .client
        .world
        .note(format_args!("< {} reverts in {session}: {outcome:?}", connected.client.name()));
    outcome.err().into_iter().for_each(|error| explain_admin(&connected.client, &error));
}

/// Erases a run; one that is open is stopped for it.
async fn erase(connected: &ConnectedClient, dice: &ScenarioRandom) {
    let Some(run) = erasable(connected, dice) else { return };
    let client = &connected.client;
    client.world.oracle().on_cancel_requested(run);
    client.world.note(format_args!("> {} erases {run}", client.name()));
    let erasures = connected.gateway.admin.erasures.clone();
    let authoriser = connected.caller.actor.principal;
    let outcome = erasures.erase(authoriser, ErasureSubject::Run(run), ErasureReason::Request).await;
    let outcome = outcome.map(|erased| erased.receipt.erased);
    client.world.note(format_args!("< {} erases {run}: {outcome:?}", client.name()));
}

/// Picks a run, rather one that is over.
fn erasable(connected: &ConnectedClient, dice: &ScenarioRandom) -> Option<RunId> {
    let oracle = connected.client.world.oracle();
    let mut all = oracle.runs_of(connected.caller.actor.principal);
    if dice.below(6) > 0 {
        all.retain(|run| oracle.run(*run).is_some_and(|view| view.state().is_terminal()));
    }
    (!all.is_empty()).then(|| all[dice.index(all.len())])
}
