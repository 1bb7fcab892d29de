//! Random histories of budgets: reservations, ends, changed limits, clocks that jump, people who let a run go on.

use palyra_types::Attempt;
use palyra_types::model::{TokenUsage, UsageSource};
use proptest::prelude::*;

use crate::account::{AccountEvent, BudgetAccount, TopUpReason};
use crate::budget::BudgetDefinition;
use crate::fixture::{TestAccount, budget, day, id, quote, reported_usage, reservation};
use crate::path_decision::{PathDecision, PathReservation, decide_reservation, reserve_once};
use crate::settlement::{RequestOutcome, ReservationEnd};
use palyra_types::budget::MoneyAmount;
use palyra_types::budget::RequestSize;
use palyra_types::budget::{LimitMeasure, UsageAmount, UsageLimits};
use palyra_types::budget::{ReservationRequest, TaskClass};

#[derive(Debug, Clone)]
enum Step {
    Reserve { class: TaskClass, size: RequestSize, price: Option<u64> },
    ReserveOnce { size: RequestSize },
    End { which: usize, outcome: RequestOutcome },
    Limits { budget: usize, hard: UsageLimits },
    TopUp { budget: usize, tokens: u64 },
    Clock { window: i64 },
}

/// Two budgets on one path with everything that was recorded for them.
struct History {
    accounts: Vec<TestAccount>,
    events: Vec<Vec<AccountEvent>>,
    open: Vec<ReservationRequest>,
    window: i64,
    attempts: u32,
}

impl History {
    fn new() -> Self {
        let money = UsageLimits { money: Some(MoneyAmount(5_000)), ..UsageLimits::default() };
        let accounts = vec![
            TestAccount::of(budget("tokens")),
            TestAccount::of(BudgetDefinition { hard: money, ..budget("money") }),
        ];
        Self { accounts, events: vec![Vec::new(), Vec::new()], open: Vec::new(), window: 10, attempts: 0 }
    }

    fn record(&mut self, budget: usize, events: &[AccountEvent]) {
        let account = &mut self.accounts[budget].account;
        events.iter().for_each(|event| account.evolve(event));
        self.events[budget].extend_from_slice(events);
    }

    fn record_all(&mut self, reservation: &PathReservation) {
        for (budget, change) in reservation.changes.iter().enumerate() {
            self.record(budget, &change.events);
        }
    }

    fn request(&mut self, class: TaskClass, size: RequestSize, price: Option<u64>) -> ReservationRequest {
        self.attempts += 1;
        ReservationRequest {
            id: id(self.attempts, class),
            size,
            price: price.map(|price| quote(price, price)),
        }
    }

    fn step(&mut self, step: &Step) {
        let span = day(self.window);
        match step {
            Step::Reserve { class, size, price } => {
                let request = self.request(*class, *size, *price);
                let path: Vec<_> = self.accounts.iter().map(|account| account.at(span)).collect();
                if let PathDecision::Reserve(reservation) = decide_reservation(&path, &request) {
                    self.record_all(&reservation);
                    self.open.push(request);
                    self.check_limits();
                }
            }
            Step::ReserveOnce { size } => {
                let request = self.request(TaskClass::Interactive, *size, Some(1));
                let path: Vec<_> = self.accounts.iter().map(|account| account.at(span)).collect();
                if let Some(reservation) = reserve_once(&path, &request) {
                    self.record_all(&reservation);
                    self.open.push(request);
                    self.check_limits();
                }
            }
            Step::End { which, outcome } => {
                if !self.open.is_empty() {
                    let request = self.open.remove(which % self.open.len());
                    self.end(&request, *outcome);
                }
            }
            Step::Limits { budget, hard } => self.accounts[*budget].definition.hard = *hard,
            Step::TopUp { budget, tokens } => {
                let amount = UsageAmount { tokens: *tokens, ..UsageAmount::ZERO };
                let events = self.accounts[*budget].account.top_up(amount, TopUpReason::Person, span);
                self.record(*budget, &events);
            }
            Step::Clock { window } => self.window = *window,
        }
    }

    /// After each reservation, all accounts are within their limits, also after charges above a reservation.
    fn check_limits(&self) {
        for TestAccount { definition, account, key } in &self.accounts {
            for measure in LimitMeasure::ALL {
                let Some(hard) = definition.hard.of(measure) else { continue };
                let limit = hard.saturating_add(account.totals().topped_up.of(measure));
                let used = used(account, measure);
                assert!(used <= u128::from(limit), "{key:?} {measure}: {used} above {limit}");
            }
        }
    }

    /// An end adds nothing but what is recorded as above the reservation, and that is at most the reservation.
    fn end(&mut self, request: &ReservationRequest, outcome: RequestOutcome) {
        let span = day(self.window);
        let end = outcome.end(request);
        let above = match end {
            ReservationEnd::Charge(charge) => charge.above_reservation,
            ReservationEnd::Release => UsageAmount::ZERO,
        };
        for budget in 0..self.accounts.len() {
            let before = self.accounts[budget].account.clone();
            let events = before.settle(request.id, end, span);
            assert!(!events.is_empty(), "it was open");
            self.record(budget, &events);
            let after = &self.accounts[budget].account;
            for measure in LimitMeasure::ALL {
                assert!(above.of(measure) <= request.amount().of(measure));
                let most = used(&before, measure) + u128::from(above.of(measure));
                assert!(used(after, measure) <= most, "{measure} of {request:?}");
            }
        }
    }
}

fn used(account: &BudgetAccount, measure: LimitMeasure) -> u128 {
    u128::from(account.totals().spent.of(measure)) + account.reserved_in(measure)
}

/// Amounts that matter: small ones, ones around the limits, and the largest.
fn amounts() -> impl Strategy<Value = u64> {
    prop_oneof![
        6 => 0_u64..3_000,
        1 => prop::sample::select(vec![0, 1, 5_000, 10_000, 10_001, u64::MAX / 2, u64::MAX - 1, u64::MAX]),
    ]
}

fn sizes() -> impl Strategy<Value = RequestSize> {
    (amounts(), amounts())
        .prop_map(|(input_tokens, output_tokens_max)| RequestSize { input_tokens, output_tokens_max })
}

fn outcomes() -> impl Strategy<Value = RequestOutcome> {
    let usage = (amounts(), amounts(), amounts(), amounts(), any::<bool>());
    let answered =
        usage.prop_map(|(input_tokens, cached_input_tokens, output_tokens, reasoning_tokens, reported)| {
            let source = if reported { UsageSource::Reported } else { UsageSource::Estimated };
            RequestOutcome::Answered {
                usage: Some(TokenUsage {
                    input_tokens,
                    cached_input_tokens,
                    output_tokens,
                    reasoning_tokens,
                    source,
                }),
            }
        });
    prop_oneof![
        4 => answered,
        2 => Just(RequestOutcome::Answered { usage: None }),
        1 => Just(RequestOutcome::Refused),
        1 => Just(RequestOutcome::NotSent),
        1 => Just(RequestOutcome::Lost),
    ]
}

fn limits() -> impl Strategy<Value = UsageLimits> {
    let measure = || prop::option::of(amounts());
    (measure(), measure(), measure()).prop_map(|(tokens, money, requests)| UsageLimits {
        tokens,
        money: money.map(MoneyAmount),
        requests,
    })
}

fn steps() -> impl Strategy<Value = Step> {
    let class = prop::sample::select(TaskClass::ALL.map(|(class, _)| class).to_vec());
    let price = prop_oneof![8 => (0_u64..4).prop_map(Some), 1 => Just(None)];
    prop_oneof![
        8 => (class, sizes(), price).prop_map(|(class, size, price)| Step::Reserve { class, size, price }),
        1 => sizes().prop_map(|size| Step::ReserveOnce { size }),
        6 => (any::<usize>(), outcomes()).prop_map(|(which, outcome)| Step::End { which, outcome }),
        1 => (0_usize..2, limits()).prop_map(|(budget, hard)| Step::Limits { budget, hard }),
        1 => (0_usize..2, amounts()).prop_map(|(budget, tokens)| Step::TopUp { budget, tokens }),
        1 => (0_i64..20).prop_map(|window| Step::Clock { window }),
    ]
}

proptest! {
    #[test]
    fn no_history_takes_an_account_above_its_limit(steps in prop::collection::vec(steps(), 1..80)) {
        let mut history = History::new();
        for step in &steps {
            let before: Vec<BudgetAccount> =
                history.accounts.iter().map(|account| account.account.clone()).collect();
            history.step(step);
            for (earlier, later) in before.iter().zip(&history.accounts) {
                let later = &later.account;
                for measure in LimitMeasure::ALL {
                    prop_assert!(earlier.spent_ever().of(measure) <= later.spent_ever().of(measure));
                    if earlier.totals().span == later.totals().span {
                        prop_assert!(earlier.totals().spent.of(measure) <= later.totals().spent.of(measure));
                    }
                }
                let start = |account: &BudgetAccount| account.totals().span.map(|span| span.start);
                prop_assert!(start(earlier) <= start(later), "a window was opened again");
            }
        }
        for (account, events) in history.accounts.iter().zip(&history.events) {
            let mut replayed = BudgetAccount::default();
            events.iter().for_each(|event| replayed.evolve(event));
            prop_assert_eq!(&replayed, &account.account, "a replay gives the same account");
            prop_assert_eq!(account.account.open().len(), history.open.len(), "all or nothing");
        }
    }

    #[test]
    fn events_in_any_order_never_panic(seed in prop::collection::vec((steps(), any::<bool>()), 0..40)) {
        let mut history = History::new();
        for (step, _) in &seed {
            history.step(step);
        }
        let mut account = BudgetAccount::default();
        for (event, (_, twice)) in history.events.concat().iter().rev().zip(seed.iter().cycle()) {
            account.evolve(event);
            if *twice {
                account.evolve(event);
            }
        }
        let _ = account.spent_ever();
    }
}

/// Runs that all ask at once, again and again, until their budget has no room; returns the most that was in flight.
fn exhaust(accounts: &mut TestAccount, runs: u32, outcome: RequestOutcome) -> u64 {
    let mut most_reserved = 0;
    let mut open: Vec<ReservationRequest> = Vec::new();
    for attempt in 1..=runs * 20 {
        let request = ReservationRequest {
            id: palyra_types::budget::ReservationId { attempt: Attempt(attempt), ..reservation(1, 0, 0).id },
            ..reservation(attempt, 40, 10)
        };
        if let PathDecision::Reserve(made) = decide_reservation(&[accounts.at(day(1))], &request) {
            made.changes[0].events.iter().for_each(|event| accounts.account.evolve(event));
            open.push(request);
        }
        let reserved = accounts.account.reserved().tokens;
        most_reserved = reserved.max(most_reserved);
        assert!(accounts.account.totals().spent.tokens + reserved <= 10_000 + most_reserved);
        if open.len() as u32 >= runs || attempt % 7 == 0 && !open.is_empty() {
            let ended = open.remove(0);
            let events = accounts.account.settle(ended.id, outcome.end(&ended), day(1));
            events.iter().for_each(|event| accounts.account.evolve(event));
        }
    }
    for ended in open {
        let events = accounts.account.settle(ended.id, outcome.end(&ended), day(1));
        events.iter().for_each(|event| accounts.account.evolve(event));
    }
    most_reserved
}

#[test]
fn a_hundred_runs_on_one_budget_stay_within_it_however_their_requests_end() {
    let honest = RequestOutcome::Answered { usage: Some(reported_usage(40, 10)) };
    for outcome in [honest, RequestOutcome::Answered { usage: None }, RequestOutcome::Lost] {
        let mut account = TestAccount::of(budget("b"));
        exhaust(&mut account, 100, outcome);
        assert_eq!(account.account.totals().spent.tokens, 10_000, "{outcome:?}");
    }
}

#[test]
fn a_provider_that_reports_triple_goes_above_by_at_most_what_was_in_flight() {
    for usage in [reported_usage(120, 30), reported_usage(u64::MAX, u64::MAX)] {
        let mut account = TestAccount::of(budget("b"));
        let most_reserved = exhaust(&mut account, 100, RequestOutcome::Answered { usage: Some(usage) });
        let spent = account.account.totals().spent.tokens;
        assert!(spent > 10_000 && spent <= 10_000 + most_reserved, "{spent}, {most_reserved} in flight");
        assert!(account.account.totals().above_reservation.tokens > 0);
    }
}
