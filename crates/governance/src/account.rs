//! One account of a budget: what its window has spent, and what is reserved.
//!
//! Owns the fold over its events. Knows no limits: those are of the budget's definition, which may change at any time.
//!
//! Invariant: [`BudgetAccount::evolve`] is the only writer. Within a window the spent amount never falls; a window that was
//! replaced by a later one never becomes the current one again.

use std::collections::BTreeMap;

use crate::settlement::{ReservationEnd, SettledCharge};
use crate::time_window::WindowSpan;
pub(crate) use palyra_types::budget::{AccountEvent, TopUpReason};
use palyra_types::budget::{LimitMeasure, ReservationId, ReservationRequest, TaskClass, UsageAmount};

/// Open reservations of one account, at most.
pub const OPEN_RESERVATIONS_MAX: usize = 10_000;

/// What was counted in one window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WindowTotals {
    /// The window; `None` before the first one.
    pub span: Option<WindowSpan>,
    /// All charges.
    pub spent: UsageAmount,
    /// Those of auxiliary calls.
    pub auxiliary_spent: UsageAmount,
    /// By how much the limits were raised.
    pub topped_up: UsageAmount,
    /// Charges that no reservation covered.
    pub above_reservation: UsageAmount,
    /// Reported usage that was not charged.
    pub not_charged: UsageAmount,
    /// Requests to models without a price.
    pub unpriced_requests: u64,
    /// The measures in which a soft limit was passed.
    pub warned: WarnedMeasures,
}

impl WindowTotals {
    /// Returns whether the soft limit in a measure was passed in this window.
    #[must_use]
    pub fn is_warned(&self, measure: LimitMeasure) -> bool {
        match measure {
            LimitMeasure::Tokens => self.warned.tokens,
            LimitMeasure::Money => self.warned.money,
            LimitMeasure::Requests => self.warned.requests,
        }
    }
}

/// The measures in which a soft limit was passed in a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WarnedMeasures {
    /// That on tokens.
    pub tokens: bool,
    /// That on money.
    pub money: bool,
    /// That on requests.
    pub requests: bool,
}

/// An account. It begins empty, and its events make the rest.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BudgetAccount {
    totals: WindowTotals,
    open: BTreeMap<ReservationId, ReservationRequest>,
    spent_before: UsageAmount,
}

impl BudgetAccount {
    /// Makes an account again from what a store kept of it.
    #[must_use]
    pub fn restored(
        totals: WindowTotals,
        spent_before: UsageAmount,
        open: impl IntoIterator<Item = ReservationRequest>,
    ) -> Self {
        let open = open.into_iter().map(|request| (request.id, request)).collect();
        Self { totals, open, spent_before }
    }

    /// Returns all charges of the windows before the current one, saturating.
    #[must_use]
    pub fn spent_before(&self) -> UsageAmount {
        self.spent_before
    }

    /// Returns what the current window has counted. It stays the current one until an event opens a later one.
    #[must_use]
    pub fn totals(&self) -> WindowTotals {
        self.totals
    }

    /// Returns the totals that count at a time whose window is `span`: those of the current window, or empty ones when that
    /// window is over. A clock that was set back finds the current window.
    #[must_use]
    pub fn totals_in(&self, span: WindowSpan) -> WindowTotals {
        if self.opens(span) {
            WindowTotals { span: Some(span), ..WindowTotals::default() }
        } else {
            self.totals
        }
    }

    /// Returns the sum of all open reservations as people read it, saturating.
    #[must_use]
    pub fn reserved(&self) -> UsageAmount {
        self.open.values().fold(UsageAmount::ZERO, |sum, request| sum.plus(request.amount()))
    }

    /// Returns the exact sum of all open reservations in one measure, to be compared with a limit.
    #[must_use]
    pub fn reserved_in(&self, measure: LimitMeasure) -> u128 {
        self.open.values().map(|request| u128::from(request.amount().of(measure))).sum()
    }

    /// Returns the exact sum of the open reservations of auxiliary calls in one measure.
    #[must_use]
    pub fn auxiliary_reserved_in(&self, measure: LimitMeasure) -> u128 {
        let auxiliary = self.open.iter().filter(|(id, _)| id.class == TaskClass::Auxiliary);
        auxiliary.map(|(_, request)| u128::from(request.amount().of(measure))).sum()
    }

    /// Returns the open reservations. Those of an earlier window are reserved in the current one until they end.
    #[must_use]
    pub fn open(&self) -> &BTreeMap<ReservationId, ReservationRequest> {
        &self.open
    }

    /// Returns all charges of all windows, saturating.
    #[must_use]
    pub fn spent_ever(&self) -> UsageAmount {
        self.spent_before.plus(self.totals.spent)
    }

    /// Returns the event that opens the window of `span`, when the current one is over.
    #[must_use]
    pub fn opening(&self, span: WindowSpan) -> Option<AccountEvent> {
        self.opens(span).then_some(AccountEvent::WindowOpened { span })
    }

    /// Returns the events that raise the limits of the window at a time whose window is `span`.
    #[must_use]
    pub fn top_up(&self, amount: UsageAmount, reason: TopUpReason, span: WindowSpan) -> Vec<AccountEvent> {
        let topped_up = AccountEvent::ToppedUp { amount, reason };
        self.opening(span).into_iter().chain([topped_up]).collect()
    }

    /// Returns the events that end a reservation at a time whose window is `span`: none when it is not open, so an end that
    /// arrives twice is charged once. The charge counts in the window in which it ends.
    #[must_use]
    pub fn settle(&self, id: ReservationId, end: ReservationEnd, span: WindowSpan) -> Vec<AccountEvent> {
        if !self.open.contains_key(&id) {
            return Vec::new();
        }
        let ended = match end {
            ReservationEnd::Charge(charge) => AccountEvent::Settled { id, charge },
            ReservationEnd::Release => AccountEvent::Released { id },
        };
        self.opening(span).into_iter().chain([ended]).collect()
    }

    /// Applies one event.
    ///
    /// Total: an event about a reservation that is not open, or about a window that is over, changes nothing.
    pub fn evolve(&mut self, event: &AccountEvent) {
        match event {
            AccountEvent::WindowOpened { span } => {
                if self.opens(*span) {
                    self.spent_before = self.spent_ever();
                    self.totals = WindowTotals { span: Some(*span), ..WindowTotals::default() };
                }
            }
            AccountEvent::ToppedUp { amount, .. } => {
                self.totals.topped_up = self.totals.topped_up.plus(*amount);
            }
            AccountEvent::Reserved { request } => {
                self.open.insert(request.id, *request);
                let unpriced = u64::from(request.price.is_none());
                self.totals.unpriced_requests = self.totals.unpriced_requests.saturating_add(unpriced);
            }
            AccountEvent::SoftLimitPassed { measure } => self.warn(*measure),
            AccountEvent::Settled { id, charge } => {
                if self.open.remove(id).is_some() {
                    self.charge(id.class, charge);
                }
            }
            AccountEvent::Released { id } => {
                self.open.remove(id);
            }
        }
    }

    fn opens(&self, span: WindowSpan) -> bool {
        self.totals.span.is_none_or(|current| span.follows(current))
    }

    fn warn(&mut self, measure: LimitMeasure) {
        match measure {
            LimitMeasure::Tokens => self.totals.warned.tokens = true,
            LimitMeasure::Money => self.totals.warned.money = true,
            LimitMeasure::Requests => self.totals.warned.requests = true,
        }
    }

    fn charge(&mut self, class: TaskClass, charge: &SettledCharge) {
        let totals = &mut self.totals;
        totals.spent = totals.spent.plus(charge.charged);
        if class == TaskClass::Auxiliary {
            totals.auxiliary_spent = totals.auxiliary_spent.plus(charge.charged);
        }
        totals.above_reservation = totals.above_reservation.plus(charge.above_reservation);
        totals.not_charged = totals.not_charged.plus(charge.not_charged);
    }
}

#[cfg(test)]
mod tests;
