//! Amounts of usage: tokens, money and requests, and limits on them.
//!
//! Owns their arithmetic, which saturates. Knows no budget.

use std::fmt;

use super::money::MoneyAmount;

/// A measure that a limit counts in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LimitMeasure {
    /// Tokens read and written.
    Tokens,
    /// Millionths of the currency.
    Money,
    /// Model requests.
    Requests,
}

impl LimitMeasure {
    /// Every measure.
    pub const ALL: [Self; 3] = [Self::Tokens, Self::Money, Self::Requests];

    /// Returns its word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tokens => "tokens",
            Self::Money => "money",
            Self::Requests => "requests",
        }
    }

    /// Returns a value with its unit, as people read it.
    #[must_use]
    pub fn phrase(self, value: u64) -> String {
        match self {
            Self::Tokens => format!("{value} tokens"),
            Self::Money => format!("{} in money", MoneyAmount(value)),
            Self::Requests if value == 1 => "1 request".to_owned(),
            Self::Requests => format!("{value} requests"),
        }
    }
}

impl fmt::Display for LimitMeasure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// An amount of usage in each measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct UsageAmount {
    /// Tokens read and written.
    pub tokens: u64,
    /// Their price.
    pub money: MoneyAmount,
    /// Model requests.
    pub requests: u64,
}

impl UsageAmount {
    /// Nothing.
    pub const ZERO: Self = Self { tokens: 0, money: MoneyAmount::ZERO, requests: 0 };

    /// Returns the part in one measure.
    #[must_use]
    pub fn of(self, measure: LimitMeasure) -> u64 {
        match measure {
            LimitMeasure::Tokens => self.tokens,
            LimitMeasure::Money => self.money.0,
            LimitMeasure::Requests => self.requests,
        }
    }

    /// Returns this amount with another value in one measure.
    #[must_use]
    pub fn with(self, measure: LimitMeasure, value: u64) -> Self {
        match measure {
            LimitMeasure::Tokens => Self { tokens: value, ..self },
            LimitMeasure::Money => Self { money: MoneyAmount(value), ..self },
            LimitMeasure::Requests => Self { requests: value, ..self },
        }
    }

    /// Returns the sum, saturating.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            tokens: self.tokens.saturating_add(other.tokens),
            money: self.money.saturating_add(other.money),
            requests: self.requests.saturating_add(other.requests),
        }
    }

    /// Returns the difference, in each measure at least zero.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        Self {
            tokens: self.tokens.saturating_sub(other.tokens),
            money: self.money.saturating_sub(other.money),
            requests: self.requests.saturating_sub(other.requests),
        }
    }

    /// Returns the smaller value in each measure.
    #[must_use]
    pub fn at_most(self, other: Self) -> Self {
        Self {
            tokens: self.tokens.min(other.tokens),
            money: self.money.min(other.money),
            requests: self.requests.min(other.requests),
        }
    }

    /// Returns tokens and money so many times, saturating; requests stay.
    #[must_use]
    pub fn times(self, factor: u64) -> Self {
        Self {
            tokens: self.tokens.saturating_mul(factor),
            money: MoneyAmount(self.money.0.saturating_mul(factor)),
            requests: self.requests,
        }
    }
}

/// Limits in some measures; `None` leaves a measure without a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct UsageLimits {
    /// On tokens.
    pub tokens: Option<u64>,
    /// On money.
    pub money: Option<MoneyAmount>,
    /// On model requests.
    pub requests: Option<u64>,
}

impl UsageLimits {
    /// Returns the limit in one measure.
    #[must_use]
    pub fn of(self, measure: LimitMeasure) -> Option<u64> {
        match measure {
            LimitMeasure::Tokens => self.tokens,
            LimitMeasure::Money => self.money.map(|money| money.0),
            LimitMeasure::Requests => self.requests,
        }
    }

    /// Returns whether no measure has a limit.
    #[must_use]
    pub fn is_empty(self) -> bool {
        LimitMeasure::ALL.into_iter().all(|measure| self.of(measure).is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: UsageAmount = UsageAmount { tokens: u64::MAX, money: MoneyAmount::MAX, requests: u64::MAX };

    #[test]
    fn arithmetic_stays_within_its_bounds() {
        let one = UsageAmount { tokens: 1, money: MoneyAmount(1), requests: 1 };
        assert_eq!(MOST.plus(one), MOST);
        assert_eq!(UsageAmount::ZERO.minus(one), UsageAmount::ZERO);
        assert_eq!(MOST.times(2), MOST);
        assert_eq!(one.times(2), UsageAmount { tokens: 2, money: MoneyAmount(2), requests: 1 });
        assert_eq!(MOST.at_most(one), one);
    }

    #[test]
    fn each_measure_reads_and_writes_its_own_part() {
        for measure in LimitMeasure::ALL {
            let amount = UsageAmount::ZERO.with(measure, 7);
            for other in LimitMeasure::ALL {
                assert_eq!(amount.of(other), if other == measure { 7 } else { 0 });
            }
        }
        let limits = UsageLimits { money: Some(MoneyAmount(5)), ..UsageLimits::default() };
        assert_eq!(LimitMeasure::ALL.map(|measure| limits.of(measure)), [None, Some(5), None]);
        assert!(UsageLimits::default().is_empty() && !limits.is_empty());
    }

    #[test]
    fn values_are_shown_with_their_unit() {
        assert_eq!(LimitMeasure::Tokens.phrase(12), "12 tokens");
        assert_eq!(LimitMeasure::Money.phrase(2_500_000), "2.5 in money");
        assert_eq!(LimitMeasure::Requests.phrase(1), "1 request");
    }
}
