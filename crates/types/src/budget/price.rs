//! Prices of tokens, and the cost of a request by them.
//!
//! Owns rounding, which is up, and that a reservation takes the dearest reading of its tokens. Knows no model and no date.

use std::fmt;

use crate::model::TokenUsage;

use super::money::MoneyAmount;
use super::request_size::RequestSize;

/// Prices are per so many tokens.
const TOKENS_PRICED: u128 = 1_000_000;

/// Prices of one model, each in money per million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TokenPrices {
    /// Tokens read that were not cached.
    pub input: MoneyAmount,
    /// Tokens read from the provider's cache.
    pub cached_input: MoneyAmount,
    /// Tokens written, without reasoning.
    pub output: MoneyAmount,
    /// Tokens of reasoning.
    pub reasoning: MoneyAmount,
}

/// Why prices cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidPrices {
    /// Cached input is dearer than input.
    #[error("cached input costs more than input; swap the two prices or leave `cached_input` out")]
    CachedAboveInput,
}

impl TokenPrices {
    /// Returns prices in which cached input costs what input costs, and reasoning what output costs.
    #[must_use]
    pub fn of_input_and_output(input: MoneyAmount, output: MoneyAmount) -> Self {
        Self { input, cached_input: input, output, reasoning: output }
    }

    /// Checks that a cache never makes a request dearer.
    ///
    /// # Errors
    /// [`InvalidPrices::CachedAboveInput`] when it would.
    pub fn checked(self) -> Result<Self, InvalidPrices> {
        if self.cached_input > self.input { Err(InvalidPrices::CachedAboveInput) } else { Ok(self) }
    }

    /// Returns the cost of reported usage, rounded up once over all kinds of tokens, saturating.
    ///
    /// Counts that contradict each other are read so that no token is counted twice: cached tokens are part of the input,
    /// reasoning is part of the output.
    #[must_use]
    pub fn cost(&self, usage: &TokenUsage) -> MoneyAmount {
        let cached = usage.cached_input_tokens.min(usage.input_tokens);
        let reasoning = usage.reasoning_tokens.min(usage.output_tokens);
        sum([
            priced(usage.input_tokens - cached, self.input),
            priced(cached, self.cached_input),
            priced(usage.output_tokens - reasoning, self.output),
            priced(reasoning, self.reasoning),
        ])
    }

    /// Returns the most that a request of this size costs when its counts are right: nothing cached, and all output of the
    /// dearer kind.
    #[must_use]
    pub fn most_for(&self, size: RequestSize) -> MoneyAmount {
        sum([
            priced(size.input_tokens, self.input.max(self.cached_input)),
            priced(size.output_tokens_max, self.output.max(self.reasoning)),
        ])
    }
}

/// The SHA-256 digest of what a catalogue says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CatalogueDigest(pub [u8; 32]);

impl fmt::Display for CatalogueDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// The prices that a request is reserved and charged by, and the catalogue they are from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PriceQuote {
    /// The prices.
    pub prices: TokenPrices,
    /// The catalogue's digest.
    pub catalogue: CatalogueDigest,
}

/// Returns tokens times price, in millionths of a millionth.
fn priced(tokens: u64, price: MoneyAmount) -> u128 {
    u128::from(tokens) * u128::from(price.0)
}

fn sum<const N: usize>(parts: [u128; N]) -> MoneyAmount {
    let all = parts.into_iter().fold(0_u128, u128::saturating_add);
    MoneyAmount(u64::try_from(all.div_ceil(TOKENS_PRICED)).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prices() -> TokenPrices {
        TokenPrices {
            input: MoneyAmount(3_000_000),
            cached_input: MoneyAmount(300_000),
            output: MoneyAmount(15_000_000),
            reasoning: MoneyAmount(20_000_000),
        }
    }

    fn usage(input: u64, cached: u64, output: u64, reasoning: u64) -> TokenUsage {
        TokenUsage {
            input_tokens: input,
            cached_input_tokens: cached,
            output_tokens: output,
            reasoning_tokens: reasoning,
            ..TokenUsage::default()
        }
    }

    #[test]
    fn each_kind_of_token_has_its_price() {
        for (usage, cost) in [
            (usage(1_000, 0, 0, 0), 3_000),
            (usage(1_000, 400, 0, 0), 1_920),
            (usage(0, 0, 100, 0), 1_500),
            (usage(0, 0, 100, 40), 1_700),
            (usage(0, 0, 0, 0), 0),
        ] {
            assert_eq!(prices().cost(&usage), MoneyAmount(cost), "{usage:?}");
        }
    }

    #[test]
    fn a_fraction_of_a_millionth_is_rounded_up_once() {
        let cheap = TokenPrices::of_input_and_output(MoneyAmount(1), MoneyAmount(1));
        assert_eq!(cheap.cost(&usage(1, 0, 1, 0)), MoneyAmount(1));
        assert_eq!(cheap.cost(&usage(999_999, 0, 2, 0)), MoneyAmount(2));
    }

    #[test]
    fn counts_that_contradict_each_other_are_not_charged_twice() {
        assert_eq!(prices().cost(&usage(100, u64::MAX, 0, 0)), prices().cost(&usage(100, 100, 0, 0)));
        assert_eq!(prices().cost(&usage(0, 0, 100, u64::MAX)), prices().cost(&usage(0, 0, 100, 100)));
    }

    #[test]
    fn absurd_counts_and_prices_saturate() {
        let most = MoneyAmount::MAX;
        let dear = TokenPrices { input: most, cached_input: most, output: most, reasoning: most };
        assert_eq!(dear.cost(&usage(u64::MAX, 5, u64::MAX, 5)), most);
        assert_eq!(dear.most_for(RequestSize { input_tokens: u64::MAX, output_tokens_max: u64::MAX }), most);
    }

    #[test]
    fn a_reservation_covers_every_honest_usage_of_its_size() {
        let size = RequestSize { input_tokens: 1_000, output_tokens_max: 100 };
        let most = prices().most_for(size);
        for cached in [0, 1, 999, 1_000] {
            for reasoning in [0, 1, 99, 100] {
                assert!(prices().cost(&usage(1_000, cached, 100, reasoning)) <= most);
            }
        }
        assert_eq!(most, prices().cost(&usage(1_000, 0, 100, 100)));
    }

    #[test]
    fn a_cache_that_costs_more_is_refused() {
        let swapped = TokenPrices { cached_input: MoneyAmount(3_000_001), ..prices() };
        assert_eq!(swapped.checked(), Err(InvalidPrices::CachedAboveInput));
        assert_eq!(prices().checked(), Ok(prices()));
    }
}
