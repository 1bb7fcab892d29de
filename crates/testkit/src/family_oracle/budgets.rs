//! Budgets and their accounts by a naive fold: each account is the list of its entries, which is read from its beginning.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use palyra_journal_core::families::budget_accounts::AccountRow;
use palyra_types::BudgetId;
use palyra_types::budget::{
    AccountEvent, AccountKey, BudgetEvent, BudgetRecord, LimitMeasure, ReservationRequest, TaskClass,
    UsageAmount, WindowSpan,
};
use palyra_types::tape::JournalEventRecord;

/// Budgets in force by id, and what was recorded of each account.
#[derive(Debug, Default)]
pub struct BudgetOracle {
    /// The budgets.
    pub in_force: BTreeMap<BudgetId, BudgetRecord>,
    accounts: BTreeMap<AccountKey, Vec<AccountEvent>>,
}

impl BudgetOracle {
    pub(super) fn fold(&mut self, entry: &JournalEventRecord, event: &BudgetEvent) {
        match event {
            BudgetEvent::Set(set) => {
                let record = BudgetRecord {
                    set: set.clone(),
                    by: entry.principal,
                    seq: entry.seq,
                    changed: entry.time,
                };
                self.in_force.insert(set.budget, record);
            }
            BudgetEvent::Removed { budget } => {
                self.in_force.remove(budget);
            }
            BudgetEvent::Account { account, event } => {
                self.accounts.entry(*account).or_default().push(*event);
            }
            BudgetEvent::AuxiliaryUsed(_) => {}
        }
    }

    /// Returns each account as text, in order of its name.
    pub fn accounts(&self) -> impl Iterator<Item = String> {
        self.accounts.iter().map(|(key, events)| AccountTally::of(events).text(key))
    }
}

/// Returns an account of the family as text, as [`BudgetOracle::accounts`] has it.
#[must_use]
pub fn shown(row: &AccountRow) -> String {
    let totals = row.account.totals();
    let warned = LimitMeasure::ALL.into_iter().filter(|measure| totals.is_warned(*measure)).collect();
    AccountTally {
        span: totals.span,
        spent: totals.spent,
        auxiliary: totals.auxiliary_spent,
        topped_up: totals.topped_up,
        above: totals.above_reservation,
        not_charged: totals.not_charged,
        unpriced: totals.unpriced_requests,
        warned,
        before: row.account.spent_before(),
        open: row.account.open().values().copied().collect(),
    }
    .text(&row.key)
}

/// What is counted in an account.
#[derive(Debug, Default)]
struct AccountTally {
    span: Option<WindowSpan>,
    spent: UsageAmount,
    auxiliary: UsageAmount,
    topped_up: UsageAmount,
    above: UsageAmount,
    not_charged: UsageAmount,
    unpriced: u64,
    warned: Vec<LimitMeasure>,
    before: UsageAmount,
    open: Vec<ReservationRequest>,
}

impl AccountTally {
    fn of(events: &[AccountEvent]) -> Self {
        let mut tally = Self::default();
        for event in events {
            match event {
                AccountEvent::WindowOpened { span } => {
                    if tally.span.is_none_or(|current| span.start >= current.end) {
                        tally = Self {
                            span: Some(*span),
                            before: tally.before.plus(tally.spent),
                            open: tally.open,
                            ..Self::default()
                        };
                    }
                }
                AccountEvent::ToppedUp { amount, .. } => tally.topped_up = tally.topped_up.plus(*amount),
                AccountEvent::Reserved { request } => {
                    tally.open.retain(|open| open.id != request.id);
                    tally.open.push(*request);
                    tally.unpriced += u64::from(request.price.is_none());
                }
                AccountEvent::SoftLimitPassed { measure } => tally.warned.push(*measure),
                AccountEvent::Settled { id, charge } => {
                    if tally.open.iter().any(|open| open.id == *id) {
                        tally.open.retain(|open| open.id != *id);
                        tally.spent = tally.spent.plus(charge.charged);
                        tally.above = tally.above.plus(charge.above_reservation);
                        tally.not_charged = tally.not_charged.plus(charge.not_charged);
                        if id.class == TaskClass::Auxiliary {
                            tally.auxiliary = tally.auxiliary.plus(charge.charged);
                        }
                    }
                }
                AccountEvent::Released { id } => tally.open.retain(|open| open.id != *id),
            }
        }
        tally
    }

    fn text(mut self, key: &AccountKey) -> String {
        self.warned.sort_unstable();
        self.warned.dedup();
        self.open.sort_by_key(|open| open.id);
        let mut text = format!("{key:?}");
        let _ = write!(text, " {self:?}");
        text
    }
}
