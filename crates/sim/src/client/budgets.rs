//! What an owner does about budgets: sets, tops up, removes, and lets a run go on once.

use palyra_admin::AdminError;
use palyra_admin::usage::{BudgetChange, TopUp};
use palyra_ports::AppendError;
use palyra_runtime::RequestError;
use palyra_types::RunId;
use palyra_types::budget::{
    BudgetScope, LimitAction, PurseKey, PurseKind, UsageAmount, UsageLimits, WindowKind,
};

use super::speak::explain;
use super::{Client, ConnectedClient};
use crate::dice::ScenarioRandom;

/// Budgets of a story.
const BUDGETS: u64 = 3;
/// More than all requests of a story need.
const PLENTY: UsageAmount =
    UsageAmount { tokens: 10_000_000, money: palyra_types::budget::MoneyAmount::ZERO, requests: 10_000 };

/// Does one of the things that owners do about budgets.
pub(super) async fn act(connected: &ConnectedClient) {
    let dice = connected.client.dice();
    let waiting = connected.client.world.oracle().waiting_for_budget();
    match dice.below(10) {
        0..=4 => set(connected, &dice).await,
        5 | 6 => top_up(connected, some_name(&dice), some_amount(&dice)).await,
        7 => remove(connected, some_name(&dice)).await,
        _ if waiting.is_empty() => set(connected, &dice).await,
        _ => go_on(connected, waiting[dice.index(waiting.len())]).await,
    }
}

/// Helps a run that waits for a budget: lets it go on, tops up, or removes all budgets, so that the third try ends the wait.
pub(super) async fn help(connected: &ConnectedClient, run: RunId) {
    let tries = {
        let mut mind = connected.client.mind();
        let tries = mind.budget_tries.entry(run).or_default();
        *tries += 1;
        *tries
    };
    match tries {
        1 => go_on(connected, run).await,
        2 => {
            for number in 0..BUDGETS {
                top_up(connected, name(number), PLENTY).await;
            }
        }
        _ => {
            for number in 0..BUDGETS {
                remove(connected, name(number)).await;
            }
        }
    }
}

fn name(number: u64) -> String {
    format!("b{number}")
}

fn some_name(dice: &ScenarioRandom) -> String {
    name(dice.below(BUDGETS))
}

fn some_amount(dice: &ScenarioRandom) -> UsageAmount {
    UsageAmount { tokens: 1 + dice.below(40_000), requests: dice.below(4), ..UsageAmount::ZERO }
}

async fn set(connected: &ConnectedClient, dice: &ScenarioRandom) {
    let scope = match dice.below(4) {
        0 | 1 => BudgetScope::One(PurseKey::Total),
        2 => BudgetScope::Each(PurseKind::Principal),
        _ => BudgetScope::Each(PurseKind::Session),
    };
    let window = dice.pick(&[WindowKind::Hour, WindowKind::Hour, WindowKind::Run, WindowKind::Endless]);
    let requests = (dice.below(3) > 0).then(|| dice.below(6));
    let tokens = (requests.is_none() || dice.below(3) == 0).then(|| 2_000 + dice.below(60_000));
    let at_limit = dice.pick(&[LimitAction::Park, LimitAction::Park, LimitAction::Ask, LimitAction::Refuse]);
    let hard = UsageLimits { tokens, requests, ..UsageLimits::default() };
    let soft = UsageLimits { requests: (dice.below(2) == 0).then_some(1), ..UsageLimits::default() };
    let name = some_name(dice);
    let change = BudgetChange { name, scope, window, hard, soft, at_limit, auxiliary_percent: 20 };
    connected.client.world.note(format_args!("> {} {change:?}", connected.client.name()));
    let outcome = connected.gateway.admin.usage.set_budget(connected.caller, change).await;
    note(&connected.client, outcome);
}

async fn top_up(connected: &ConnectedClient, name: String, amount: UsageAmount) {
    let top_up = TopUp { name, purse: None, amount };
    connected.client.world.note(format_args!("> {} {top_up:?}", connected.client.name()));
    let outcome = connected.gateway.admin.usage.top_up_budget(connected.caller, top_up).await;
    note(&connected.client, outcome);
}

async fn remove(connected: &ConnectedClient, name: String) {
    connected.client.world.note(format_args!("> {} removes {name}", connected.client.name()));
    let outcome = connected.gateway.admin.usage.remove_budget(connected.caller, &name).await;
    note(&connected.client, outcome);
}

async fn go_on(connected: &ConnectedClient, run: RunId) {
    let client = &connected.client;
    client.world.note(format_args!("> {} lets {run} go on", client.name()));
    let outcome = connected.gateway.runs.go_on_once(connected.caller, run).await;
    client.world.note(format_args!("< {} {run} {outcome:?}", client.name()));
    match outcome {
        Ok(_) => {}
        Err(RequestError::Admin(error)) => explain_admin(client, &error),
        Err(error) => explain(client, &error),
    }
}

fn note(client: &Client, outcome: Result<(), AdminError>) {
    client.world.note(format_args!("< {} {outcome:?}", client.name()));
    if let Err(error) = outcome {
        explain_admin(client, &error);
    }
}

/// Finds an error of an administrator's call that no story explains.
pub(super) fn explain_admin(client: &Client, error: &AdminError) {
    let explained = match error {
        AdminError::Append(error) => {
            !matches!(error, AppendError::Invalid { .. } | AppendError::Fenced | AppendError::Closed)
        }
        AdminError::Read(_)
        | AdminError::InvalidArgument { .. }
        | AdminError::SessionTooShort { .. }
        | AdminError::BudgetNotFound { .. }
        | AdminError::MemoryNotFound => true,
        _ => false,
    };
    if !explained {
        client.world.oracle().find(format!("{} gets {error:?}, which nothing explains", client.name()));
    }
}
