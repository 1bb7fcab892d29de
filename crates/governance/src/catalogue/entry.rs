//! One price with its dates, and the models it is for.
//!
//! Owns the spelling of both in the digest of a catalogue: each is one word without spaces for every field.

use std::fmt;

use palyra_types::UtcDay;
use palyra_types::model::{ModelRef, ProviderName};

use palyra_types::budget::TokenPrices;

/// The models that a price is for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PricedModels {
    /// One model.
    Model(ModelRef),
    /// Every model of a provider that has no price of its own.
    Provider(ProviderName),
}

impl PricedModels {
    /// Reads `provider/model` or `provider/*`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        if text.chars().any(|c| c.is_whitespace() || c.is_control()) {
            return None;
        }
        match text.strip_suffix("/*") {
            Some(provider) => {
                let is_name = !provider.is_empty() && !provider.contains(['/', '*']);
                is_name.then(|| Self::Provider(ProviderName::new(provider)))
            }
            // Other patterns do not exist, so a star is a mistake.
            None if text.contains('*') => None,
            None => ModelRef::parse(text).map(Self::Model),
        }
    }
}

impl fmt::Display for PricedModels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Model(model) => model.fmt(f),
            Self::Provider(provider) => write!(f, "{provider}/*"),
        }
    }
}

/// Prices and the days on which they are valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DatedPrices {
    /// The first day.
    pub(super) from: UtcDay,
    /// The day from which they are over.
    pub(super) until: Option<UtcDay>,
    pub(super) prices: TokenPrices,
}

impl DatedPrices {
    pub(super) fn is_valid_at(&self, day: UtcDay) -> bool {
        self.from <= day && self.until.is_none_or(|until| day < until)
    }
}

impl fmt::Display for DatedPrices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TokenPrices { input, cached_input, output, reasoning } = self.prices;
        write!(f, "{} ", self.from.0)?;
        match self.until {
            Some(until) => write!(f, "{}", until.0)?,
            None => f.write_str("-")?,
        }
        write!(f, " {input} {cached_input} {output} {reasoning}")
    }
}
