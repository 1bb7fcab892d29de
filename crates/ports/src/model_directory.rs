//! Which providers there are: a directory, replaced as a whole when the configuration changes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use palyra_types::model::{ModelRef, ProviderName};

use crate::model_provider::ModelProvider;

/// Models that failed the test with a picture, at most; more are forgotten, which costs another test.
const BLIND_MODELS_MAX: usize = 256;

/// What names the default model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ModelSource {
    /// Nothing does; the built-in model is used.
    #[default]
    BuiltIn,
    /// A variable of the daemon's environment.
    Environment,
    /// A configuration file or a flag.
    Configuration,
}

/// Where the default model comes from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ModelOrigin {
    /// What names it.
    pub source: ModelSource,
    /// The setting or variable with its place; empty for the built-in model.
    pub place: String,
    /// Random bytes of this process.
    pub salt: Vec<u8>,
    /// A digest of the salt and of everything that selects the default model.
    pub fingerprint: Vec<u8>,
}

/// Configured providers and the default model. Immutable, but for what tests with pictures found; a new configuration
/// makes a new one.
#[derive(Clone)]
pub struct ModelDirectory {
    providers: BTreeMap<ProviderName, Arc<dyn ModelProvider>>,
    default: ModelRef,
    fallbacks: Vec<ModelRef>,
    suggestions: Vec<String>,
    origin: ModelOrigin,
    blind: Arc<Mutex<BTreeSet<ModelRef>>>,
}

impl ModelDirectory {
    /// Makes a directory; `default` need not be listed by its provider, but the provider must be there to serve it.
    #[must_use]
    pub fn new(providers: Vec<Arc<dyn ModelProvider>>, default: ModelRef, suggestions: Vec<String>) -> Self {
        let providers = providers.into_iter().map(|provider| (provider.name(), provider)).collect();
        let (fallbacks, origin, blind) = (Vec::new(), ModelOrigin::default(), Arc::default());
        Self { providers, default, fallbacks, suggestions, origin, blind }
    }

    /// Returns the same directory with where its default model comes from.
    #[must_use]
    pub fn with_origin(self, origin: ModelOrigin) -> Self {
        Self { origin, ..self }
    }

    /// Returns where the default model comes from.
    #[must_use]
    pub fn origin(&self) -> &ModelOrigin {
        &self.origin
    }

    /// Returns the same directory with models that may be asked when another one fails, in order.
    #[must_use]
    pub fn with_fallbacks(self, fallbacks: Vec<ModelRef>) -> Self {
        Self { fallbacks, ..self }
    }

    /// Returns the same directory with more suggestions.
    #[must_use]
    pub fn with_suggestions(&self, more: impl IntoIterator<Item = String>) -> Self {
        let suggestions = self.suggestions.iter().cloned().chain(more).collect();
        Self { suggestions, ..self.clone() }
    }

    /// Returns the default model.
    #[must_use]
    pub fn default_model(&self) -> &ModelRef {
        &self.default
    }

    /// Returns the models that may be asked when `model` fails, in order: the configured ones but itself.
    #[must_use]
    pub fn fallbacks_of(&self, model: &ModelRef) -> Vec<ModelRef> {
        self.fallbacks.iter().filter(|fallback| *fallback != model).cloned().collect()
    }

    /// Returns all providers in order of name.
    pub fn providers(&self) -> impl Iterator<Item = &Arc<dyn ModelProvider>> {
        self.providers.values()
    }

    /// Returns the provider that serves a model.
    #[must_use]
    pub fn provider(&self, model: &ModelRef) -> Option<&Arc<dyn ModelProvider>> {
        self.providers.get(&model.provider)
    }

    /// Remembers a model that was shown a test picture and did not name its colour.
    pub fn note_blind(&self, model: &ModelRef) {
        let mut blind = self.blind.lock().unwrap_or_else(PoisonError::into_inner);
        if blind.len() < BLIND_MODELS_MAX {
            blind.insert(model.clone());
        }
    }

    /// Returns whether a model was shown a test picture and did not name its colour.
    pub fn is_blind(&self, model: &ModelRef) -> bool {
        self.blind.lock().unwrap_or_else(PoisonError::into_inner).contains(model)
    }

    /// Returns what was found on this machine and could be configured, in sentences.
    #[must_use]
    pub fn suggestions(&self) -> &[String] {
        &self.suggestions
    }
}
