//! A budget as a person defines it, and the account in which a run is counted.
//!
//! Owns what a definition may say, and the key of an account. Knows no spending.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use palyra_types::BudgetId;
pub(crate) use palyra_types::budget::{AccountKey, LimitAction};

use crate::time_window::WindowKind;
use palyra_types::budget::{BudgetScope, BudgetSet, PursePath};
use palyra_types::budget::{LimitMeasure, UsageLimits};

/// The share of a limit that auxiliary calls may use, in percent, where a budget does not say another.
pub const AUXILIARY_PERCENT_DEFAULT: u32 = 20;

/// Characters of a budget's name, at most.
const NAME_CHARS_MAX: usize = 64;

/// A budget's name, as people write it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BudgetName(Arc<str>);

/// Why a text is not the name of a budget.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{given}` is not a name for a budget; use 1 to {NAME_CHARS_MAX} lower-case letters, digits, `-` and `_`"
)]
pub struct InvalidBudgetName {
    given: String,
}

impl BudgetName {
    /// Returns the name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl BudgetName {
    fn of_id(budget: BudgetId) -> Self {
        Self(budget.to_string().to_ascii_lowercase().into())
    }
}

impl FromStr for BudgetName {
    type Err = InvalidBudgetName;

    fn from_str(text: &str) -> Result<Self, InvalidBudgetName> {
        let fits = (1..=NAME_CHARS_MAX).contains(&text.len());
        let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte);
        if fits && text.bytes().all(is_plain) {
            Ok(Self(text.into()))
        } else {
            Err(InvalidBudgetName { given: text.chars().take(NAME_CHARS_MAX).collect() })
        }
    }
}

impl fmt::Display for BudgetName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A budget. A change replaces it as a whole and applies from the next reservation on; requests in flight are charged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BudgetDefinition {
    /// Its id, which a budget of the same name that is made later does not have.
    pub id: BudgetId,
    /// Its name.
    pub name: BudgetName,
    /// The purses it limits, each with an account of its own.
    pub scope: BudgetScope,
    /// How long an account counts.
    pub window: WindowKind,
    /// No reservation takes an account above these.
    pub hard: UsageLimits,
    /// A reservation that takes an account above one of these is reported once a window.
    pub soft: UsageLimits,
    /// What follows at a hard limit.
    pub at_limit: LimitAction,
    /// The share of the hard limits that auxiliary calls may use, in percent.
    pub auxiliary_percent: u32,
}

/// Why a budget cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidBudget {
    /// It limits nothing.
    #[error(
        "the budget has no limit; give it a hard or a soft limit on tokens, money or requests, such as `--limit tokens=200000`"
    )]
    NoLimit,
    /// A warning would never be given.
    #[error("the soft limit on {measure} is above the hard limit; lower it, or leave it out")]
    SoftAboveHard {
        /// Of what.
        measure: LimitMeasure,
    },
    /// A share is more than everything.
    #[error("the share of auxiliary calls is {percent} percent; it is at most 100")]
    SharePercent {
        /// What was given.
        percent: u32,
    },
}

impl BudgetDefinition {
    /// Reads a recorded definition. One whose name was erased is named by its id, so that it still limits.
    #[must_use]
    pub fn of_recorded(set: &BudgetSet) -> Self {
        Self {
            id: set.budget,
            name: set.name.expose().parse().unwrap_or_else(|_| BudgetName::of_id(set.budget)),
            scope: set.scope,
            window: set.window,
            hard: set.hard,
            soft: set.soft,
            at_limit: set.at_limit,
            auxiliary_percent: set.auxiliary_percent,
        }
    }

    /// Checks that the definition makes sense.
    ///
    /// # Errors
    /// [`InvalidBudget`] for the first reason why not.
    pub fn check(&self) -> Result<(), InvalidBudget> {
        if self.hard.is_empty() && self.soft.is_empty() {
            return Err(InvalidBudget::NoLimit);
        }
        for measure in LimitMeasure::ALL {
            if let (Some(soft), Some(hard)) = (self.soft.of(measure), self.hard.of(measure))
                && soft > hard
            {
                return Err(InvalidBudget::SoftAboveHard { measure });
            }
        }
        if self.auxiliary_percent > 100 {
            return Err(InvalidBudget::SharePercent { percent: self.auxiliary_percent });
        }
        Ok(())
    }

    /// Returns whether it limits money, hard or soft: a model without a price cannot run under it.
    #[must_use]
    pub fn limits_money(&self) -> bool {
        self.hard.money.is_some() || self.soft.money.is_some()
    }

    /// Returns the part of a hard limit that auxiliary calls may use, rounded down.
    #[must_use]
    pub fn auxiliary_part(&self, hard: u64) -> u64 {
        let part = u128::from(hard) * u128::from(self.auxiliary_percent.min(100)) / 100;
        u64::try_from(part).unwrap_or(hard)
    }

    /// Returns the account in which a run with this path is counted; `None` when the budget does not limit it.
    #[must_use]
    pub fn account_on(&self, path: &PursePath) -> Option<AccountKey> {
        let purse = self.scope.purse_on(path)?;
        let run = (self.window == WindowKind::Run).then_some(path.run);
        Some(AccountKey { budget: self.id, window: self.window, purse, run })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{budget, path};
    use palyra_types::budget::MoneyAmount;

    fn tokens(limit: u64) -> UsageLimits {
        UsageLimits { tokens: Some(limit), ..UsageLimits::default() }
    }

    #[test]
    fn names_are_plain() {
        for (text, fits) in [
            ("daily", true),
            ("a-b_c9", true),
            ("", false),
            ("Daily", false),
            ("a b", false),
            ("ä", false),
            (&"a".repeat(64), true),
            (&"a".repeat(65), false),
        ] {
            assert_eq!(text.parse::<BudgetName>().is_ok(), fits, "{text}");
        }
    }

    #[test]
    fn a_budget_without_sense_is_refused() {
        let good = BudgetDefinition { hard: tokens(10), soft: tokens(10), ..budget("b") };
        assert_eq!(good.check(), Ok(()));
        let none = UsageLimits::default();
        for (bad, reason) in [
            (BudgetDefinition { hard: none, soft: none, ..good.clone() }, InvalidBudget::NoLimit),
            (
                BudgetDefinition { soft: tokens(11), ..good.clone() },
                InvalidBudget::SoftAboveHard { measure: LimitMeasure::Tokens },
            ),
            (
                BudgetDefinition { auxiliary_percent: 101, ..good.clone() },
                InvalidBudget::SharePercent { percent: 101 },
            ),
        ] {
            assert_eq!(bad.check(), Err(reason));
        }
        assert_eq!(BudgetDefinition { hard: none, ..good }.check(), Ok(()), "warnings alone");
    }

    #[test]
    fn a_share_is_rounded_down_and_never_more_than_the_limit() {
        let share = |percent: u32, hard: u64| {
            BudgetDefinition { auxiliary_percent: percent, ..budget("b") }.auxiliary_part(hard)
        };
        assert_eq!((share(20, 10), share(20, 4), share(0, 100), share(100, 100)), (2, 0, 0, 100));
        assert_eq!((share(100, u64::MAX), share(u32::MAX, u64::MAX)), (u64::MAX, u64::MAX));
    }

    #[test]
    fn only_a_budget_of_runs_has_an_account_for_each() {
        let path = path();
        let daily = BudgetDefinition { window: WindowKind::Day, ..budget("b") };
        let of_run = BudgetDefinition { window: WindowKind::Run, ..budget("b") };
        assert_eq!(daily.account_on(&path).unwrap().run, None);
        assert_eq!(of_run.account_on(&path).unwrap().run, Some(path.run));
        assert_ne!(daily.account_on(&path), of_run.account_on(&path));
        let money = UsageLimits { money: Some(MoneyAmount(1)), ..UsageLimits::default() };
        assert!(BudgetDefinition { soft: money, ..budget("b") }.limits_money() && !daily.limits_money());
    }
}
