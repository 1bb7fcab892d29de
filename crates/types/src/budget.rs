//! Budgets of model requests: amounts, purses, reservations, and what is recorded of them.
//!
//! Owns the values. Whether a request fits under a budget is decided by the crate `governance`. Begin at [`BudgetEvent`].

mod money;
mod usage_amount;
mod request_size;
mod price;
mod purse;
mod time_window;
mod reservation;
mod account_event;
mod auxiliary_use;
mod budget_event;

pub use account_event::{AccountEvent, AccountKey, ChargeBasis, SettledCharge, TopUpReason};
pub use auxiliary_use::{AuxiliaryPurpose, AuxiliaryUse};
pub use budget_event::{BudgetEvent, BudgetRecord, BudgetSet, LimitAction};
pub use money::{CurrencyCode, InvalidMoney, MoneyAmount};
pub use price::{CatalogueDigest, InvalidPrices, PriceQuote, TokenPrices};
pub use purse::{BudgetScope, PurseKey, PurseKind, PursePath};
pub use request_size::RequestSize;
pub use reservation::{ReservationId, ReservationRequest, TaskClass};
pub use time_window::{WindowKind, WindowSpan};
pub use usage_amount::{LimitMeasure, UsageAmount, UsageLimits};
