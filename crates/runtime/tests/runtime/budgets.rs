//! Budgets: no commit takes an account above its limit, runs wait and go on, and every request is charged once.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use palyra_admin::usage::{BudgetChange, TopUp};
use palyra_governance::{BudgetAccount, PriceCatalogue};
use palyra_runtime::{GatewayRuntimeConfigSnapshot, RequestError};
use palyra_testkit::scripted_tools::LOOK;
use palyra_testkit::{Gate, Script};
use palyra_types::budget::{
    AccountEvent, AccountKey, BudgetEvent, BudgetScope, ChargeBasis, LimitAction, LimitMeasure, MoneyAmount,
    PurseKey, UsageAmount, UsageLimits, WindowKind,
};
use palyra_types::event::{JournalEvent, RunEvent, TapeEvent};
use palyra_types::model::{ModelFailureClass, TokenUsage, UsageSource};
use palyra_types::run::{RunLimits, RunPhase, TerminationReason, WaitReason};
use palyra_types::tape::JournalEventRecord;
use palyra_types::{ErrorCode, RunId, Timestamp};

use crate::faults::Refusal;
use crate::rig::{Parts, Rig, entries_of, settle, soon};
use crate::shapes::check;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const WAITS: RunPhase = RunPhase::Waiting(WaitReason::Budget);

/// Starts a runtime whose requests all send the same cap.
async fn rig() -> Rig {
    capped().start().await
}

fn capped() -> Parts {
    let limits = RunLimits { output_tokens_max: 1_000, ..RunLimits::default() };
    Parts { config: GatewayRuntimeConfigSnapshot { limits, ..Default::default() }, ..Parts::new() }
}

/// Returns a limit on tokens.
pub(crate) fn tokens(limit: u64) -> UsageLimits {
    UsageLimits { tokens: Some(limit), ..UsageLimits::default() }
}

/// Returns a budget of a day for all runs together.
pub(crate) fn daily(name: &str, hard: UsageLimits) -> BudgetChange {
    BudgetChange {
        name: name.to_owned(),
        scope: BudgetScope::One(PurseKey::Total),
        window: WindowKind::Day,
        hard,
        soft: UsageLimits::default(),
        at_limit: LimitAction::Park,
        auxiliary_percent: 20,
    }
}

pub(crate) async fn set(rig: &Rig, change: BudgetChange) {
    soon("a budget", rig.gateway.admin.usage.set_budget(rig.me(), change)).await.unwrap();
}

/// Returns the events of accounts.
pub(crate) fn account_events(
    entries: &[JournalEventRecord],
) -> impl Iterator<Item = (AccountKey, AccountEvent)> {
    entries.iter().filter_map(|entry| match entry.event {
        JournalEvent::Budget(BudgetEvent::Account { account, event }) => Some((account, event)),
        _ => None,
    })
}

/// Folds the accounts entry by entry; no reservation takes one above its limit, which the budgets recorded so far say.
async fn accounts(rig: &Rig) -> BTreeMap<AccountKey, BudgetAccount> {
    let mut limits = BTreeMap::new();
    let mut accounts: BTreeMap<AccountKey, BudgetAccount> = BTreeMap::new();
    for entry in entries_of(&rig.memory).await {
        match &entry.event {
            JournalEvent::Budget(BudgetEvent::Set(set)) => {
                limits.insert(set.budget, set.hard);
            }
            JournalEvent::Budget(BudgetEvent::Removed { budget }) => {
                limits.remove(budget);
            }
            JournalEvent::Budget(BudgetEvent::Account { account: key, event }) => {
                let account = accounts.entry(*key).or_default();
                account.evolve(event);
                let hard = limits.get(&key.budget).copied().unwrap_or_default();
                for measure in LimitMeasure::ALL {
                    let totals = account.totals();
                    let limit = hard.of(measure).map(|limit| limit + totals.topped_up.of(measure));
                    let used = totals.spent.plus(account.reserved()).of(measure);
                    let reserves = matches!(event, AccountEvent::Reserved { .. });
                    assert!(!reserves || limit.is_none_or(|limit| used <= limit), "{key:?} {used} {limit:?}");
                }
            }
            _ => {}
        }
    }
    accounts
}

async fn only_account(rig: &Rig) -> BudgetAccount {
    let accounts = accounts(rig).await;
    assert_eq!(accounts.len(), 1, "{accounts:?}");
    accounts.into_values().next().unwrap()
}

/// Returns what one request of a run reserves, and how its budget limits nothing else afterwards.
async fn size_of_request() -> u64 {
    let rig = rig().await;
    set(&rig, daily("wide", tokens(1_000_000))).await;
    let run = rig.submit("size", "same words").await.run;
    rig.finished(run).await;
    let reserved = account_events(&entries_of(&rig.memory).await).find_map(|(_, event)| match event {
        AccountEvent::Reserved { request } => Some(request.amount().tokens),
        _ => None,
    });
    reserved.expect("a reservation")
}

fn reported(input_tokens: u64, output_tokens: u64) -> TokenUsage {
    TokenUsage { input_tokens, output_tokens, source: UsageSource::Reported, ..TokenUsage::default() }
}

/// Waits until a run waits for a budget.
async fn waits(rig: &Rig, run: RunId) -> Option<Timestamp> {
    let reached = |event: &TapeEvent| matches!(event, TapeEvent::Run(RunEvent::BudgetReached { .. }));
    let entry = rig.until(run, "a wait for a budget", reached).await;
    let TapeEvent::Run(RunEvent::BudgetReached { resumes, .. }) = &entry.event else { unreachable!() };
    settle().await;
    assert_eq!(rig.record(run).await.phase, WAITS);
    *resumes
}

#[tokio::test]
async fn a_hundred_runs_on_one_budget_never_take_it_above_its_limit() {
    let size = size_of_request().await;
    let rig = rig().await;
    set(&rig, daily("shared", tokens(size * 10 + size / 2))).await;
    let mut runs = Vec::new();
    for number in 0..100 {
        runs.push(rig.submit(&format!("k{number}"), "same words").await.run);
    }
    settle().await;
    settle().await;
    let mut finished = 0;
    for run in &runs {
        let record = rig.record(*run).await;
        finished += usize::from(record.phase == RunPhase::Finished);
        assert!(record.phase == RunPhase::Finished || record.phase == WAITS, "{:?}", record.phase);
        check(&rig.tape(*run).await);
    }
    assert_eq!(finished, 10, "each answer without usage is charged as reserved");
    let account = only_account(&rig).await;
    assert_eq!(account.totals().spent.tokens, size * 10);
    assert!(account.open().is_empty());
}

#[tokio::test]
async fn room_that_an_answer_gives_back_lets_a_waiting_run_go_on() {
    let size = size_of_request().await;
    let rig = rig().await;
    set(&rig, daily("small", tokens(size + size / 2))).await;
    let gate = Gate::closed();
    rig.model.push(Script::new().hold(&gate).text("short").usage(reported(10, 2)));
    let first = rig.submit("a", "same words").await.run;
    rig.model.wait_until(|counts| counts.begun == 1).await;
    let second = rig.submit("b", "same words").await.run;
    waits(&rig, second).await;
    gate.open();
    rig.finished(first).await;
    rig.finished(second).await;
    assert_eq!(only_account(&rig).await.totals().spent.tokens, 12 + size);
}

#[tokio::test]
async fn a_waiting_run_goes_on_when_the_window_begins_again() {
    let size = size_of_request().await;
    let rig = rig().await;
    set(&rig, daily("daily", tokens(size))).await;
    let first = rig.submit("a", "same words").await.run;
    rig.finished(first).await;
    let second = rig.submit("b", "same words").await.run;
    let resumes = waits(&rig, second).await.expect("the end of the day");
    assert_eq!(resumes.since(palyra_testkit::fake_clock::FAKE_WALL_START), DAY);
    rig.clock.advance(DAY - Duration::from_secs(1));
    settle().await;
    assert_eq!(rig.record(second).await.phase, WAITS);
    rig.clock.advance(Duration::from_secs(3_600));
    rig.finished(second).await;
    let account = only_account(&rig).await;
    assert_eq!((account.totals().spent.tokens, account.spent_ever().tokens), (size, 2 * size));
    check(&rig.tape(second).await);
}

#[tokio::test]
async fn a_provider_that_reports_too_much_is_charged_up_to_a_bound() {
    let size = size_of_request().await;
    let rig = rig().await;
    set(&rig, daily("daily", tokens(2 * size))).await;
    let gate = Gate::closed();
    for _ in 0..2 {
        rig.model.push(Script::new().hold(&gate).text("ok").usage(reported(3 * size, 5)));
    }
    let runs = [rig.submit("a", "same words").await.run, rig.submit("b", "same words").await.run];
    rig.model.wait_until(|counts| counts.begun == 2).await;
    gate.open();
    for run in runs {
        rig.finished(run).await;
    }
    let account = only_account(&rig).await;
    // Both were in flight, so the account is above its limit by both of them at most.
    assert_eq!(account.totals().spent.tokens, 4 * size);
    assert_eq!(account.totals().not_charged.tokens, 2 * (size + 5));
    let third = rig.submit("c", "same words").await.run;
    waits(&rig, third).await;
}

#[tokio::test]
async fn a_request_that_never_ends_is_charged_as_reserved_and_a_refused_one_is_not() {
    let size = size_of_request().await;
    let rig = rig().await;
    set(&rig, daily("daily", tokens(10 * size))).await;
    rig.model.push(Script::new().text("and then").hang());
    let run = rig.submit("a", "same words").await.run;
    rig.until(run, "its words", |event| {
        matches!(event, TapeEvent::Model(palyra_types::event::ModelEvent::Text { .. }))
    })
    .await;
    rig.cancel(run).await.unwrap();
    rig.finished(run).await;
    assert_eq!(only_account(&rig).await.totals().spent.tokens, size);
    rig.model.push(Script::new().fail(ModelFailureClass::Auth));
    let refused = rig.submit("b", "same words").await.run;
    rig.finished(refused).await;
    let spent = only_account(&rig).await.totals().spent;
    assert_eq!((spent.tokens, spent.requests), (size, 2));
}

#[tokio::test]
async fn a_request_that_a_restart_caught_is_charged_as_reserved_once() {
    let size = size_of_request().await;
    let rig = rig().await;
    set(&rig, daily("daily", tokens(3 * size))).await;
    rig.model.push(Script::new().hang());
    let run = rig.submit("a", "same words").await.run;
    rig.model.wait_until(|counts| counts.begun == 1).await;
    assert_eq!(only_account(&rig).await.open().len(), 1);

    let memory = rig.memory.restarted();
    let again = Parts { memory, seed: 2_000_003, ..capped() }.start().await;
    again.finished(run).await;
    let entries = entries_of(&again.memory).await;
    let lost = account_events(&entries).filter(|(_, event)| {
        matches!(event, AccountEvent::Settled { charge, .. } if charge.basis == ChargeBasis::LostRequest)
    });
    assert_eq!(lost.count(), 1);
    let account = only_account(&again).await;
    assert_eq!((account.totals().spent.tokens, account.open().len()), (2 * size, 0));
}

#[tokio::test]
async fn a_run_that_waits_over_a_restart_goes_on_when_the_budget_is_raised() {
    let size = size_of_request().await;
    let rig = rig().await;
    set(&rig, daily("daily", tokens(size / 2))).await;
    let run = rig.submit("a", "same words").await.run;
    assert_eq!(waits(&rig, run).await, None, "an empty account has no room for it either");
    let memory = rig.memory.restarted();
    let again = Parts { memory, seed: 2_000_003, ..capped() }.start().await;
    settle().await;
    assert_eq!(again.record(run).await.phase, WAITS);
    assert!(again.model.requests().is_empty());
    let reached = again.tape(run).await;
    let notes = reached.iter().filter(|e| matches!(e.event, TapeEvent::Run(RunEvent::BudgetReached { .. })));
    assert_eq!(notes.count(), 1, "looking again notes nothing new");
    set(&again, daily("daily", tokens(size))).await;
    again.finished(run).await;
}

#[tokio::test]
async fn a_model_without_a_price_is_refused_under_a_limit_on_money() {
    let rig = rig().await;
    let money = UsageLimits { money: Some(MoneyAmount(1_000_000)), ..UsageLimits::default() };
    set(&rig, daily("dollars", money)).await;
    let run = rig.submit("a", "same words").await.run;
    let record = rig.finished(run).await;
    assert_eq!(
        (record.reason, record.error),
        (Some(TerminationReason::OverBudget), Some(ErrorCode::ModelWithoutPrice))
    );
    let tape = rig.tape(run).await;
    let Some(TapeEvent::Run(RunEvent::Finished(finished))) = tape.last().map(|entry| &entry.event) else {
        panic!("it is over")
    };
    let message = finished.message.expose();
    for part in ["scripted/scripted", "dollars", "price catalogue"] {
        assert!(message.contains(part), "{message}");
    }
    assert!(rig.model.requests().is_empty());

    let prices = "currency = \"USD\"\n[[price]]\nmodel = \"scripted/*\"\ninput = \"1\"\noutput = \"2\"\n";
    let prices = Arc::new(PriceCatalogue::parse(prices).unwrap());
    rig.configure(|config| config.prices = Some(prices));
    rig.model.push(Script::new().text("ok").usage(reported(100, 10)));
    let priced = rig.submit("b", "same words").await.run;
    rig.finished(priced).await;
    assert_eq!(only_account(&rig).await.totals().spent.money, MoneyAmount(120));
}

#[tokio::test]
async fn a_change_in_the_middle_of_a_run_applies_from_its_next_request() {
    let size = size_of_request().await;
    let rig = rig().await;
    set(&rig, daily("daily", tokens(10 * size))).await;
    let gate = Gate::closed();
    rig.model.push(Script::new().hold(&gate).call(LOOK, "{}").usage(reported(size / 2, 1)));
    let run = rig.submit("a", "same words").await.run;
    rig.model.wait_until(|counts| counts.begun == 1).await;
    set(&rig, daily("daily", tokens(size))).await;
    gate.open();
    waits(&rig, run).await;
    assert_eq!(rig.model.requests().len(), 1);
    let name = "daily".to_owned();
    let money = UsageAmount { money: MoneyAmount(1), ..UsageAmount::ZERO };
    let unlimited = TopUp { name: name.clone(), purse: None, amount: money };
    let refused = soon("a refusal", rig.gateway.admin.usage.top_up_budget(rig.me(), unlimited)).await;
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains("does not limit money; it limits tokens"), "{refused}");
    let amount = UsageAmount { tokens: 2 * size, ..UsageAmount::ZERO };
    let topping_up = TopUp { name, purse: None, amount };
    soon("a top-up", rig.gateway.admin.usage.top_up_budget(rig.me(), topping_up)).await.unwrap();
    rig.finished(run).await;
    soon("a removal", rig.gateway.admin.usage.remove_budget(rig.me(), "daily")).await.unwrap();
    let free = rig.submit("b", "same words").await.run;
    rig.finished(free).await;
    accounts(&rig).await;
}

#[tokio::test]
async fn a_person_lets_one_run_go_on_once() {
    let size = size_of_request().await;
    let rig = rig().await;
    set(&rig, daily("daily", tokens(size / 2))).await;
    let runs = [rig.submit("a", "same words").await.run, rig.submit("b", "same words").await.run];
    for run in runs {
        waits(&rig, run).await;
    }
    soon("going on", rig.gateway.runs.go_on_once(rig.me(), runs[0])).await.unwrap();
    rig.finished(runs[0]).await;
    settle().await;
    assert_eq!(rig.record(runs[1]).await.phase, WAITS);
    let over = soon("going on", rig.gateway.runs.go_on_once(rig.me(), runs[0])).await;
    assert!(matches!(over, Err(RequestError::RunFinished)), "{over:?}");
    only_account(&rig).await;
    rig.cancel(runs[1]).await.unwrap();
    rig.finished(runs[1]).await;
}

#[tokio::test]
async fn a_budget_that_refuses_ends_the_run_and_one_that_asks_waits_for_a_person() {
    let size = size_of_request().await;
    let rig = rig().await;
    let refusing = BudgetChange { at_limit: LimitAction::Refuse, ..daily("strict", tokens(size / 2)) };
    set(&rig, refusing).await;
    let run = rig.submit("a", "same words").await.run;
    let record = rig.finished(run).await;
    assert_eq!(
        (record.reason, record.error),
        (Some(TerminationReason::OverBudget), Some(ErrorCode::OverBudget))
    );
    assert!(accounts(&rig).await.values().all(|account| account.open().is_empty()));
    let asking = BudgetChange { at_limit: LimitAction::Ask, ..daily("strict", tokens(size)) };
    set(&rig, asking).await;
    let first = rig.submit("b", "same words").await.run;
    rig.finished(first).await;
    let second = rig.submit("c", "same words").await.run;
    assert_eq!(waits(&rig, second).await, None);
    set(&rig, daily("strict", tokens(2 * size))).await;
    rig.finished(second).await;
}

#[tokio::test]
async fn a_soft_limit_is_noted_once_in_its_window() {
    let size = size_of_request().await;
    let rig = rig().await;
    set(&rig, BudgetChange { soft: tokens(size / 2), ..daily("soft", tokens(10 * size)) }).await;
    let runs = [rig.submit("a", "same words").await.run, rig.submit("b", "same words").await.run];
    let mut notes = Vec::new();
    for run in runs {
        rig.finished(run).await;
        for entry in rig.tape(run).await {
            if let TapeEvent::Run(RunEvent::SoftLimitNoted { explanation }) = entry.event {
                notes.push(explanation.into_exposed());
            }
        }
    }
    assert_eq!(notes.len(), 1);
    assert!(notes[0].contains("`soft`"), "{notes:?}");
}

#[tokio::test]
async fn a_clock_that_is_set_back_finds_what_the_later_window_has_spent() {
    let size = size_of_request().await;
    let rig = rig().await;
    set(&rig, daily("daily", tokens(size))).await;
    rig.clock.advance(DAY + Duration::from_secs(60));
    let first = rig.submit("a", "same words").await.run;
    rig.finished(first).await;
    rig.clock.set_wall_ahead(-i64::try_from((DAY / 2).as_micros()).unwrap());
    let second = rig.submit("b", "same words").await.run;
    let resumes = waits(&rig, second).await.expect("the end of the later window");
    assert_eq!(resumes.since(palyra_testkit::fake_clock::FAKE_WALL_START), 2 * DAY);
}

#[tokio::test]
async fn a_session_and_an_agent_do_not_escape_the_budget_of_their_principal() {
    let size = size_of_request().await;
    let rig = rig().await;
    let each = BudgetScope::Each(palyra_types::budget::PurseKind::Principal);
    set(&rig, BudgetChange { scope: each, ..daily("mine", tokens(size)) }).await;
    let first = rig.submit("a", "same words").await.run;
    rig.finished(first).await;
    let second = rig.submit("b", "same words").await.run;
    waits(&rig, second).await;
    let listed = rig.gateway.admin.usage.budgets(rig.me()).await.unwrap();
    let [listing] = listed.as_slice() else { panic!("one budget") };
    assert_eq!(listing.accounts.len(), 1);
    assert_eq!(listing.accounts[0].spent.tokens, size);
    assert_eq!(listing.accounts[0].reserved, UsageAmount::ZERO);
}

#[tokio::test]
async fn a_change_of_a_budget_in_doubt_counts_as_the_journal_has_it() {
    let size = size_of_request().await;
    let rig = rig().await;
    set(&rig, daily("daily", tokens(10 * size))).await;
    rig.faults.refuse(Refusal::AnswersInDoubt);
    let change = daily("daily", tokens(size / 2));
    let unknown = soon("a budget", rig.gateway.admin.usage.set_budget(rig.me(), change)).await;
    assert!(unknown.is_err(), "{unknown:?}");
    rig.faults.mend();
    let run = rig.submit("a", "same words").await.run;
    waits(&rig, run).await;
    assert!(rig.model.requests().is_empty());
    accounts(&rig).await;
}
