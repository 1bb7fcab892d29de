//! Why a request does not fit into an account.
//!
//! Owns the causes, and the words in which people read them. Knows no decision about the whole path.

use std::fmt;

use palyra_types::Timestamp;

use crate::account::OPEN_RESERVATIONS_MAX;
use crate::budget::{AccountKey, BudgetName, LimitAction};
use palyra_types::budget::LimitMeasure;

/// The kind of a limit that was hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LimitCause {
    /// The hard limit of the budget.
    HardLimit,
    /// The part of it that auxiliary calls may use.
    AuxiliaryShare,
    /// The model has no price, and the budget limits money.
    NoPrice,
    /// The account has [`OPEN_RESERVATIONS_MAX`] open reservations.
    OpenReservations,
}

/// One limit of one account that a request does not fit under.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LimitHit {
    /// The budget.
    pub budget: BudgetName,
    /// The account.
    pub account: AccountKey,
    /// The kind of limit.
    pub cause: LimitCause,
    /// What it limits.
    pub measure: LimitMeasure,
    /// The limit, with what the window was topped up by.
    pub limit: u64,
    /// What is spent.
    pub spent: u64,
    /// What is reserved.
    pub reserved: u64,
    /// What the request would reserve.
    pub requested: u64,
    /// When the account begins again; `None` when it never does, or when the request is larger than the limit itself.
    pub resets: Option<Timestamp>,
    /// What follows.
    pub action: LimitAction,
}

impl LimitHit {
    /// Returns by how much the limit would have to be higher; zero where that does not help.
    #[must_use]
    pub fn shortfall(&self) -> u64 {
        match self.cause {
            LimitCause::HardLimit => {
                let needed = u128::from(self.spent) + u128::from(self.reserved) + u128::from(self.requested);
                u64::try_from(needed.saturating_sub(u128::from(self.limit))).unwrap_or(u64::MAX)
            }
            LimitCause::AuxiliaryShare | LimitCause::NoPrice | LimitCause::OpenReservations => 0,
        }
    }
}

impl fmt::Display for LimitHit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let AccountKey { window, purse, .. } = self.account;
        let budget = &self.budget;
        write!(f, "budget `{budget}` ({purse}, window {})", window.as_str())?;
        match self.cause {
            LimitCause::HardLimit => write!(f, " allows ")?,
            LimitCause::AuxiliaryShare => write!(f, " allows auxiliary calls ")?,
            LimitCause::NoPrice => {
                return write!(
                    f,
                    " limits money, and the model has no price; add one to the price catalogue"
                );
            }
            LimitCause::OpenReservations => {
                return write!(f, " has {OPEN_RESERVATIONS_MAX} requests in flight, which is the most");
            }
        }
        write!(
            f,
            "{}; spent: {}, reserved: {}; this request reserves up to {}",
            self.measure.phrase(self.limit),
            self.measure.phrase(self.spent),
            self.measure.phrase(self.reserved),
            self.measure.phrase(self.requested),
        )
    }
}
