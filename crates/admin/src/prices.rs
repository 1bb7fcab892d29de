//! The prices of models that are in force.
//!
//! Owns the value that a reload replaces and that readers watch. Knows no file: the daemon reads it. Begin at
//! [`CurrentPrices`].

use std::sync::Arc;

use palyra_governance::PriceCatalogue;
use tokio::sync::watch;

/// A catalogue, and whether a person configured it.
#[derive(Debug, Clone)]
pub struct PublishedPrices {
    catalogue: Arc<PriceCatalogue>,
    is_configured: bool,
}

impl PublishedPrices {
    /// Returns the catalogue that ships, for a daemon whose configuration names none.
    #[must_use]
    pub fn shipped() -> Self {
        Self { catalogue: Arc::new(PriceCatalogue::shipped()), is_configured: false }
    }

    /// Returns the catalogue that the configuration names.
    #[must_use]
    pub fn configured(catalogue: PriceCatalogue) -> Self {
        Self { catalogue: Arc::new(catalogue), is_configured: true }
    }

    /// Returns the catalogue that a person configured.
    #[must_use]
    pub fn configured_catalogue(&self) -> Option<Arc<PriceCatalogue>> {
        self.is_configured.then(|| Arc::clone(&self.catalogue))
    }

    /// Returns whether both say the same.
    #[must_use]
    pub fn is_same_as(&self, other: &Self) -> bool {
        self.is_configured == other.is_configured && self.catalogue.digest() == other.catalogue.digest()
    }
}

/// Reads the prices in force. Each call sees the newest ones; keep the answer where several prices must agree.
#[derive(Debug, Clone)]
pub struct CurrentPrices(watch::Receiver<PublishedPrices>);

impl CurrentPrices {
    /// Reads what a sender publishes.
    #[must_use]
    pub fn new(published: watch::Receiver<PublishedPrices>) -> Self {
        Self(published)
    }

    /// Returns prices that never change: those of the catalogue that ships.
    #[must_use]
    pub fn shipped() -> Self {
        Self(watch::channel(PublishedPrices::shipped()).1)
    }

    /// Returns the catalogue that a person configured. Costs are shown by it alone, because without it the currency and
    /// almost all prices are unknown.
    #[must_use]
    pub fn configured(&self) -> Option<Arc<PriceCatalogue>> {
        self.0.borrow().configured_catalogue()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn catalogue(currency: &str) -> PriceCatalogue {
        PriceCatalogue::parse(&format!("currency = \"{currency}\"")).expect("a catalogue")
    }

    #[test]
    fn readers_see_what_was_published_last() {
        let (sender, receiver) = watch::channel(PublishedPrices::shipped());
        let prices = CurrentPrices::new(receiver);
        assert_eq!(prices.configured(), None);
        sender.send_replace(PublishedPrices::configured(catalogue("EUR")));
        assert_eq!(prices.configured().map(|now| now.currency().to_string()).as_deref(), Some("EUR"));
        sender.send_replace(PublishedPrices::shipped());
        assert_eq!(prices.configured(), None);
    }

    #[test]
    fn prices_are_the_same_when_their_content_and_their_source_are() {
        let shipped = PublishedPrices::shipped();
        let configured = |currency| PublishedPrices::configured(catalogue(currency));
        assert!(shipped.is_same_as(&PublishedPrices::shipped()));
        assert!(configured("EUR").is_same_as(&configured("EUR")));
        assert!(!configured("EUR").is_same_as(&configured("CHF")));
        assert!(!shipped.is_same_as(&PublishedPrices::configured(PriceCatalogue::shipped())));
    }
}
