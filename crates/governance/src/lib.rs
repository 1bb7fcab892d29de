//! Decides what a model request may cost, and which model serves it.
//!
//! Owns money, prices, budgets with their accounts, and the routing plan. Knows no clock, disk, network, chance or task:
//! times, time zones and accounts are inputs, and decisions are returned as events that the caller records.
//!
//! Invariant: [`BudgetAccount::evolve`] is the only writer of an account, so a replay of its events gives the same account;
//! and no reservation takes an account above its limit. Begin at [`decide_reservation`], then [`UsageRoutingPlan`].

#![warn(clippy::wildcard_enum_match_arm)]

mod money;
mod usage_amount;
mod request_size;
mod price;
mod catalogue;

mod time_window;
mod purse;
mod budget;

mod reservation;
mod settlement;
mod account;
mod limit_hit;
mod path_account;
mod path_decision;

mod candidate;
mod routing_reason;
mod routing;

#[cfg(test)]
mod fixture;
#[cfg(test)]
mod properties;

pub use account::{AccountEvent, BudgetAccount, OPEN_RESERVATIONS_MAX, TopUpReason, WindowTotals};
pub use budget::{
    AUXILIARY_PERCENT_DEFAULT, AccountKey, BudgetDefinition, BudgetName, InvalidBudget, InvalidBudgetName,
    LimitAction,
};
pub use candidate::{ModelCandidate, ModelCapability, ModelHealth};
pub use catalogue::{
    CATALOGUE_BYTES_MAX, CatalogueDigest, CatalogueError, PRICES_MAX, PriceCatalogue, PriceQuote,
    SHIPPED_CATALOGUE,
};
pub use limit_hit::{LimitCause, LimitHit};
pub use money::{CurrencyCode, InvalidMoney, MoneyAmount};
pub use path_account::{PathAccount, SoftLimitWarning};
pub use path_decision::{
    AccountChange, BudgetStop, PathDecision, PathReservation, StopAction, decide_reservation, reserve_once,
};
pub use price::{InvalidPrices, TokenPrices};
pub use purse::{BudgetScope, ChannelId, PurseKey, PurseKind, PursePath, ScheduleId};
pub use request_size::RequestSize;
pub use reservation::{ReservationId, ReservationRequest, TaskClass};
pub use routing::{PassedOverModel, PlannedModel, RoutingRequest, UsageRoutingPlan};
pub use routing_reason::{ModelPreference, PassOverReason, RoutingReason};
pub use settlement::{CHARGE_MULTIPLE_MAX, ChargeBasis, RequestOutcome, ReservationEnd, SettledCharge};
pub use time_window::{WindowKind, WindowSpan};
pub use usage_amount::{LimitMeasure, UsageAmount, UsageLimits};
