//! Models as the choice of one for a request sees them.
//!
//! Owns how the state of a provider is read: what it can do, and whether it answers. Prices are filled in by those who have
//! a catalogue.

use std::collections::BTreeSet;

use palyra_governance::{
    ModelCandidate, ModelCapability, ModelHealth, ModelPreference, PAUSE_WAITED_FOR_MAX, PriceCatalogue,
    sort_by_preference,
};
use palyra_ports::model_directory::ModelDirectory;
use palyra_ports::{ModelCapabilities, ProviderHealth};
use palyra_types::Timestamp;
use palyra_types::budget::RequestSize;
use palyra_types::event::RunStarted;
use palyra_types::model::ModelRef;

/// The request by which prices are compared before there is one.
const USUAL_SIZE: RequestSize = RequestSize { input_tokens: 8_000, output_tokens_max: 1_000 };

/// Returns the configured ones of these models as candidates, in order, without prices.
#[must_use]
pub fn candidates(directory: &ModelDirectory, models: &[ModelRef], now: Timestamp) -> Vec<ModelCandidate> {
    models.iter().filter_map(|model| candidate(directory, model, now)).collect()
}

/// Returns the models of a run's chain as candidates, in order, without prices. One that is not configured any more stays, as
/// one of which nothing is known: the failure of its request says so.
#[must_use]
pub fn chain(directory: &ModelDirectory, models: &[ModelRef], now: Timestamp) -> Vec<ModelCandidate> {
    let unknown = |model: &ModelRef| ModelCandidate {
        model: model.clone(),
        capabilities: capabilities(ModelCapabilities::ALL),
        context_tokens_max: None,
        health: ModelHealth::Healthy,
        first_token: None,
        price: None,
    };
    models.iter().map(|model| candidate(directory, model, now).unwrap_or_else(|| unknown(model))).collect()
}

/// The models that a run may ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelChain {
    /// The one that is asked first.
    pub model: ModelRef,
    /// Those that follow when it cannot answer, in order.
    pub fallbacks: Vec<ModelRef>,
}

/// How the model of a run was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelChoice {
    /// Its input names it: no other one is asked.
    Named,
    /// By an earlier run: it comes first.
    Chosen,
    /// By its agent, or by the configuration. A model of the agent comes first.
    Default,
}

impl ModelChoice {
    /// Returns how it was chosen, by the model that an input names and the start of the run that is repeated.
    #[must_use]
    pub fn of(named: Option<&ModelRef>, earlier: Option<&RunStarted>) -> Self {
        match named {
            Some(_) => Self::Named,
            None if earlier.is_some() => Self::Chosen,
            None => Self::Default,
        }
    }
}

/// By what the default model and its fallbacks are sorted.
#[derive(Debug, Clone, Copy)]
pub struct ModelOrder<'a> {
    /// The preference.
    pub preference: ModelPreference,
    /// The prices in force.
    pub catalogue: Option<&'a PriceCatalogue>,
    /// The time.
    pub now: Timestamp,
}

/// Returns the chain of a run whose model was chosen.
#[must_use]
pub fn chain_of_run(
    directory: &ModelDirectory,
    model: ModelRef,
    choice: ModelChoice,
    order: &ModelOrder<'_>,
) -> ModelChain {
    if choice == ModelChoice::Named {
        return ModelChain { model, fallbacks: Vec::new() };
    }
    let fallbacks = directory.fallbacks_of(&model);
    let is_chosen = choice == ModelChoice::Chosen || model != *directory.default_model();
    if is_chosen || order.preference == ModelPreference::ConfiguredOrder {
        return ModelChain { model, fallbacks };
    }
    let models: Vec<ModelRef> = std::iter::once(model.clone()).chain(fallbacks).collect();
    let mut ordered = in_order(directory, &models, order).into_iter();
    ModelChain { model: ordered.next().unwrap_or(model), fallbacks: ordered.collect() }
}

/// Returns models in the order in which they are asked: those that fail at present are last, and prices are compared for a
/// request of usual size.
fn in_order(directory: &ModelDirectory, models: &[ModelRef], order: &ModelOrder<'_>) -> Vec<ModelRef> {
    let mut candidates = chain(directory, models, order.now);
    for candidate in &mut candidates {
        candidate.price =
            order.catalogue.and_then(|catalogue| catalogue.price_at(&candidate.model, order.now));
    }
    sort_by_preference(&mut candidates, order.preference, USUAL_SIZE);
    candidates.into_iter().map(|candidate| candidate.model).collect()
}

/// Returns a model as a candidate without a price; `None` when its provider is not configured.
fn candidate(directory: &ModelDirectory, model: &ModelRef, now: Timestamp) -> Option<ModelCandidate> {
    let provider = directory.provider(model)?;
    let info = provider.model_info(&model.model);
    Some(ModelCandidate {
        model: model.clone(),
        capabilities: capabilities(info.capabilities),
        context_tokens_max: Some(info.context_tokens),
        health: health(provider.health(), now),
        first_token: provider.first_token(&model.model),
        price: None,
    })
}

fn capabilities(known: ModelCapabilities) -> BTreeSet<ModelCapability> {
    let ModelCapabilities { images, tools, structured_output, reasoning } = known;
    let all = [
        (ModelCapability::Images, images),
        (ModelCapability::Tools, tools),
        (ModelCapability::StructuredOutput, structured_output),
        (ModelCapability::Reasoning, reasoning),
    ];
    all.into_iter().filter_map(|(capability, has)| has.then_some(capability)).collect()
}

/// A short pause is waited for, so it does not keep a model from being asked.
fn health(provider: ProviderHealth, now: Timestamp) -> ModelHealth {
    match provider {
        ProviderHealth::Healthy => ModelHealth::Healthy,
        ProviderHealth::Paused { rest } if rest > PAUSE_WAITED_FOR_MAX => {
            ModelHealth::Unavailable { until: Some(now.after(rest)) }
        }
        ProviderHealth::Degraded | ProviderHealth::Paused { .. } => ModelHealth::Degraded,
    }
}
