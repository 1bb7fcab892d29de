//! A model that could serve a request, as the caller sees it now.
//!
//! Owns nothing but the values: capabilities and health are observed elsewhere.

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use palyra_types::Timestamp;
use palyra_types::model::ModelRef;

use crate::catalogue::PriceQuote;

/// A pause of a provider up to this span is waited for: its models are degraded in that time, and after a longer one unavailable.
pub const PAUSE_WAITED_FOR_MAX: Duration = Duration::from_secs(5);

/// Something that a request needs and not every model has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ModelCapability {
    /// It sees images.
    Images,
    /// It calls tools.
    Tools,
    /// It answers by a schema.
    StructuredOutput,
    /// It shows its reasoning.
    Reasoning,
}

impl ModelCapability {
    /// Every capability with its word.
    pub const ALL: [(Self, &'static str); 4] = [
        (Self::Images, "images"),
        (Self::Tools, "tools"),
        (Self::StructuredOutput, "structured_output"),
        (Self::Reasoning, "reasoning"),
    ];

    /// Returns its word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        Self::ALL.iter().find(|(capability, _)| *capability == self).map_or("", |(_, word)| word)
    }
}

impl fmt::Display for ModelCapability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Whether a model answers at present.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ModelHealth {
    /// Its last requests succeeded, or it was not asked yet.
    Healthy,
    /// Some of its last requests failed, or it is asked once to see whether it recovered.
    Degraded,
    /// It is not asked.
    Unavailable {
        /// Until when, if that is known.
        until: Option<Timestamp>,
    },
}

/// A model that could serve a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelCandidate {
    /// The model.
    pub model: ModelRef,
    /// What it can do.
    pub capabilities: BTreeSet<ModelCapability>,
    /// Tokens of input and output together that it takes; `None` when unknown.
    pub context_tokens_max: Option<u64>,
    /// Whether it answers.
    pub health: ModelHealth,
    /// How long it usually takes to its first words; `None` when unknown.
    pub first_token: Option<Duration>,
    /// Its price now; `None` when the catalogue has none.
    pub price: Option<PriceQuote>,
}
