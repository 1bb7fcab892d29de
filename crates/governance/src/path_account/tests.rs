//! One request against one budget: which limits are hit, and when the account begins again.

use super::*;
use crate::fixture::{TestAccount, budget, day, id, reservation};
use crate::settlement::RequestOutcome;
use palyra_types::budget::MoneyAmount;
use palyra_types::budget::UsageLimits;

fn limits(tokens: u64) -> UsageLimits {
    UsageLimits { tokens: Some(tokens), ..UsageLimits::default() }
}

fn causes(place: PathAccount<'_>, request: &ReservationRequest) -> Vec<LimitCause> {
    place.hits(request).iter().map(|hit| hit.cause).collect()
}

fn reserve(account: &mut TestAccount, request: &ReservationRequest, span: WindowSpan) {
    let events = account.at(span).reservation_events(request);
    events.iter().for_each(|event| account.account.evolve(event));
}

#[test]
fn a_request_fits_up_to_the_limit_and_not_by_one_token_more() {
    let mut account = TestAccount::of(budget("daily"));
    reserve(&mut account, &reservation(1, 8_000, 1_000), day(1));
    assert!(account.at(day(1)).hits(&reservation(2, 900, 100)).is_empty());
    let hits = account.at(day(1)).hits(&reservation(2, 901, 100));
    assert_eq!(hits.len(), 1);
    assert_eq!(
        (hits[0].limit, hits[0].spent, hits[0].reserved, hits[0].requested),
        (10_000, 0, 9_000, 1_001)
    );
    assert_eq!((hits[0].shortfall(), hits[0].resets), (1, Some(day(1).end)));
    assert_eq!(
        hits[0].to_string(),
        "budget `daily` (total, window day) allows 10000 tokens; spent: 0 tokens, reserved: 9000 tokens; this request \
         reserves up to 1001 tokens"
    );
}

#[test]
fn a_call_beside_a_run_leaves_the_note_of_a_soft_limit_to_the_next_run() {
    let soft = limits(100);
    let mut account = TestAccount::of(BudgetDefinition { soft, ..budget("b") });
    let title = ReservationRequest { id: id(1, TaskClass::Auxiliary), ..reservation(1, 200, 0) };
    assert!(account.at(day(1)).warnings(&title).is_empty());
    reserve(&mut account, &title, day(1));
    assert_eq!(account.at(day(1)).warnings(&reservation(2, 1, 0)).len(), 1);
}

#[test]
fn each_measure_has_its_own_limit() {
    for (hard, measure) in [
        (UsageLimits { money: Some(MoneyAmount(139)), ..UsageLimits::default() }, LimitMeasure::Money),
        (UsageLimits { requests: Some(0), ..UsageLimits::default() }, LimitMeasure::Requests),
        (limits(119), LimitMeasure::Tokens),
    ] {
        let account = TestAccount::of(BudgetDefinition { hard, ..budget("b") });
        let hits = account.at(day(1)).hits(&reservation(1, 100, 20));
        assert_eq!(hits.iter().map(|hit| hit.measure).collect::<Vec<_>>(), [measure]);
    }
}

#[test]
fn a_model_without_a_price_cannot_run_under_a_limit_on_money() {
    let money = UsageLimits { money: Some(MoneyAmount::MAX), ..UsageLimits::default() };
    let unpriced = ReservationRequest { price: None, ..reservation(1, 1, 1) };
    let none = UsageLimits::default();
    for definition in [
        BudgetDefinition { hard: money, soft: none, ..budget("b") },
        BudgetDefinition { hard: none, soft: money, ..budget("b") },
    ] {
        let account = TestAccount::of(definition);
        let hits = account.at(day(1)).hits(&unpriced);
        assert_eq!((hits[0].cause, hits[0].action), (LimitCause::NoPrice, LimitAction::Refuse));
        assert!(hits[0].to_string().contains("price catalogue"));
        assert!(account.at(day(1)).hits(&reservation(1, 1, 1)).is_empty());
    }
    assert!(
        TestAccount::of(budget("b")).at(day(1)).hits(&unpriced).is_empty(),
        "tokens are limited, money is not"
    );
}

#[test]
fn calls_beside_a_run_use_their_share_and_are_refused_above_it() {
    let mut account = TestAccount::of(budget("b"));
    let title = |attempt: u32, tokens: u64| ReservationRequest {
        id: id(attempt, TaskClass::Auxiliary),
        ..reservation(1, tokens, 0)
    };
    reserve(&mut account, &title(1, 1_500), day(1));
    assert!(account.at(day(1)).hits(&title(2, 500)).is_empty());
    assert_eq!(causes(account.at(day(1)), &title(2, 501)), [LimitCause::AuxiliaryShare]);
    assert!(account.at(day(1)).hits(&reservation(1, 8_500, 0)).is_empty(), "the run has all that is left");

    reserve(&mut account, &reservation(1, 8_400, 0), day(1));
    let hits = account.at(day(1)).hits(&title(2, 101));
    assert_eq!((hits[0].cause, hits[0].action), (LimitCause::HardLimit, LimitAction::Refuse));
}

#[test]
fn waiting_is_not_offered_to_a_request_that_no_window_has_room_for() {
    let account = TestAccount::of(budget("b"));
    let hits = account.at(day(1)).hits(&reservation(1, 10_001, 0));
    assert_eq!(hits[0].resets, None);
}

#[test]
fn after_a_clock_was_set_back_the_account_begins_again_when_its_window_is_over() {
    let mut account = TestAccount::of(budget("b"));
    reserve(&mut account, &reservation(1, 9_000, 0), day(7));
    let hits = account.at(day(3)).hits(&reservation(2, 2_000, 0));
    assert_eq!((hits[0].reserved, hits[0].resets), (9_000, Some(day(7).end)));
}

#[test]
fn a_changed_limit_applies_to_the_next_request_and_leaves_those_in_flight() {
    let mut account = TestAccount::of(budget("b"));
    let flying = reservation(1, 9_000, 0);
    reserve(&mut account, &flying, day(1));
    account.definition.hard = limits(5_000);
    assert_eq!(causes(account.at(day(1)), &reservation(2, 1, 0)), [LimitCause::HardLimit]);
    let silent = RequestOutcome::Answered { usage: None };
    let events = account.account.settle(flying.id, silent.end(&flying), day(1));
    events.iter().for_each(|event| account.account.evolve(event));
    assert_eq!(account.account.totals().spent.tokens, 9_000);
    account.definition.hard = limits(9_001);
    assert!(account.at(day(1)).hits(&reservation(2, 1, 0)).is_empty());
}

#[test]
fn a_soft_limit_warns_once_a_window() {
    let mut account = TestAccount::of(BudgetDefinition { soft: limits(1_000), ..budget("b") });
    assert!(account.at(day(1)).warnings(&reservation(1, 1_000, 0)).is_empty());
    let warnings = account.at(day(1)).warnings(&reservation(1, 1_001, 0));
    assert_eq!((warnings.len(), warnings[0].limit, warnings[0].used), (1, 1_000, 1_001));
    reserve(&mut account, &reservation(1, 1_001, 0), day(1));
    assert!(account.at(day(1)).warnings(&reservation(2, 1, 0)).is_empty());
    assert_eq!(
        account.at(day(2)).warnings(&reservation(2, 1, 0)).len(),
        1,
        "it is in flight in the next window"
    );
}

#[test]
fn too_many_requests_in_flight_are_refused() {
    let definition = BudgetDefinition { hard: limits(u64::MAX), ..budget("b") };
    let mut account = TestAccount::of(definition);
    for attempt in 0..OPEN_RESERVATIONS_MAX {
        let request = reservation(u32::try_from(attempt).unwrap(), 1, 0);
        let event = AccountEvent::Reserved { request };
        account.account.evolve(&event);
    }
    assert_eq!(causes(account.at(day(1)), &reservation(u32::MAX, 1, 0)), [LimitCause::OpenReservations]);
}

#[test]
fn the_largest_limit_is_a_limit() {
    let mut account = TestAccount::of(BudgetDefinition { hard: limits(u64::MAX), ..budget("b") });
    let most = reservation(1, u64::MAX, 0);
    assert!(account.at(day(1)).hits(&most).is_empty());
    reserve(&mut account, &most, day(1));
    assert_eq!(causes(account.at(day(1)), &reservation(2, 1, 0)), [LimitCause::HardLimit]);
}
