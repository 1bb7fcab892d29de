//! Usage of models, for callers and for counters.
//!
//! Owns whose runs a caller sees, and by which prices costs are computed: all of an answer by one catalogue. Answers come
//! from the rows of runs. Begin at [`UsageHandle`].

mod budget_requests;

use std::sync::Arc;

use palyra_governance::{CatalogueDigest, PriceCatalogue};
use palyra_journal_core::families::runs::{PastUsage, usage_of_run, usage_report};
use palyra_journal_core::family::{LogView, QueryFamilies, RowStore};
use palyra_ports::read_usage::{PriceUsage, PricedUsage, UsageQuery, UsageReport, UsageTotals};
use palyra_types::model::{ModelRef, TokenUsage};
use palyra_types::{RunId, UtcDay};
use tokio::sync::Mutex;

use crate::budgets::BudgetBook;
use crate::caller::Caller;
use crate::error::AdminError;
use crate::memories::ZoneOf;
use crate::parts::AdminPorts;
use crate::prices::CurrentPrices;

pub use budget_requests::{BudgetChange, BudgetListing, ListedAccount, TopUp};

/// Sums what models used, and says what they may cost.
#[derive(Clone)]
pub struct UsageHandle {
    ports: Arc<AdminPorts>,
    prices: CurrentPrices,
    budgets: Arc<BudgetBook>,
    zones: ZoneOf,
    past: Arc<Mutex<PastCosts>>,
}

/// Usage, and the catalogue by which its costs were computed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PricedAnswer<T> {
    /// The usage.
    pub used: T,
    /// The catalogue; `None` where no prices are configured, and then nothing has a cost.
    pub catalogue: Option<CatalogueFacts>,
}

/// Facts about a price catalogue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CatalogueFacts {
    /// The currency of its prices, such as `EUR`.
    pub currency: String,
    /// The digest of its content, in hexadecimal.
    pub digest: String,
}

impl UsageHandle {
    /// Makes a handle that knows no configured prices.
    #[must_use]
    pub fn new(ports: Arc<AdminPorts>, budgets: Arc<BudgetBook>, zones: ZoneOf) -> Self {
        Self { ports, prices: CurrentPrices::shipped(), budgets, zones, past: Arc::default() }
    }

    /// Returns a handle that computes costs by these prices.
    #[must_use]
    pub fn with_prices(self, prices: CurrentPrices) -> Self {
        Self { prices, ..self }
    }

    /// Returns the day of UTC that it is.
    #[must_use]
    pub fn today(&self) -> UtcDay {
        self.ports.clock.wall().into()
    }

    /// Returns the currency of the configured prices, such as `EUR`; empty where there are none.
    #[must_use]
    pub fn currency(&self) -> String {
        ConfiguredPrices(self.prices.configured()).facts().map(|facts| facts.currency).unwrap_or_default()
    }

    /// Sums the runs of these days that the caller may see: their own, and all for an owner.
    ///
    /// # Errors
    /// [`AdminError::Read`].
    pub async fn report(
        &self,
        caller: Caller,
        from: UtcDay,
        until: UtcDay,
    ) -> Result<PricedAnswer<UsageReport>, AdminError> {
        let principal = (!caller.is_owner()).then_some(caller.actor.principal);
        let query = UsageQuery { principal, from, until };
        let prices = ConfiguredPrices(self.prices.configured());
        let catalogue = prices.facts();
        let used = self.ports.families.query(move |rows, _| usage_report(rows, &query, &prices)).await?;
        Ok(PricedAnswer { used, catalogue })
    }

    /// Returns the usage of a run that the caller was shown, with its cost; `None` where no prices are configured.
    ///
    /// # Errors
    /// [`AdminError::Read`].
    pub async fn of_run(&self, run: RunId) -> Result<Option<PricedAnswer<PricedUsage>>, AdminError> {
        let prices = ConfiguredPrices(self.prices.configured());
        let catalogue = prices.facts();
        if catalogue.is_none() {
            return Ok(None);
        }
        let used = self.ports.families.query(move |rows, _| usage_of_run(rows, run, &prices)).await?;
        Ok(Some(PricedAnswer { used, catalogue }))
    }

    /// Returns the totals of all runs there ever were, with the costs by the prices that are in force now.
    ///
    /// # Errors
    /// [`AdminError::Read`].
    pub async fn all_time(&self) -> Result<PricedAnswer<PricedUsage>, AdminError> {
        // Until the answer is kept: an older snapshot must not replace a newer one.
        let mut past = self.past.lock().await;
        let prices = ConfiguredPrices(self.prices.configured());
        let catalogue = prices.facts();
        let digest = prices.digest();
        let mut next = if past.catalogue == digest { past.usage } else { PastUsage::default() };
        let today = self.today();
        let query = move |rows: &mut dyn RowStore, _: &mut dyn LogView| {
            let totals = next.advance(rows, today, &prices)?;
            Ok((next, totals))
        };
        let (usage, used) = self.ports.families.query(query).await?;
        *past = PastCosts { catalogue: digest, usage };
        Ok(PricedAnswer { used, catalogue })
    }
}

/// The usage of days that are over, and the catalogue by which it was priced.
#[derive(Default)]
struct PastCosts {
    catalogue: Option<CatalogueDigest>,
    usage: PastUsage,
}

/// Costs by the catalogue that a person configured, if there is one.
struct ConfiguredPrices(Option<Arc<PriceCatalogue>>);

impl ConfiguredPrices {
    fn digest(&self) -> Option<CatalogueDigest> {
        self.0.as_ref().map(|catalogue| catalogue.digest())
    }

    fn facts(&self) -> Option<CatalogueFacts> {
        let facts = |catalogue: &Arc<PriceCatalogue>| CatalogueFacts {
            currency: catalogue.currency().to_string(),
            digest: catalogue.digest().to_string(),
        };
        self.0.as_ref().map(facts)
    }
}

impl PriceUsage for ConfiguredPrices {
    fn cost_of(&self, model: &str, day: UtcDay, used: &UsageTotals) -> Option<u64> {
        let quote = self.0.as_ref()?.price_at(&ModelRef::parse(model)?, day.start())?;
        let usage = TokenUsage {
            input_tokens: used.input_tokens,
            cached_input_tokens: used.cached_input_tokens,
            output_tokens: used.output_tokens,
            reasoning_tokens: used.reasoning_tokens,
            ..TokenUsage::default()
        };
        Some(quote.prices.cost(&usage).0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-01-01.
    const NEW_YEAR: UtcDay = UtcDay(20_454);

    const PRICES: &str = r#"
currency = "EUR"
[[price]]
model = "acme/large"
until = 2026-01-01
input = "4"
output = "20"
[[price]]
model = "acme/large"
from = 2026-01-01
input = "3"
cached_input = "0.3"
output = "15"
reasoning = "20"
[[price]]
model = "acme/*"
input = "1"
output = "2"
[[price]]
model = "free/*"
input = "0"
output = "0"
"#;

    fn cost(prices: &ConfiguredPrices, model: &str, day: UtcDay) -> Option<u64> {
        let used = UsageTotals {
            requests: 2,
            input_tokens: 1_000,
            cached_input_tokens: 400,
            output_tokens: 100,
            reasoning_tokens: 40,
            ..UsageTotals::default()
        };
        prices.cost_of(model, day, &used)
    }

    #[test]
    fn usage_costs_by_the_prices_of_its_model_on_its_day() {
        let prices = ConfiguredPrices(Some(Arc::new(PriceCatalogue::parse(PRICES).expect("prices"))));
        for (model, day, expect) in [
            ("acme/large", UtcDay(NEW_YEAR.0 - 1), Some(6_000)),
            ("acme/large", NEW_YEAR, Some(1_800 + 120 + 900 + 800)),
            ("acme/small", NEW_YEAR, Some(1_200)),
            ("acme/with/slashes", NEW_YEAR, Some(1_200)),
            ("free/m", NEW_YEAR, Some(0)),
            ("other/m", NEW_YEAR, None),
            ("acme", NEW_YEAR, None),
            // A name that was erased.
            ("", NEW_YEAR, None),
        ] {
            assert_eq!(cost(&prices, model, day), expect, "{model} {day:?}");
        }
        let facts = prices.facts().expect("facts");
        assert_eq!((facts.currency.as_str(), facts.digest.len()), ("EUR", 64));
    }

    #[test]
    fn without_a_configured_catalogue_nothing_has_a_cost() {
        let prices = ConfiguredPrices(CurrentPrices::shipped().configured());
        assert_eq!(cost(&prices, "demo/demo", NEW_YEAR), None);
        assert_eq!((prices.facts(), prices.digest()), (None, None));
    }
}
