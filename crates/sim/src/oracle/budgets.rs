//! Accounts of budgets, folded a second time from their committed entries alone.
//!
//! Owns a picture that knows no decision of the runtime: limits, and what is spent, raised and reserved. Invariant: a
//! reservation that takes an account above its limit is found at its commit.

use std::collections::{BTreeMap, BTreeSet};

use palyra_types::BudgetId;
use palyra_types::budget::{
    AccountEvent, AccountKey, BudgetEvent, LimitMeasure, ReservationId, SettledCharge, UsageAmount,
    UsageLimits, WindowKind, WindowSpan,
};

/// A request is charged at most so many times what was reserved.
const CHARGE_FACTOR: u64 = 2;

/// What the entries say of all budgets.
#[derive(Default)]
pub(super) struct BudgetCheck {
    in_force: BTreeMap<BudgetId, BudgetLimits>,
    accounts: BTreeMap<AccountKey, AccountView>,
}

#[derive(Debug, Clone, Copy)]
struct BudgetLimits {
    hard: UsageLimits,
    window: WindowKind,
}

/// One account.
#[derive(Default)]
struct AccountView {
    span: Option<WindowSpan>,
    spent: UsageAmount,
    raised: UsageAmount,
    open: BTreeMap<ReservationId, UsageAmount>,
    ended: BTreeSet<ReservationId>,
}

impl BudgetCheck {
    /// Takes the next entry of budgets; returns what is wrong with it.
    pub(super) fn take(&mut self, event: &BudgetEvent) -> Option<String> {
        match event {
            BudgetEvent::Set(set) => {
                let limits = BudgetLimits { hard: set.hard, window: set.window };
                self.in_force.insert(set.budget, limits);
                None
            }
            BudgetEvent::Removed { budget } => {
                self.in_force.remove(budget);
                None
            }
            // The simulated model counts its tokens, and an answer has some.
            BudgetEvent::AuxiliaryUsed(used) => (used.usage.input_tokens + used.usage.output_tokens == 0)
                .then(|| format!("a request for a {} used nothing", used.purpose.as_str())),
            BudgetEvent::Account { account: key, event } => {
                let account = self.accounts.entry(*key).or_default();
                let wrong = account.take(event);
                let hard = self.in_force.get(&key.budget).map(|limits| limits.hard).unwrap_or_default();
                let above = matches!(event, AccountEvent::Reserved { .. })
                    .then(|| LimitMeasure::ALL.into_iter().find(|measure| account.is_above(hard, *measure)))
                    .flatten();
                let above = above.map(|measure| format!("goes above its limit of {}", measure.as_str()));
                wrong.or(above).map(|what| format!("the account {key:?} {what}"))
            }
        }
    }

    /// Returns whether no budget is in force.
    pub(super) fn is_empty(&self) -> bool {
        self.in_force.is_empty()
    }

    /// Returns the reservations that never ended, once everything is over.
    pub(super) fn left_open(&self) -> Vec<String> {
        let accounts = self.accounts.iter().filter(|(key, _)| {
            self.in_force.get(&key.budget).is_some_and(|limits| limits.window == key.window)
        });
        let open = accounts.flat_map(|(key, account)| account.open.keys().map(move |id| (key, id)));
        open.map(|(key, id)| format!("the reservation {id:?} of {key:?} is never settled")).collect()
    }
}

impl AccountView {
    fn take(&mut self, event: &AccountEvent) -> Option<String> {
        match event {
            AccountEvent::WindowOpened { span } => {
                if self.span.is_none_or(|current| span.follows(current)) {
                    *self = Self {
                        span: Some(*span),
                        open: std::mem::take(&mut self.open),
                        ended: std::mem::take(&mut self.ended),
                        ..Self::default()
                    };
                }
                None
            }
            AccountEvent::ToppedUp { amount, .. } => {
                self.raised = self.raised.plus(*amount);
                None
            }
            AccountEvent::Reserved { request } => {
                let again = self.ended.contains(&request.id)
                    || self.open.insert(request.id, request.amount()).is_some();
                again.then(|| format!("reserves {:?} a second time", request.id))
            }
            AccountEvent::SoftLimitPassed { .. } => None,
            AccountEvent::Settled { id, charge } => {
                let reserved = self.end(*id);
                self.spent = self.spent.plus(charge.charged);
                match reserved {
                    None => Some(format!("settles {id:?}, which is not open")),
                    Some(reserved) => unfounded(charge, reserved).then(|| {
                        format!("charges {:?} for {reserved:?}, which is not allowed", charge.charged)
                    }),
                }
            }
            AccountEvent::Released { id } => {
                self.end(*id).is_none().then(|| format!("gives {id:?} back, which is not open"))
            }
        }
    }

    fn end(&mut self, id: ReservationId) -> Option<UsageAmount> {
        self.ended.insert(id);
        self.open.remove(&id)
    }

    fn is_above(&self, hard: UsageLimits, measure: LimitMeasure) -> bool {
        let used = self.open.values().fold(self.spent, |used, reserved| used.plus(*reserved)).of(measure);
        hard.of(measure).is_some_and(|limit| used > limit.saturating_add(self.raised.of(measure)))
    }
}

/// Returns whether a charge is more than its reservation without saying so, or above the bound of a charge.
fn unfounded(charge: &SettledCharge, reserved: UsageAmount) -> bool {
    LimitMeasure::ALL.into_iter().any(|measure| {
        let charged = charge.charged.of(measure);
        let covered = reserved.of(measure);
        charged > covered.saturating_add(charge.above_reservation.of(measure))
            || charged > covered.saturating_mul(CHARGE_FACTOR)
    })
}
