//! Decides what a model request may cost, and which model serves it.
//!
//! Owns money, prices, budgets with their accounts, and the routing plan. Knows no clock, disk, network, chance or task:
//! times, time zones and accounts are inputs, and decisions are returned as events that the caller records.
//!
//! Invariant: [`BudgetAccount::evolve`] is the only writer of an account, so a replay of its events gives the same account;
//! and no reservation takes an account above its limit. Begin at [`decide_reservation`], then [`UsageRoutingPlan`].

#![warn(clippy::wildcard_enum_match_arm)]

mod catalogue;

mod time_window;
mod budget;

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

pub use account::{BudgetAccount, OPEN_RESERVATIONS_MAX, WarnedMeasures, WindowTotals};
pub use budget::{AUXILIARY_PERCENT_DEFAULT, BudgetDefinition, BudgetName, InvalidBudget, InvalidBudgetName};
pub use candidate::{ModelCandidate, ModelCapability, ModelHealth, PAUSE_WAITED_FOR_MAX};
pub use catalogue::{CATALOGUE_BYTES_MAX, CatalogueError, PRICES_MAX, PriceCatalogue, SHIPPED_CATALOGUE};
pub use limit_hit::{LimitCause, LimitHit};
pub use palyra_types::budget::{
    AccountEvent, AccountKey, BudgetScope, CatalogueDigest, ChargeBasis, CurrencyCode, InvalidMoney,
    InvalidPrices, LimitAction, LimitMeasure, MoneyAmount, PriceQuote, PurseKey, PurseKind, PursePath,
    RequestSize, ReservationId, ReservationRequest, SettledCharge, TaskClass, TokenPrices, TopUpReason,
    UsageAmount, UsageLimits, WindowKind, WindowSpan,
};
pub use palyra_types::event::RoutingReason;
pub use path_account::{PathAccount, SoftLimitWarning};
pub use path_decision::{
    AccountChange, BudgetStop, PathDecision, PathReservation, StopAction, decide_reservation, reserve_once,
};
pub use routing::{PassedOverModel, PlannedModel, RoutingRequest, UsageRoutingPlan, sort_by_preference};
pub use routing_reason::{ModelPreference, PassOverReason};
pub use settlement::{AnswerProgress, CHARGE_MULTIPLE_MAX, RequestOutcome, ReservationEnd};
pub use time_window::SpanAt;
