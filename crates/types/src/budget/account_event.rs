//! What is recorded of an account of a budget.
//!
//! Owns the facts. Decisions about them are made elsewhere.

use super::purse::PurseKey;
use super::reservation::{ReservationId, ReservationRequest};
use super::time_window::{WindowKind, WindowSpan};
use super::usage_amount::{LimitMeasure, UsageAmount};
use crate::{BudgetId, RunId};

/// Names an account. A budget that gets another window begins with another account, because the windows of the old one do
/// not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AccountKey {
    /// The budget.
    pub budget: BudgetId,
    /// Its window.
    pub window: WindowKind,
    /// The purse.
    pub purse: PurseKey,
    /// The run, where each has its own.
    pub run: Option<RunId>,
}

/// What a charge is based on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ChargeBasis {
    /// The usage that the provider reported.
    ReportedUsage,
    /// The reservation: the usage never arrived.
    Reservation,
    /// The reservation: the outcome is unknown.
    LostRequest,
    /// The request alone, without tokens.
    RefusedRequest,
}

/// The charge for one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SettledCharge {
    /// What is spent.
    pub charged: UsageAmount,
    /// The part of it that the reservation did not cover.
    pub above_reservation: UsageAmount,
    /// Reported usage beyond the bound of a charge, which is not spent.
    pub not_charged: UsageAmount,
    /// What it is based on.
    pub basis: ChargeBasis,
}

/// Why a person raised the limits of a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TopUpReason {
    /// One request may go on, and its amount was missing.
    GoOnOnce,
    /// A person named an amount.
    Person,
}

/// A recorded fact about an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccountEvent {
    /// A window began; the one before it is over.
    WindowOpened {
        /// From when to when. Recorded, so that a replay does not depend on the rules of time zones.
        span: WindowSpan,
    },
    /// The limits of the current window were raised.
    ToppedUp {
        /// By how much.
        amount: UsageAmount,
        /// Why.
        reason: TopUpReason,
    },
    /// A request is dispatched.
    Reserved {
        /// The request as a whole, so that a later start can end it by the price of its dispatch.
        request: ReservationRequest,
    },
    /// Spent and reserved together went above a soft limit for the first time in this window.
    SoftLimitPassed {
        /// The limit's measure.
        measure: LimitMeasure,
    },
    /// A request was charged.
    Settled {
        /// Its reservation.
        id: ReservationId,
        /// The charge.
        charge: SettledCharge,
    },
    /// A reservation was given back.
    Released {
        /// The reservation.
        id: ReservationId,
    },
}
