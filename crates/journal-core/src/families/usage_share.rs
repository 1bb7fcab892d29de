//! Usage of one model on one day, as rows keep it.

use palyra_ports::read_usage::UsageTotals;
use palyra_types::UtcDay;

/// Usage of one model on one day, by a run or by a request beside runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UsageShare {
    /// The day.
    pub day: UtcDay,
    /// The model's place in the run's chain.
    pub place: u32,
    /// Its requests and tokens.
    pub totals: UsageTotals,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct UsageShareFacts {
    #[prost(sint32, tag = "1")]
    day: i32,
    #[prost(uint32, tag = "2")]
    place: u32,
    #[prost(uint64, tag = "3")]
    requests: u64,
    #[prost(uint64, tag = "4")]
    estimated_requests: u64,
    #[prost(uint64, tag = "5")]
    input_tokens: u64,
    #[prost(uint64, tag = "6")]
    cached_input_tokens: u64,
    #[prost(uint64, tag = "7")]
    output_tokens: u64,
    #[prost(uint64, tag = "8")]
    reasoning_tokens: u64,
}

impl From<UsageShare> for UsageShareFacts {
    fn from(share: UsageShare) -> Self {
        let UsageShare { day, place, totals } = share;
        Self {
            day: day.0,
            place,
            requests: totals.requests,
            estimated_requests: totals.estimated_requests,
            input_tokens: totals.input_tokens,
            cached_input_tokens: totals.cached_input_tokens,
            output_tokens: totals.output_tokens,
            reasoning_tokens: totals.reasoning_tokens,
        }
    }
}

impl From<UsageShareFacts> for UsageShare {
    fn from(facts: UsageShareFacts) -> Self {
        let totals = UsageTotals {
            requests: facts.requests,
            estimated_requests: facts.estimated_requests,
            input_tokens: facts.input_tokens,
            cached_input_tokens: facts.cached_input_tokens,
            output_tokens: facts.output_tokens,
            reasoning_tokens: facts.reasoning_tokens,
        };
        Self { day: UtcDay(facts.day), place: facts.place, totals }
    }
}
