//! Usage of models, summed and priced; `journal-core` reads it.

use std::collections::BTreeMap;

use palyra_types::model::{TokenUsage, UsageSource};
use palyra_types::session::SessionRef;
use palyra_types::surface::Surface;
use palyra_types::{AgentId, PrincipalId, Redacted, UtcDay};

/// Whose usage to read, and of which days.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UsageQuery {
    /// Whose runs; `None` for those of all.
    pub principal: Option<PrincipalId>,
    /// The first day.
    pub from: UtcDay,
    /// The last day.
    pub until: UtcDay,
}

/// Requests to models, and their tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct UsageTotals {
    /// Requests that were made, also those without an answer.
    pub requests: u64,
    /// Requests of which the daemon estimated the tokens, because the provider did not count them.
    pub estimated_requests: u64,
    /// Tokens read, cached ones included.
    pub input_tokens: u64,
    /// Of those, read from the provider's cache.
    pub cached_input_tokens: u64,
    /// Tokens written, reasoning included.
    pub output_tokens: u64,
    /// Of those, reasoning.
    pub reasoning_tokens: u64,
}

impl UsageTotals {
    /// Adds other totals.
    pub fn add(&mut self, other: Self) {
        self.requests = self.requests.saturating_add(other.requests);
        self.estimated_requests = self.estimated_requests.saturating_add(other.estimated_requests);
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.cached_input_tokens = self.cached_input_tokens.saturating_add(other.cached_input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        self.reasoning_tokens = self.reasoning_tokens.saturating_add(other.reasoning_tokens);
    }

    /// Adds the tokens of a request that is counted already.
    pub fn add_tokens(&mut self, usage: TokenUsage) {
        self.add(Self {
            requests: 0,
            estimated_requests: (usage.source == UsageSource::Estimated).into(),
            input_tokens: usage.input_tokens,
            cached_input_tokens: usage.cached_input_tokens,
            output_tokens: usage.output_tokens,
            reasoning_tokens: usage.reasoning_tokens,
        });
    }
}

/// Knows what usage costs.
pub trait PriceUsage: Send + Sync {
    /// Returns the cost of one run's usage of a model on a day, in millionths of the currency; `None` where the model, as
    /// provider/model, has no price on that day.
    fn cost_of(&self, model: &str, day: UtcDay, used: &UsageTotals) -> Option<u64>;
}

/// Usage with its cost.
///
/// Each run's usage of a model on a day is priced and rounded by itself, so every way to group has the same sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PricedUsage {
    /// All of it.
    pub totals: UsageTotals,
    /// The cost of the part that has a price, in millionths of the currency.
    pub cost_millionths: u64,
    /// The part without a price.
    pub unpriced: UsageTotals,
}

impl PricedUsage {
    /// Makes priced usage; `None` where it has no price.
    #[must_use]
    pub fn new(totals: UsageTotals, cost_millionths: Option<u64>) -> Self {
        match cost_millionths {
            Some(cost_millionths) => Self { totals, cost_millionths, unpriced: UsageTotals::default() },
            None => Self { totals, cost_millionths: 0, unpriced: totals },
        }
    }

    /// Adds other usage.
    pub fn add(&mut self, other: Self) {
        self.totals.add(other.totals);
        self.cost_millionths = self.cost_millionths.saturating_add(other.cost_millionths);
        self.unpriced.add(other.unpriced);
    }

    /// Returns the cost of the part that has a price; `None` where no part has one.
    #[must_use]
    pub fn known_cost(&self) -> Option<u64> {
        (self.unpriced != self.totals).then_some(self.cost_millionths)
    }
}

/// Usage of models, grouped in five ways: the rows of each grouping have the same sum.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct UsageReport {
    /// All of it.
    pub all: PricedUsage,
    /// By the day on which a request was made or its end was recorded.
    pub days: BTreeMap<UtcDay, PricedUsage>,
    /// By the model that was asked, as provider/model, in the order of names; empty once it was erased.
    pub models: Vec<(Redacted<String>, PricedUsage)>,
    /// By session.
    pub sessions: BTreeMap<SessionRef, PricedUsage>,
    /// By the surface that a run came from and its name; `None` where it is not known.
    pub surfaces: BTreeMap<&'static str, (Option<Surface>, PricedUsage)>,
    /// By the agent of the run.
    pub agents: BTreeMap<AgentId, PricedUsage>,
}
