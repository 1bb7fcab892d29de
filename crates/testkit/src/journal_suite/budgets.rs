//! Budgets and their accounts.

use palyra_journal_core::families::{budget_accounts, budgets};
use palyra_journal_core::family::QueryFamilies;
use palyra_ports::{AppendTape, NewEntry};
use palyra_types::budget::{
    AccountEvent, AccountKey, BudgetEvent, BudgetScope, BudgetSet, ChargeBasis, LimitAction, PurseKey,
    RequestSize, ReservationId, ReservationRequest, SettledCharge, TaskClass, UsageAmount, UsageLimits,
    WindowKind, WindowSpan,
};
use palyra_types::{Attempt, BudgetId, Redacted, RunId, Seq, Timestamp};

use super::JournalFactory;
use super::samples::{self, append};

/// Makes a budget of so many tokens a day for all runs together.
#[must_use]
pub fn budget(number: u128, name: &str, tokens: u64) -> BudgetSet {
    BudgetSet {
        budget: BudgetId::from_parts(12, number),
        scope: BudgetScope::One(PurseKey::Total),
        window: WindowKind::Day,
        hard: UsageLimits { tokens: Some(tokens), ..UsageLimits::default() },
        soft: UsageLimits::default(),
        at_limit: LimitAction::Park,
        auxiliary_percent: 20,
        name: Redacted::cleaned(name.to_owned()),
    }
}

async fn tell<F: JournalFactory>(journal: &F::Journal, event: BudgetEvent) -> Seq {
    let principal = samples::principal(0);
    let entry = NewEntry { time: Timestamp(5), principal, session: None, run: None, event: event.into() };
    journal.append(append(vec![entry])).await.unwrap().first_seq
}

async fn names<F: JournalFactory>(journal: &F::Journal) -> Vec<(String, Option<u64>)> {
    let found = journal.query(budgets::in_force).await.unwrap();
    found.iter().map(|one| (one.set.name.expose().clone(), one.set.hard.tokens)).collect()
}

/// A change replaces a budget as a whole, and its removal ends it.
pub async fn a_budget_is_in_force_until_it_is_removed<F: JournalFactory>(factory: &F) {
    let journal = factory.make();
    let one = budget(1, "one", 10);
    let other = budget(2, "other", 20);
    let first = tell::<F>(&journal, BudgetEvent::Set(one.clone())).await;
    tell::<F>(&journal, BudgetEvent::Set(other.clone())).await;
    let changed = BudgetSet { hard: UsageLimits { tokens: Some(30), ..one.hard }, ..one.clone() };
    tell::<F>(&journal, BudgetEvent::Set(changed)).await;
    let named = |name: &str, tokens| (name.to_owned(), Some(tokens));
    assert_eq!(names::<F>(&journal).await, [named("one", 30), named("other", 20)]);
    tell::<F>(&journal, BudgetEvent::Removed { budget: one.budget }).await;
    tell::<F>(&journal, BudgetEvent::Removed { budget: BudgetId::from_parts(12, 9) }).await;
    assert_eq!(names::<F>(&journal).await, [named("other", 20)]);
    tell::<F>(&journal, BudgetEvent::Set(one)).await;
    assert_eq!(names::<F>(&journal).await, [named("one", 10), named("other", 20)]);
    factory.erase(&journal, first);
    assert_eq!(names::<F>(&journal).await, [named("one", 10), named("other", 20)], "of a later entry");
}

fn day(number: i64) -> WindowSpan {
    WindowSpan { start: Timestamp(number * 100), end: Timestamp(number * 100 + 100) }
}

/// A request is reserved until it ends, and its charge stays in its window.
pub async fn an_account_is_folded_from_its_entries<F: JournalFactory>(factory: &F) {
    let journal = factory.make();
    let budget = BudgetId::from_parts(12, 1);
    let key = AccountKey { budget, window: WindowKind::Day, purse: PurseKey::Total, run: None };
    let other = AccountKey { purse: PurseKey::Principal(samples::principal(0)), ..key };
    let id =
        ReservationId { run: RunId::from_parts(3, 1), class: TaskClass::Interactive, attempt: Attempt(1) };
    let size = RequestSize { input_tokens: 10, output_tokens_max: 5 };
    let request = ReservationRequest { id, size, price: None };
    let account_of = async |key: AccountKey| {
        journal.query(move |rows, _| budget_accounts::account(rows, &key)).await.unwrap()
    };
    assert_eq!(account_of(key).await, None);
    for event in [AccountEvent::WindowOpened { span: day(1) }, AccountEvent::Reserved { request }] {
        tell::<F>(&journal, BudgetEvent::Account { account: key, event }).await;
    }
    tell::<F>(&journal, BudgetEvent::Account { account: other, event: AccountEvent::Reserved { request } })
        .await;
    let account = account_of(key).await.unwrap();
    assert_eq!(account.open().values().copied().collect::<Vec<_>>(), [request]);
    let open = journal.query(|rows, _| budget_accounts::with_reservations(rows)).await.unwrap();
    assert_eq!(open.iter().map(|row| row.key).collect::<Vec<_>>(), [key, other]);
    let charged = UsageAmount { tokens: 12, requests: 1, ..UsageAmount::ZERO };
    let charge = SettledCharge {
        charged,
        above_reservation: UsageAmount::ZERO,
        not_charged: UsageAmount::ZERO,
        basis: ChargeBasis::ReportedUsage,
    };
    for _ in 0..2 {
        let event = AccountEvent::Settled { id, charge };
        tell::<F>(&journal, BudgetEvent::Account { account: key, event }).await;
    }
    let account = account_of(key).await.unwrap();
    assert_eq!((account.totals().spent, account.open().len()), (charged, 0), "an end counts once");
    let event = AccountEvent::WindowOpened { span: day(2) };
    tell::<F>(&journal, BudgetEvent::Account { account: key, event }).await;
    let account = account_of(key).await.unwrap();
    assert_eq!((account.totals().spent, account.spent_ever()), (UsageAmount::ZERO, charged));
    let of_budget =
        journal.query(move |rows, _| budget_accounts::accounts_of(rows, budget, 9)).await.unwrap();
    assert_eq!(of_budget.len(), 2);
}
