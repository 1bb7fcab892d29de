//! Accounts over a few windows: what is carried over, what begins again, what is charged twice.

use super::*;
use crate::fixture::{day, id, quote, reported_usage, reservation};
use crate::settlement::RequestOutcome;
use palyra_types::budget::MoneyAmount;
use palyra_types::budget::ReservationRequest;

fn apply(account: &mut BudgetAccount, events: &[AccountEvent]) {
    events.iter().for_each(|event| account.evolve(event));
}

fn open_window(account: &mut BudgetAccount, number: i64) {
    apply(account, &[AccountEvent::WindowOpened { span: day(number) }]);
}

fn reserve(account: &mut BudgetAccount, request: &ReservationRequest) {
    apply(account, &[AccountEvent::Reserved { request: *request }]);
}

fn settle(account: &mut BudgetAccount, request: &ReservationRequest, outcome: RequestOutcome, number: i64) {
    let events = account.settle(request.id, outcome.end(request), day(number));
    apply(account, &events);
}

/// An answer whose usage never arrived.
const SILENT: RequestOutcome = RequestOutcome::Answered { usage: None };

#[test]
fn what_is_reserved_is_spent_or_given_back() {
    let mut account = BudgetAccount::default();
    open_window(&mut account, 1);
    let answered = reservation(1, 100, 50);
    let unsent = reservation(2, 100, 50);
    reserve(&mut account, &answered);
    reserve(&mut account, &unsent);
    assert_eq!(account.reserved().tokens, 300);
    settle(&mut account, &answered, RequestOutcome::Answered { usage: Some(reported_usage(100, 10)) }, 1);
    settle(&mut account, &unsent, RequestOutcome::NotSent, 1);
    let spent = UsageAmount { tokens: 110, money: MoneyAmount(120), requests: 1 };
    assert_eq!((account.totals().spent, account.reserved()), (spent, UsageAmount::ZERO));
}

#[test]
fn an_end_that_arrives_twice_is_charged_once() {
    let mut account = BudgetAccount::default();
    open_window(&mut account, 1);
    let request = reservation(1, 100, 50);
    reserve(&mut account, &request);
    settle(&mut account, &request, SILENT, 1);
    let once = account.clone();
    assert!(account.settle(request.id, SILENT.end(&request), day(1)).is_empty());
    let ReservationEnd::Charge(charge) = SILENT.end(&request) else { panic!("an answer is charged") };
    apply(&mut account, &[AccountEvent::Settled { id: request.id, charge }]);
    assert_eq!(account, once);
}

#[test]
fn a_window_that_is_over_never_becomes_the_current_one_again() {
    let mut account = BudgetAccount::default();
    open_window(&mut account, 5);
    let request = reservation(1, 100, 50);
    reserve(&mut account, &request);
    settle(&mut account, &request, SILENT, 5);
    let before = account.clone();
    for earlier in [4, 5] {
        assert_eq!(account.opening(day(earlier)), None);
        assert_eq!(account.totals_in(day(earlier)), account.totals());
        open_window(&mut account, earlier);
        assert_eq!(account, before, "the clock was set back to window {earlier}");
    }
    let overlapping = WindowSpan { start: palyra_types::Timestamp(day(5).start.0 + 1), ..day(6) };
    assert_eq!(account.opening(overlapping), None, "it begins inside of the current window");
}

#[test]
fn the_next_window_begins_empty_and_takes_over_what_is_in_flight() {
    let mut account = BudgetAccount::default();
    open_window(&mut account, 1);
    let first = reservation(1, 100, 50);
    let second = reservation(2, 10, 5);
    reserve(&mut account, &first);
    reserve(&mut account, &second);
    settle(&mut account, &first, SILENT, 1);
    let topped_up = account.top_up(first.amount(), TopUpReason::Person, day(1));
    apply(&mut account, &topped_up);
    assert_eq!(account.totals().topped_up, first.amount());

    assert_eq!(account.totals_in(day(2)).spent, UsageAmount::ZERO, "before the window is opened");
    settle(&mut account, &second, SILENT, 2);
    assert_eq!(account.totals().span, Some(day(2)));
    assert_eq!(account.totals().spent, second.amount(), "a charge counts where it ends");
    assert_eq!(account.totals().topped_up, UsageAmount::ZERO);
    assert_eq!(account.spent_ever(), first.amount().plus(second.amount()));
}

#[test]
fn calls_beside_a_run_and_models_without_price_are_counted_apart() {
    let mut account = BudgetAccount::default();
    open_window(&mut account, 1);
    let title = ReservationRequest { id: id(1, TaskClass::Auxiliary), ..reservation(1, 100, 50) };
    let unpriced = ReservationRequest { price: None, ..reservation(1, 100, 50) };
    reserve(&mut account, &title);
    reserve(&mut account, &unpriced);
    assert_eq!(account.auxiliary_reserved_in(LimitMeasure::Tokens), 150);
    assert_eq!(account.reserved_in(LimitMeasure::Tokens), 300);
    settle(&mut account, &title, SILENT, 1);
    settle(&mut account, &unpriced, SILENT, 1);
    assert_eq!(account.totals().auxiliary_spent, title.amount());
    assert_eq!(account.totals().spent, title.amount().plus(unpriced.amount()));
    assert_eq!(account.totals().unpriced_requests, 1);
}

#[test]
fn a_provider_that_reports_too_much_is_recorded_as_such() {
    let mut account = BudgetAccount::default();
    open_window(&mut account, 1);
    let request = ReservationRequest { price: Some(quote(0, 0)), ..reservation(1, 100, 50) };
    reserve(&mut account, &request);
    settle(&mut account, &request, RequestOutcome::Answered { usage: Some(reported_usage(400, 50)) }, 1);
    let totals = account.totals();
    assert_eq!(totals.spent.tokens, 300);
    assert_eq!((totals.above_reservation.tokens, totals.not_charged.tokens), (150, 150));
}

#[test]
fn the_largest_amounts_saturate() {
    let mut account = BudgetAccount::default();
    open_window(&mut account, 1);
    for attempt in 1..=3 {
        let request = reservation(attempt, u64::MAX, u64::MAX);
        reserve(&mut account, &request);
        if attempt < 3 {
            settle(&mut account, &request, SILENT, 1);
        }
    }
    assert_eq!(account.totals().spent.tokens, u64::MAX);
    assert_eq!(account.reserved().tokens, u64::MAX);
    open_window(&mut account, 2);
    assert_eq!(account.spent_ever().tokens, u64::MAX);
}
