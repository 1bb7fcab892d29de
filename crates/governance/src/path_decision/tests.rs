//! Requests against several budgets: all reserve or none, the strictest action, and going on once.

use super::*;
use crate::budget::BudgetDefinition;
use crate::fixture::{TestAccount, budget, day, id, reservation};
use crate::time_window::WindowSpan;
use palyra_types::budget::TaskClass;
use palyra_types::budget::UsageLimits;
use palyra_types::budget::{BudgetScope, PurseKind};

fn tokens(limit: u64) -> UsageLimits {
    UsageLimits { tokens: Some(limit), ..UsageLimits::default() }
}

fn account(name: &str, hard: u64, at_limit: LimitAction) -> TestAccount {
    let scope = BudgetScope::Each(PurseKind::Principal);
    TestAccount::of(BudgetDefinition { hard: tokens(hard), at_limit, scope, ..budget(name) })
}

fn decide(accounts: &[TestAccount], request: &ReservationRequest) -> PathDecision {
    let path: Vec<_> = accounts.iter().map(|account| account.at(day(1))).collect();
    decide_reservation(&path, request)
}

fn stop(accounts: &[TestAccount], request: &ReservationRequest) -> BudgetStop {
    match decide(accounts, request) {
        PathDecision::Stop(stop) => stop,
        PathDecision::Reserve(reservation) => panic!("it fits: {reservation:?}"),
    }
}

fn apply(accounts: &mut [TestAccount], reservation: &PathReservation) {
    for (account, change) in accounts.iter_mut().zip(&reservation.changes) {
        assert_eq!(account.key, change.account);
        change.events.iter().for_each(|event| account.account.evolve(event));
    }
}

#[test]
fn every_account_reserves_or_none_does() {
    let mut accounts = [account("wide", 1_000, LimitAction::Park), account("narrow", 100, LimitAction::Park)];
    let PathDecision::Reserve(reservation_made) = decide(&accounts, &reservation(1, 60, 0)) else {
        panic!("it fits")
    };
    apply(&mut accounts, &reservation_made);
    assert!(accounts.iter().all(|account| account.account.reserved().tokens == 60));
    let stop = stop(&accounts, &reservation(2, 60, 0));
    assert_eq!(stop.hits.iter().map(|hit| hit.budget.as_str()).collect::<Vec<_>>(), ["narrow"]);
    assert!(accounts.iter().all(|account| account.account.reserved().tokens == 60), "nothing was changed");
}

#[test]
fn a_path_without_budgets_has_no_limits() {
    let PathDecision::Reserve(reservation) = decide(&[], &reservation(1, u64::MAX, 1)) else {
        panic!("no limit")
    };
    assert!(reservation.changes.is_empty() && reservation.warnings.is_empty());
}

#[test]
fn the_strictest_budget_that_was_hit_says_what_follows() {
    use LimitAction::{Ask, Park, Refuse};
    let park = StopAction::Park { resume: Some(day(1).end) };
    for (actions, expected) in [
        ([Park, Park], park),
        ([Park, Ask], StopAction::Ask),
        ([Refuse, Ask], StopAction::Refuse),
        ([Park, Refuse], StopAction::Refuse),
    ] {
        let accounts = actions.map(|action| account("b", 10, action));
        let accounts_used = accounts.map(|mut account| {
            let request = reservation(1, 10, 0);
            let event = AccountEvent::Reserved { request };
            account.account.evolve(&event);
            account
        });
        assert_eq!(stop(&accounts_used, &reservation(2, 5, 0)).action, expected, "{actions:?}");
    }
    let roomy = [account("a", 10, LimitAction::Park), account("b", 1_000, LimitAction::Refuse)];
    assert_eq!(
        stop(&roomy, &reservation(2, 11, 0)).action,
        StopAction::Park { resume: None },
        "only a budget that was hit counts, and waiting would not help"
    );
}

#[test]
fn a_run_waits_until_the_last_of_its_budgets_begins_again() {
    let mut short = account("hourly", 10, LimitAction::Park);
    let mut long = account("monthly", 10, LimitAction::Park);
    let request = reservation(1, 10, 0);
    for account in [&mut short, &mut long] {
        let reserved = AccountEvent::Reserved { request };
        account.account.evolve(&reserved);
    }
    let month = WindowSpan { start: day(0).start, end: day(30).end };
    let next = reservation(2, 1, 0);
    let action = |path: &[PathAccount<'_>]| match decide_reservation(path, &next) {
        PathDecision::Stop(stop) => stop.action,
        PathDecision::Reserve(_) => panic!("both are full"),
    };
    assert_eq!(action(&[short.at(day(1)), long.at(month)]), StopAction::Park { resume: Some(day(30).end) });
    assert_eq!(
        action(&[short.at(day(1)), long.at(WindowSpan::ENDLESS)]),
        StopAction::Park { resume: None },
        "one of them never begins again"
    );
}

#[test]
fn going_on_once_raises_each_limit_by_what_is_missing_and_no_more() {
    let mut accounts = [account("wide", 1_000, LimitAction::Park), account("narrow", 100, LimitAction::Park)];
    let path: Vec<_> = accounts.iter().map(|account| account.at(day(1))).collect();
    let request = reservation(1, 130, 0);
    let once = reserve_once(&path, &request).unwrap();
    drop(path);
    apply(&mut accounts, &once);
    assert_eq!(accounts[0].account.totals().topped_up, UsageAmount::ZERO);
    assert_eq!(accounts[1].account.totals().topped_up.tokens, 30);
    assert!(accounts.iter().all(|account| account.account.reserved().tokens == 130));
    assert_eq!(stop(&accounts, &reservation(2, 1, 0)).hits.len(), 1, "once is once");
}

#[test]
fn going_on_once_in_a_new_window_raises_the_limit_of_that_window() {
    let mut accounts = [account("narrow", 100, LimitAction::Park)];
    let opened = AccountEvent::WindowOpened { span: day(1) };
    accounts[0].account.evolve(&opened);
    let once = reserve_once(&[accounts[0].at(day(2))], &reservation(1, 130, 0)).unwrap();
    apply(&mut accounts, &once);
    let totals = accounts[0].account.totals();
    assert_eq!((totals.span, totals.topped_up.tokens), (Some(day(2)), 30));
}

#[test]
fn going_on_once_does_not_mend_a_missing_price_or_a_used_share() {
    let money = UsageLimits { money: Some(palyra_types::budget::MoneyAmount(10)), ..UsageLimits::default() };
    let priced = TestAccount::of(BudgetDefinition { hard: money, ..budget("b") });
    let unpriced = ReservationRequest { price: None, ..reservation(1, 1, 0) };
    assert_eq!(reserve_once(&[priced.at(day(1))], &unpriced), None);
    let narrow = account("narrow", 100, LimitAction::Park);
    let title = ReservationRequest { id: id(1, TaskClass::Auxiliary), ..reservation(1, 21, 0) };
    assert_eq!(reserve_once(&[narrow.at(day(1))], &title), None);
}

#[test]
fn a_stop_says_what_is_in_the_way_and_how_to_go_on() {
    let mut accounts = [account("narrow", 100, LimitAction::Park)];
    let flying = reservation(1, 90, 0);
    let reserved = AccountEvent::Reserved { request: flying };
    accounts[0].account.evolve(&reserved);
    let text = stop(&accounts, &reservation(2, 20, 0)).explanation();
    assert!(text.contains("budget `narrow`") && text.contains("allows 100 tokens"), "{text}");
    assert!(text.contains("The run waits until 1970-01-01T00:00:00.002Z"), "{text}");
    assert!(text.contains("top the budget up or let it go on once"), "{text}");
}
