//! Money: an integer of millionths of one currency.
//!
//! Owns reading and printing amounts. Knows no prices. Fractions of a millionth do not exist: a division rounds up.

use std::fmt;
use std::str::FromStr;

/// Millionths of one unit of the currency.
const MILLIONTHS: u64 = 1_000_000;
/// Digits behind the point, at most.
const FRACTION_DIGITS: usize = 6;

/// Millionths of one unit of the currency, such as of one dollar. Never negative.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct MoneyAmount(pub u64);

impl MoneyAmount {
    /// No money.
    pub const ZERO: Self = Self(0);
    /// The largest amount: about 18 million millions of the currency.
    pub const MAX: Self = Self(u64::MAX);

    /// Returns the sum, or `None` when it is too large.
    #[must_use]
    pub fn checked_add(self, other: Self) -> Option<Self> {
        self.0.checked_add(other.0).map(Self)
    }

    /// Returns the sum, at most [`MAX`](Self::MAX).
    #[must_use]
    pub fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// Returns the difference, at least zero.
    #[must_use]
    pub fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

/// Why a text is not an amount of money.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{given}` is not an amount of money; write digits with at most six behind a point, such as `2.50`")]
pub struct InvalidMoney {
    given: String,
}

impl FromStr for MoneyAmount {
    type Err = InvalidMoney;

    /// Reads `12`, `12.5` or `0.000001`: no sign, no exponent, no separators.
    fn from_str(text: &str) -> Result<Self, InvalidMoney> {
        parse(text).ok_or_else(|| InvalidMoney { given: text.chars().take(40).collect() })
    }
}

fn parse(text: &str) -> Option<MoneyAmount> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let is_number = |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(whole) || !is_number(fraction) || fraction.len() > FRACTION_DIGITS {
        return None;
    }
    let whole: u64 = whole.parse().ok()?;
    let fraction: u64 = format!("{fraction:0<FRACTION_DIGITS$}").parse().ok()?;
    whole.checked_mul(MILLIONTHS)?.checked_add(fraction).map(MoneyAmount)
}

impl fmt::Display for MoneyAmount {
    /// Prints what [`FromStr`] reads, without zeros at the end.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = self.0 / MILLIONTHS;
        let fraction = self.0 % MILLIONTHS;
        if fraction == 0 {
            return write!(f, "{whole}");
        }
        let digits = format!("{fraction:06}");
        write!(f, "{whole}.{}", digits.trim_end_matches('0'))
    }
}

/// The currency of all amounts: three capital letters, such as `USD`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CurrencyCode([u8; 3]);

impl CurrencyCode {
    /// Reads three capital letters; `None` for everything else.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let letters: [u8; 3] = text.as_bytes().try_into().ok()?;
        letters.iter().all(u8::is_ascii_uppercase).then_some(Self(letters))
    }
}

impl fmt::Display for CurrencyCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|letter| write!(f, "{}", char::from(*letter)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_exactly_or_not_at_all() {
        for (text, millionths) in [
            ("0", Some(0)),
            ("2.50", Some(2_500_000)),
            ("0.000001", Some(1)),
            ("18446744073709.551615", Some(u64::MAX)),
            ("18446744073709.551616", None),
            ("99999999999999999999", None),
            ("0.0000001", None),
            ("1.", None),
            (".5", None),
            ("-1", None),
            ("+1", None),
            ("1e3", None),
            ("1,000", None),
            (" 1", None),
            ("1.2.3", None),
            ("", None),
        ] {
            assert_eq!(text.parse::<MoneyAmount>().ok(), millionths.map(MoneyAmount), "{text}");
        }
    }

    #[test]
    fn a_printed_amount_is_read_as_itself() {
        for millionths in [0, 1, 10, 999_999, 1_000_000, 1_000_001, 2_500_000, u64::MAX] {
            let amount = MoneyAmount(millionths);
            assert_eq!(amount.to_string().parse(), Ok(amount));
        }
        assert_eq!(MoneyAmount(2_500_000).to_string(), "2.5");
        assert_eq!(MoneyAmount(1).to_string(), "0.000001");
    }

    #[test]
    fn sums_stay_within_their_bounds() {
        assert_eq!(MoneyAmount::MAX.checked_add(MoneyAmount(1)), None);
        assert_eq!(MoneyAmount::MAX.saturating_add(MoneyAmount(1)), MoneyAmount::MAX);
        assert_eq!(MoneyAmount::ZERO.saturating_sub(MoneyAmount(1)), MoneyAmount::ZERO);
    }

    #[test]
    fn a_currency_is_three_capital_letters() {
        assert_eq!(CurrencyCode::parse("EUR").map(|code| code.to_string()).as_deref(), Some("EUR"));
        for bad in ["", "EU", "EURO", "eur", "E R", "€"] {
            assert_eq!(CurrencyCode::parse(bad), None, "{bad}");
        }
    }
}
