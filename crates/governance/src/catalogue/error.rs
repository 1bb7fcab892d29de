//! Why a price catalogue is refused.

use super::{CATALOGUE_BYTES_MAX, PRICES_MAX};

/// The first mistake in a price catalogue. Lines are counted from 1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CatalogueError {
    /// It is too large.
    #[error(
        "the price catalogue has {bytes} bytes, at most {CATALOGUE_BYTES_MAX} are read; delete prices that are over"
    )]
    TooLarge {
        /// Its size.
        bytes: usize,
    },
    /// It has too many prices.
    #[error(
        "the price catalogue has {count} prices, at most {PRICES_MAX} are read; delete prices that are over"
    )]
    TooMany {
        /// How many.
        count: usize,
    },
    /// It is not TOML.
    #[error("line {line} of the price catalogue is not valid TOML: {message}")]
    Syntax {
        /// The line.
        line: usize,
        /// The parser's message.
        message: String,
    },
    /// A key has no meaning there.
    #[error("line {line} of the price catalogue has the unknown key `{key}`; known keys there are {known}")]
    UnknownKey {
        /// The line.
        line: usize,
        /// The key.
        key: String,
        /// The keys that exist.
        known: String,
    },
    /// A key is missing.
    #[error("the table at line {line} of the price catalogue has no `{key}`; add {expected}")]
    MissingKey {
        /// The line at which its table begins.
        line: usize,
        /// The key.
        key: &'static str,
        /// What its value looks like.
        expected: &'static str,
    },
    /// A value cannot be used.
    #[error("line {line} of the price catalogue: `{key}` needs {expected}")]
    WrongValue {
        /// The line.
        line: usize,
        /// The key.
        key: &'static str,
        /// What its value looks like.
        expected: &'static str,
    },
    /// The prices of one table contradict each other.
    #[error("the price at line {line} of the price catalogue cannot be used")]
    Prices {
        /// The line at which the table begins.
        line: usize,
        /// Why.
        #[source]
        cause: palyra_types::budget::InvalidPrices,
    },
    /// A model has two prices on one day.
    #[error(
        "`{model}` has two prices for the same day at lines {other_line} and {line} of the price catalogue; end the earlier one with `until`"
    )]
    Overlap {
        /// The line of the second one.
        line: usize,
        /// The model, as written.
        model: String,
        /// The line of the first one.
        other_line: usize,
    },
}
