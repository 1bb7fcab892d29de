//! Usage of models, summed; `journal-core` reads it.

use std::collections::BTreeMap;

use palyra_types::model::{TokenUsage, UsageSource};
use palyra_types::session::SessionRef;
use palyra_types::surface::Surface;
use palyra_types::{PrincipalId, Redacted, UtcDay};

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
}

impl UsageTotals {
    /// Adds other totals.
    pub fn add(&mut self, other: Self) {
        self.requests = self.requests.saturating_add(other.requests);
        self.estimated_requests = self.estimated_requests.saturating_add(other.estimated_requests);
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.cached_input_tokens = self.cached_input_tokens.saturating_add(other.cached_input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
    }

    /// Adds the tokens of a request that is counted already.
    pub fn add_tokens(&mut self, usage: TokenUsage) {
        self.add(Self {
            requests: 0,
            estimated_requests: (usage.source == UsageSource::Estimated).into(),
            input_tokens: usage.input_tokens,
            cached_input_tokens: usage.cached_input_tokens,
            output_tokens: usage.output_tokens,
        });
    }
}

/// Usage of models, grouped in four ways: the totals of each grouping have the same sum.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct UsageReport {
    /// All of it.
    pub all: UsageTotals,
    /// By the day on which a request was made or its end was recorded.
    pub days: BTreeMap<UtcDay, UsageTotals>,
    /// By the model that was asked, as provider/model, in the order of names; empty once it was erased.
    pub models: Vec<(Redacted<String>, UsageTotals)>,
    /// By session.
    pub sessions: BTreeMap<SessionRef, UsageTotals>,
    /// By the surface that a run came from and its name; `None` where it is not known.
    pub surfaces: BTreeMap<&'static str, (Option<Surface>, UsageTotals)>,
}
