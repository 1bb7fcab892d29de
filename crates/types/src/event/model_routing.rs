//! Why a request goes to its model, as the tape records it.
//!
//! Owns the codes, which are recorded and stay as they are, and their sentences. How a model is chosen is decided elsewhere.

use std::fmt;

use crate::Redacted;
use crate::content_walk::ContentClass::Identity;
use crate::content_walk::content_rows;
use crate::model::ModelRef;

/// Why a request goes to its model, and not to those before it in the chain; without reasons on tapes of older versions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ModelRouting {
    /// Why the model is asked.
    pub reasons: Vec<RoutingReason>,
    /// The models that were passed over for this request, in the order of the chain; empty once erased.
    pub passed_over: Redacted<Vec<PassedOver>>,
}

impl ModelRouting {
    /// Returns how many models were passed over because their window is too small.
    #[must_use]
    pub fn too_small(&self) -> usize {
        let too_small = |passed: &&PassedOver| passed.causes.contains(&PassOverCause::ContextTooSmall);
        self.passed_over.expose().iter().filter(too_small).count()
    }
}

/// A model that was passed over for a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PassedOver {
    /// The model.
    pub model: ModelRef,
    /// Every cause. At least one.
    pub causes: Vec<PassOverCause>,
}

/// Why a model is at its place among those that may serve a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RoutingReason {
    /// No other model was left.
    OnlyChoice,
    /// By the configured order.
    ConfiguredOrder,
    /// By its price.
    Cheapest,
    /// By its latency.
    Fastest,
    /// It is degraded.
    Degraded,
    /// It has no price, and no budget on the path limits money.
    Unpriced,
    /// Its reservation fits under every budget on the path.
    WithinBudgets,
    /// No budget is on the path.
    NoBudget,
    /// No model of the chain has everything that the request needs and answers at present, so the first one is asked.
    LastResort,
}

impl RoutingReason {
    /// Returns its code.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::OnlyChoice => "only_choice",
            Self::ConfiguredOrder => "configured_order",
            Self::Cheapest => "cheapest",
            Self::Fastest => "fastest",
            Self::Degraded => "degraded",
            Self::Unpriced => "unpriced",
            Self::WithinBudgets => "within_budgets",
            Self::NoBudget => "no_budget",
            Self::LastResort => "last_resort",
        }
    }
}

impl fmt::Display for RoutingReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OnlyChoice => "the only model left",
            Self::ConfiguredOrder => "by the configured order",
            Self::Cheapest => "by price",
            Self::Fastest => "by latency",
            Self::Degraded => "some of its last requests failed",
            Self::Unpriced => "it has no price, and no budget limits money",
            Self::WithinBudgets => "it fits under all budgets",
            Self::NoBudget => "no budget applies",
            Self::LastResort => "no model has everything that the request needs and answers at present",
        })
    }
}

/// Why a model does not serve a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PassOverCause {
    /// It sees no images.
    NoImages,
    /// It calls no tools.
    NoTools,
    /// It does not answer by a schema.
    NoStructuredOutput,
    /// It shows no reasoning.
    NoReasoning,
    /// The request is larger than its window.
    ContextTooSmall,
    /// It does not answer at present.
    Unavailable,
    /// It has no price, and a budget limits money.
    NoPrice,
    /// Its reservation does not fit under a budget.
    OverBudget,
}

/// Names of models are of the configuration.
impl From<Vec<PassedOver>> for Redacted<Vec<PassedOver>> {
    fn from(passed_over: Vec<PassedOver>) -> Self {
        Self::of_name(passed_over)
    }
}

content_rows! {
    fn model_routing(walk, routing: ModelRouting) {
        let ModelRouting { reasons: _, passed_over } = routing;
        walk.within(passed_over, |walk, passed_over| {
            walk.each(passed_over, |walk, PassedOver { model, causes: _ }| {
                walk.model(Identity, "routing.passed_over", model);
            });
        });
    }
}
