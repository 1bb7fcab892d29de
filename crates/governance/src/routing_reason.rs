//! Why a model serves a request, or does not.
//!
//! Owns the reasons with their sentences; the codes that are recorded are those of the tape.

use std::fmt;

use palyra_types::Timestamp;

use crate::budget::BudgetName;
use crate::candidate::ModelCapability;
use palyra_types::budget::LimitMeasure;
use palyra_types::budget::TaskClass;
use palyra_types::event::{PassOverCause, RoutingReason};

/// Which of several models that can serve a request is asked first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ModelPreference {
    /// The one that the configuration names first.
    ConfiguredOrder,
    /// The one whose reservation is the cheapest; models without a price are last.
    Cheapest,
    /// The one that usually begins to answer first; those that were not measured lately are before all others.
    Fastest,
}

impl ModelPreference {
    /// Every preference with its word.
    pub const ALL: [(Self, &'static str); 3] = [
        (Self::ConfiguredOrder, "configured_order"),
        (Self::Cheapest, "cheapest"),
        (Self::Fastest, "fastest"),
    ];

    /// Returns its word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        Self::ALL.iter().find(|(preference, _)| *preference == self).map_or("", |(_, word)| word)
    }

    /// Returns the preference of a word.
    #[must_use]
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, known)| *known == word).map(|(preference, _)| *preference)
    }

    /// Returns the preference of a class where none is configured: a run keeps the model that was chosen for it, a call beside
    /// it takes the cheapest.
    #[must_use]
    pub fn of_class(class: TaskClass) -> Self {
        match class {
            TaskClass::Interactive | TaskClass::Background => Self::ConfiguredOrder,
            TaskClass::Auxiliary => Self::Cheapest,
        }
    }
}

impl From<ModelPreference> for RoutingReason {
    fn from(preference: ModelPreference) -> Self {
        match preference {
            ModelPreference::ConfiguredOrder => Self::ConfiguredOrder,
            ModelPreference::Cheapest => Self::Cheapest,
            ModelPreference::Fastest => Self::Fastest,
        }
    }
}

/// Why a model does not serve a request.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PassOverReason {
    /// It lacks something that the request needs.
    CapabilityMissing {
        /// What it lacks.
        capability: ModelCapability,
    },
    /// The request is larger than its window.
    ContextTooSmall {
        /// Tokens of the request.
        tokens: u64,
        /// Tokens of its window.
        most: u64,
    },
    /// It does not answer at present.
    Unavailable {
        /// Until when, if that is known.
        until: Option<Timestamp>,
    },
    /// It has no price, and a budget limits money.
    NoPrice {
        /// The budget.
        budget: BudgetName,
    },
    /// Its reservation does not fit under a budget.
    OverBudget {
        /// The budget.
        budget: BudgetName,
        /// What it limits.
        measure: LimitMeasure,
    },
}

impl PassOverReason {
    /// Returns the cause that is recorded.
    #[must_use]
    pub fn cause(&self) -> PassOverCause {
        match self {
            Self::CapabilityMissing { capability: ModelCapability::Images } => PassOverCause::NoImages,
            Self::CapabilityMissing { capability: ModelCapability::Tools } => PassOverCause::NoTools,
            Self::CapabilityMissing { capability: ModelCapability::StructuredOutput } => {
                PassOverCause::NoStructuredOutput
            }
            Self::CapabilityMissing { capability: ModelCapability::Reasoning } => PassOverCause::NoReasoning,
            Self::ContextTooSmall { .. } => PassOverCause::ContextTooSmall,
            Self::Unavailable { .. } => PassOverCause::Unavailable,
            Self::NoPrice { .. } => PassOverCause::NoPrice,
            Self::OverBudget { .. } => PassOverCause::OverBudget,
        }
    }

    /// Returns the code in plain words.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::CapabilityMissing { .. } => "capability_missing",
            Self::ContextTooSmall { .. } => "context_too_small",
            Self::Unavailable { .. } => "unavailable",
            Self::NoPrice { .. } => "no_price",
            Self::OverBudget { .. } => "over_budget",
        }
    }
}

impl fmt::Display for PassOverReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CapabilityMissing { capability } => write!(f, "it lacks the capability `{capability}`"),
            Self::ContextTooSmall { tokens, most } => {
                write!(f, "its window of {most} tokens is smaller than the request of {tokens}")
            }
            Self::Unavailable { .. } => f.write_str("it does not answer at present"),
            Self::NoPrice { budget } => {
                write!(f, "it has no price, and the budget `{budget}` limits money")
            }
            Self::OverBudget { budget, measure } => {
                write!(f, "its reservation is above the limit on {measure} of the budget `{budget}`")
            }
        }
    }
}
