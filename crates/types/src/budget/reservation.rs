//! What one model request reserves before it is sent.
//!
//! Owns the amount: the counted input plus the `max_output_tokens` that is sent with it, at the dearest reading of the
//! catalogue's price. Knows no budget.

use std::fmt;

use crate::{Attempt, RunId};

use super::money::MoneyAmount;
use super::price::PriceQuote;
use super::request_size::RequestSize;
use super::usage_amount::UsageAmount;

/// On whose behalf a model is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TaskClass {
    /// A person waits for the answer.
    Interactive,
    /// A run without a person who waits.
    Background,
    /// A call beside a run: a title, a summary, a compaction, an embedding.
    Auxiliary,
}

impl TaskClass {
    /// Every class with its word.
    pub const ALL: [(Self, &'static str); 3] = [
        (Self::Interactive, "interactive"),
        (Self::Background, "background"),
        (Self::Auxiliary, "auxiliary"),
    ];
}

crate::words::words_of_table!(TaskClass);

impl fmt::Display for TaskClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Names one reservation: auxiliary calls of a run have attempts of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ReservationId {
    /// The run that asks, which may be a child of the run at the root of its path.
    pub run: RunId,
    /// On whose behalf.
    pub class: TaskClass,
    /// The number of the request within that run and class.
    pub attempt: Attempt,
}

/// A request that is about to be dispatched, with the price that it is charged by whenever it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ReservationRequest {
    /// Its name.
    pub id: ReservationId,
    /// Its size.
    pub size: RequestSize,
    /// The price of its model; `None` when the catalogue has none.
    pub price: Option<PriceQuote>,
}

impl ReservationRequest {
    /// Returns the amount that it reserves.
    #[must_use]
    pub fn amount(&self) -> UsageAmount {
        UsageAmount {
            tokens: self.size.tokens(),
            money: self.price.map_or(MoneyAmount::ZERO, |quote| quote.prices.most_for(self.size)),
            requests: 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::{CatalogueDigest, TokenPrices};

    /// Returns a price in millionths a token.
    fn quote(input: u64, output: u64) -> PriceQuote {
        let prices =
            TokenPrices::of_input_and_output(MoneyAmount(input * 1_000_000), MoneyAmount(output * 1_000_000));
        PriceQuote { prices, catalogue: CatalogueDigest([7; 32]) }
    }

    fn reservation(attempt: u32, input_tokens: u64, output_tokens_max: u64) -> ReservationRequest {
        let (run, class) = (RunId::from_parts(1, 1), TaskClass::Interactive);
        ReservationRequest {
            id: ReservationId { run, class, attempt: Attempt(attempt) },
            size: RequestSize { input_tokens, output_tokens_max },
            price: Some(quote(1, 2)),
        }
    }

    #[test]
    fn a_request_reserves_its_input_and_the_cap_on_its_output() {
        let request = reservation(1, 1_000, 200);
        let amount = UsageAmount { tokens: 1_200, money: MoneyAmount(1_000 + 200 * 2), requests: 1 };
        assert_eq!(request.amount(), amount);
        let unpriced = ReservationRequest { price: None, ..request };
        assert_eq!(unpriced.amount(), UsageAmount { money: MoneyAmount::ZERO, ..amount });
    }

    #[test]
    fn a_request_without_a_cap_worth_the_name_reserves_more_than_any_limit() {
        let size = RequestSize { input_tokens: 1, output_tokens_max: u64::MAX };
        let request = ReservationRequest { size, price: Some(quote(1, 1)), ..reservation(1, 0, 0) };
        assert_eq!(request.amount().tokens, u64::MAX);
    }

    #[test]
    fn words_name_classes() {
        for (class, word) in TaskClass::ALL {
            assert_eq!((TaskClass::of(word), class.to_string().as_str()), (Some(class), word));
        }
    }
}
