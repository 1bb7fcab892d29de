//! Which providers there are: a directory, replaced as a whole when the configuration changes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use palyra_types::model::{ModelRef, ProviderName};
use palyra_types::run::UserInput;

use crate::embed_texts::{EmbedTexts, EmbeddingModelName};
use crate::model_provider::ModelProvider;

/// The provider that takes no settings.
const BUILT_IN_PROVIDER: &str = "demo";
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

/// The server that the daemon's environment selects, which no configuration names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnvironmentServer {
    /// The name under which it is asked.
    pub provider: ProviderName,
    /// Where its API begins.
    pub base_url: String,
    /// A reference to its key, such as `env:OPENAI_API_KEY`, if it takes one.
    pub key: Option<String>,
}

/// Configured providers and the default model. Immutable, but for what tests with pictures found; a new configuration
/// makes a new one.
#[derive(Clone)]
pub struct ModelDirectory {
    providers: BTreeMap<ProviderName, Arc<dyn ModelProvider>>,
    default: ModelRef,
    fallbacks: Vec<ModelRef>,
    /// The models that names of providers mean, at most one of each.
    provider_models: Vec<ModelRef>,
    is_default_unknown: bool,
    suggestions: Vec<String>,
    origin: ModelOrigin,
    environment: Option<EnvironmentServer>,
    embedders: Vec<Arc<dyn EmbedTexts>>,
    blind: Arc<Mutex<BTreeSet<ModelRef>>>,
}

impl ModelDirectory {
    /// Makes a directory; `default` need not be listed by its provider, but the provider must be there to serve it.
    #[must_use]
    pub fn new(providers: Vec<Arc<dyn ModelProvider>>, default: ModelRef, suggestions: Vec<String>) -> Self {
        let providers = providers.into_iter().map(|provider| (provider.name(), provider)).collect();
        Self {
            providers,
            default,
            fallbacks: Vec::new(),
            provider_models: Vec::new(),
            is_default_unknown: false,
            suggestions,
            origin: ModelOrigin::default(),
            environment: None,
            embedders: Vec::new(),
            blind: Arc::default(),
        }
    }

    /// Returns the same directory with the models that make vectors of texts; the first one is the configured one.
    #[must_use]
    pub fn with_embedders(self, embedders: Vec<Arc<dyn EmbedTexts>>) -> Self {
        Self { embedders, ..self }
    }

    /// Returns the models that make vectors of texts, the configured one first.
    #[must_use]
    pub fn embedders(&self) -> &[Arc<dyn EmbedTexts>] {
        &self.embedders
    }

    /// Returns the model of this name, if it makes vectors of texts here.
    #[must_use]
    pub fn embedder(&self, name: &EmbeddingModelName) -> Option<&Arc<dyn EmbedTexts>> {
        self.embedders.iter().find(|embedder| embedder.embedding_model().name == *name)
    }

    /// Returns the same directory with where its default model comes from.
    #[must_use]
    pub fn with_origin(self, origin: ModelOrigin) -> Self {
        Self { origin, ..self }
    }

    /// Returns the same directory with the server that the daemon's environment selects, if it selects one.
    #[must_use]
    pub fn with_environment_server(self, server: Option<EnvironmentServer>) -> Self {
        Self { environment: server, ..self }
    }

    /// Returns the same directory with the models that names of providers mean.
    #[must_use]
    pub fn with_provider_models(self, provider_models: Vec<ModelRef>) -> Self {
        Self { provider_models, ..self }
    }

    /// Returns the same directory, which says that its default model has a made-up name, because its server did not say which
    /// models it has.
    #[must_use]
    pub fn with_unknown_default(self) -> Self {
        Self { is_default_unknown: true, ..self }
    }

    /// Returns the same directory with the default model's name, which its server said since.
    #[must_use]
    pub fn with_known_default(&self, default: ModelRef) -> Self {
        Self { default, is_default_unknown: false, ..self.clone() }
    }

    /// Returns whether the default model has a made-up name.
    #[must_use]
    pub fn is_default_unknown(&self) -> bool {
        self.is_default_unknown
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

    /// Returns the model that a person means by a name: `provider/model`, the name of a provider with a configured model, or
    /// a part that one model alone has among the default model, the fallbacks, the configured ones and the built-in model.
    #[must_use]
    pub fn model_named(&self, name: &str) -> Option<ModelRef> {
        if name.contains('/') {
            return ModelRef::parse(name);
        }
        if let Some(configured) = self.provider_models.iter().find(|model| model.provider.as_str() == name) {
            return Some(configured.clone());
        }
        let built_in = ModelRef::new(BUILT_IN_PROVIDER, BUILT_IN_PROVIDER);
        let known = std::iter::once(&self.default).chain(&self.fallbacks).chain(&self.provider_models);
        let known = known.chain([&built_in]);
        let meant = known.filter(|model| model.provider.as_str() == name || model.model.as_str() == name);
        let meant: BTreeSet<&ModelRef> = meant.collect();
        if meant.len() == 1 { meant.first().map(|model| (*model).clone()) } else { None }
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

    /// Returns the command that has images sent to a model of the environment's server in any case: it keeps the server in
    /// the configuration file, under a name that no other has. `None` for any other model.
    #[must_use]
    pub fn images_command(&self, model: &ModelRef) -> Option<String> {
        let server = self.environment.as_ref().filter(|server| server.provider == model.provider)?;
        let is_free =
            |name: &String| self.providers.keys().all(|provider| provider.as_str() != name.as_str());
        let names = std::iter::once("mine".to_owned()).chain((2..).map(|number| format!("mine-{number}")));
        let name = names.take(self.providers.len() + 1).find(is_free)?;
        let key = server.key.as_ref().map(|key| format!(" --key {key}")).unwrap_or_default();
        Some(format!(
            "palyra model add {name} --base-url {} --model {}{key} --images",
            server.base_url, model.model
        ))
    }

    /// Returns what was found on this machine and could be configured, in sentences.
    #[must_use]
    pub fn suggestions(&self) -> &[String] {
        &self.suggestions
    }

    /// Names the images of which the model learns the name alone, and the setting that changes this; nothing where one of its
    /// fallbacks sees them, which is asked then.
    #[must_use]
    pub fn note_unseen_images(
        &self,
        input: &UserInput,
        model: &ModelRef,
        fallbacks: &[ModelRef],
    ) -> Option<String> {
        let sees = |model: &ModelRef| {
            let provider = self.provider(model);
            provider.is_some_and(|provider| provider.model_info(&model.model).capabilities.images)
        };
        if fallbacks.iter().any(sees) {
            return None;
        }
        let images = input.attachments.iter().filter(|file| file.is_image());
        let names: Vec<&str> = images.map(|file| file.name.expose().as_str()).collect();
        let provider = self.provider(model)?;
        if names.is_empty() || provider.model_info(&model.model).capabilities.images {
            return None;
        }
        let names = names.join(", ");
        if model.provider.as_str() == BUILT_IN_PROVIDER {
            return Some(format!("{model} takes no images, so only the name of {names} was sent"));
        }
        let provider = &model.provider;
        if let Some(command) = self.images_command(model) {
            let why = if self.is_blind(model) {
                "did not understand the test picture".to_owned()
            } else {
                format!("is not known to take images: `palyra model test {model}` shows it one")
            };
            return Some(format!(
                "{model} {why}; only the name of {names} was sent; `{command}` keeps its server in the \
                 configuration file, and sends it all the same"
            ));
        }
        if self.is_blind(model) {
            return Some(format!(
                "{model} did not understand the test picture, so only the name of {names} was sent; \
                 `images = true` below `[providers.{provider}]` in the configuration file, then `palyra config reload`, sends \
                 it all the same"
            ));
        }
        Some(format!(
            "{model} is not known to take images, so only the name of {names} was sent; `images = true` below \
             `[providers.{provider}]` in the configuration file, then `palyra config reload`, sends it all the same; where no \
             test has shown the model a picture yet, `palyra model test {model}` does"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_model_names_it_where_one_model_alone_has_it() {
        let fallbacks = ["local/large", "cloud/small"].map(|name| ModelRef::parse(name).unwrap());
        let directory = ModelDirectory::new(Vec::new(), ModelRef::new("local", "small"), Vec::new())
            .with_fallbacks(fallbacks.into())
            .with_provider_models(vec![ModelRef::new("mine", "tiny")]);
        let named = |name| directory.model_named(name).map(|model| model.to_string());
        for (name, meant) in [
            ("demo", Some("demo/demo")),
            ("large", Some("local/large")),
            ("cloud", Some("cloud/small")),
            ("other/model", Some("other/model")),
            ("mine", Some("mine/tiny")),
            ("tiny", Some("mine/tiny")),
            ("small", None),
            ("local", None),
            ("other", None),
            ("", None),
        ] {
            assert_eq!(named(name).as_deref(), meant, "{name}");
        }
    }
}
