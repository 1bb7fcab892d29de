//! The price catalogue: which model costs what, and when.
//!
//! Owns the format of the file (`prices.toml` beside this crate's manifest documents it), the price at a date, and the
//! digest of the content, which does not depend on comments, order or spelling of numbers. Begin at
//! [`PriceCatalogue::parse`].

mod entry;
mod error;
mod read;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use palyra_types::model::ModelRef;
use palyra_types::{Timestamp, UtcDay};
use sha2::{Digest, Sha256};

use entry::{DatedPrices, PricedModels};
use palyra_types::budget::CurrencyCode;
use read::PriceRow;

pub use error::CatalogueError;
pub(crate) use palyra_types::budget::{CatalogueDigest, PriceQuote};

/// Bytes of a catalogue, at most.
pub const CATALOGUE_BYTES_MAX: usize = 1024 * 1024;

/// Prices of a catalogue, at most.
pub const PRICES_MAX: usize = 10_000;

/// The catalogue that ships: its format in comments, and no prices of providers.
pub const SHIPPED_CATALOGUE: &str = include_str!("../prices.toml");

/// Prices of models by date.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PriceCatalogue {
    currency: CurrencyCode,
    /// In each list no two overlap, and the earlier is first.
    prices: BTreeMap<PricedModels, Vec<DatedPrices>>,
    digest: CatalogueDigest,
}

impl PriceCatalogue {
    /// Reads a catalogue's text.
    ///
    /// # Errors
    /// [`CatalogueError`] for the first mistake, with its line.
    pub fn parse(text: &str) -> Result<Self, CatalogueError> {
        let content = read::read(text)?;
        let mut rows: BTreeMap<PricedModels, Vec<PriceRow>> = BTreeMap::new();
        for row in content.rows {
            rows.entry(row.models.clone()).or_default().push(row);
        }
        let mut prices: BTreeMap<PricedModels, Vec<DatedPrices>> = BTreeMap::new();
        for (models, mut rows) in rows {
            rows.sort_by_key(|row| row.dated.from);
            check_overlaps(&models, &rows)?;
            prices.insert(models, rows.into_iter().map(|row| row.dated).collect());
        }
        let digest = digest(content.currency, &prices);
        Ok(Self { currency: content.currency, prices, digest })
    }

    /// Returns the catalogue that ships.
    #[must_use]
    pub fn shipped() -> Self {
        match Self::parse(SHIPPED_CATALOGUE) {
            Ok(catalogue) => catalogue,
            Err(error) => unreachable!("the shipped catalogue is valid: {error}"),
        }
    }

    /// Returns the currency of its prices.
    #[must_use]
    pub fn currency(&self) -> CurrencyCode {
        self.currency
    }

    /// Returns the digest of its content.
    #[must_use]
    pub fn digest(&self) -> CatalogueDigest {
        self.digest
    }

    /// Returns what a model costs at a time; a price of its own goes before one of all models of its provider. `None` when
    /// it has no price.
    #[must_use]
    pub fn price_at(&self, model: &ModelRef, time: Timestamp) -> Option<PriceQuote> {
        let day = UtcDay::from(time);
        let own = PricedModels::Model(model.clone());
        let all = PricedModels::Provider(model.provider.clone());
        let dated = self.valid_at(&own, day).or_else(|| self.valid_at(&all, day))?;
        Some(PriceQuote { prices: dated.prices, catalogue: self.digest })
    }

    fn valid_at(&self, models: &PricedModels, day: UtcDay) -> Option<&DatedPrices> {
        self.prices.get(models)?.iter().find(|dated| dated.is_valid_at(day))
    }
}

/// Refuses two prices of one model on one day. Rows are in the order of their first days.
fn check_overlaps(models: &PricedModels, rows: &[PriceRow]) -> Result<(), CatalogueError> {
    for pair in rows.windows(2) {
        let [earlier, later] = pair else { continue };
        if earlier.dated.until.is_none_or(|until| later.dated.from < until) {
            return Err(CatalogueError::Overlap {
                line: earlier.line.max(later.line),
                model: models.to_string(),
                other_line: earlier.line.min(later.line),
            });
        }
    }
    Ok(())
}

/// Hashes the content in one spelling: a line for the currency and one for each price, in order.
fn digest(currency: CurrencyCode, prices: &BTreeMap<PricedModels, Vec<DatedPrices>>) -> CatalogueDigest {
    let mut text = format!("palyra price catalogue 1\ncurrency {currency}\n");
    for (models, dated) in prices {
        for price in dated {
            let _ = writeln!(text, "{models} {price}");
        }
    }
    CatalogueDigest(Sha256::digest(text.as_bytes()).into())
}

#[cfg(test)]
mod tests;
