//! Builds the directory of models from the configuration and the environment.
//!
//! The environment selects a server explicitly by `OPENAI_BASE_URL`; a bare key is only offered. Values of
//! keys go into the provider and nowhere else.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use palyra_demo_model::DemoProvider;
use palyra_memory::EmbeddedModel;
use palyra_ports::model_directory::EnvironmentServer;
use palyra_ports::{EMBEDDED_MODEL_NAME, EmbedTexts, EmbeddingModelName, GatewayTrail, ModelProvider};
use palyra_providers::detect::{
    DetectedKey, DetectedServer, ExplicitSelection, SelectionError, detect_keys, detect_local_servers,
    explicit_selection, selected_model,
};
use palyra_providers::{
    AnthropicMessagesConfig, AnthropicMessagesProvider, GuardLimits, KeyReference, OpenAiChatProvider,
    OpenAiConfig, OpenAiResponsesProvider, ProviderConfigError, ProviderEmbeddings, ResolveKeyError, Secret,
    guarded,
};
use palyra_runtime::ModelDirectory;
use palyra_types::ErrorCode;
use palyra_types::model::ModelRef;
use tokio::sync::watch;

use crate::config::{Config, PARALLEL_REQUESTS_DEFAULT, ProviderConfig, ProviderFormat, ValueOrigin};
use crate::keyless_provider::KeylessProvider;
use crate::model_keys::{KeySources, ModelKeyError};
use crate::own_model::{self, ENVIRONMENT_PROVIDER};
use crate::refusal::chain;
use crate::system::SystemClock;

/// The provider that is built in.
const BUILT_IN_PROVIDER: &str = "demo";
/// The model taken when the server does not say what it has.
const ENVIRONMENT_MODEL_UNKNOWN: &str = "default";
/// The variable that selects a server, and the one that has its key.
pub(crate) const SERVER_VARIABLE: &str = "OPENAI_BASE_URL";
const KEY_VARIABLE: &str = "OPENAI_API_KEY";
/// The key of the default model.
const DEFAULT_KEY: &str = "model.default";
/// The key of the models that may be asked instead.
const FALLBACKS_KEY: &str = "model.fallbacks";
/// The key of the model for embeddings.
const EMBEDDINGS_KEY: &str = "embeddings.model";
/// How long a server may take to say what it has.
const ASK_SPAN_MAX: Duration = Duration::from_secs(5);

/// Says whose the server of a model is that only a variable can name, for a model that is not one of a configured provider.
fn of_unset_server(key: &str, given: &str) -> String {
    let names_variable = given.split_once('/').is_some_and(|(provider, _)| provider == ENVIRONMENT_PROVIDER);
    let other = if key == DEFAULT_KEY { ", or name another: `palyra model use demo/demo`" } else { "" };
    match names_variable {
        true => format!(
            "; the server `{ENVIRONMENT_PROVIDER}` is the one of {SERVER_VARIABLE}, which is not set here: set it{other}"
        ),
        false => String::new(),
    }
}

/// Why a model could not be set up.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ModelsError {
    /// A key's reference does not lead to a key.
    #[error("{}: no key for provider `{provider}`", origin.place())]
    Key {
        origin: ValueOrigin,
        provider: String,
        #[source]
        cause: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A provider's settings are not usable.
    #[error("{}: provider `{provider}` cannot be set up", origin.place())]
    Provider {
        origin: ValueOrigin,
        provider: String,
        #[source]
        cause: ProviderConfigError,
    },
    /// The server is this daemon.
    #[error(
        "{}: the server of `{provider}` is this daemon itself, at the address of `http.listen`; {}", origin.place(),
        if provider == ENVIRONMENT_PROVIDER {
            "unset OPENAI_BASE_URL where the daemon is started (clients keep it), or name a default model: `palyra model use demo/demo`"
        } else {
            "name the address of a model server"
        }
    )]
    Itself { origin: ValueOrigin, provider: String },
    /// The environment selects something that cannot be used.
    #[error(transparent)]
    Selection(#[from] SelectionError),
    /// A model is not `provider/model` of a configured provider.
    #[error(
        "{}: `{key}` {}`{given}`; it takes provider/model of a configured provider, such as {example}",
        origin.place(),
        if *key == DEFAULT_KEY { "is " } else { "names " }
    )]
    Model { origin: ValueOrigin, key: &'static str, given: String, example: String },
    /// The model for embeddings is not one of a provider that can make some.
    #[error(
        "{}: `{EMBEDDINGS_KEY}` is `{given}`, {why}; it takes {EMBEDDED_MODEL_NAME}, or provider/model of a configured \
         provider with a format of OpenAI",
        origin.place()
    )]
    Embeddings { origin: ValueOrigin, given: String, why: &'static str },
}

impl ModelsError {
    /// Returns the stable code shown to people.
    pub(crate) fn code(&self) -> ErrorCode {
        match self {
            Self::Key { .. }
            | Self::Provider { .. }
            | Self::Itself { .. }
            | Self::Selection(_)
            | Self::Model { .. }
            | Self::Embeddings { .. } => ErrorCode::ConfigInvalid,
        }
    }

    /// Returns where the mistake is.
    pub(crate) fn origin(&self) -> Option<&ValueOrigin> {
        match self {
            Self::Key { origin, .. }
            | Self::Provider { origin, .. }
            | Self::Itself { origin, .. }
            | Self::Model { origin, .. }
            | Self::Embeddings { origin, .. } => Some(origin),
            Self::Selection(_) => None,
        }
    }

    /// Returns the key that the mistake is about.
    pub(crate) fn key(&self) -> Option<String> {
        match self {
            Self::Key { provider, .. } => Some(format!("providers.{provider}.key")),
            Self::Provider { provider, .. } | Self::Itself { provider, .. } => {
                Some(format!("providers.{provider}.base_url"))
            }
            Self::Model { key, .. } => Some((*key).to_owned()),
            Self::Embeddings { .. } => Some(EMBEDDINGS_KEY.to_owned()),
            Self::Selection(_) => None,
        }
    }
}

/// What the configuration and the environment ask for, before any server was asked anything.
pub(crate) struct ModelPlan {
    providers: Vec<Arc<dyn ModelProvider>>,
    selected: Option<SelectedServer>,
    default: Option<ModelRef>,
    fallbacks: Vec<ModelRef>,
    embeddings: EmbeddingModelName,
    suggestions: Vec<String>,
}

/// The server that the environment selects.
struct SelectedServer {
    selection: ExplicitSelection,
    provider: OpenAiChatProvider,
}

/// What a secret that the vault does not give out means for the default model and its fallbacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MissingSecret {
    /// A mistake of the configuration.
    Refused,
    /// The server is asked once its key is there: for a start, since only a daemon that runs can unlock and fill its vault.
    Awaited,
}

/// Says of each key of the environment that no configured server has how it can be used.
fn unused_keys(config: &Config, environment: &BTreeMap<String, String>) -> Vec<String> {
    let in_use: Vec<String> = config.providers().into_iter().filter_map(|settings| settings.key).collect();
    let found = detect_keys(environment);
    let unused = found.iter().filter(|found| !in_use.contains(&found.key.to_string()));
    unused.map(DetectedKey::sentence).collect()
}

/// Returns whether a server has its key from the vault.
pub(crate) fn uses_the_vault(config: &Config) -> bool {
    let is_of_vault = |key: &String| matches!(key.parse(), Ok(KeyReference::Vault(_)));
    config.providers().iter().any(|settings| settings.key.as_ref().is_some_and(is_of_vault))
}

/// Makes what can be made without a network; else every reason against it.
pub(crate) fn plan(
    config: &Config,
    sources: &KeySources,
    missing: MissingSecret,
) -> Result<ModelPlan, Vec<ModelsError>> {
    let environment = &*sources.environment;
    let mut errors = Vec::new();
    let mut providers: Vec<Arc<dyn ModelProvider>> = vec![Arc::new(DemoProvider)];
    let mut names: Vec<String> = vec![BUILT_IN_PROVIDER.to_owned()];
    for settings in config.providers() {
        names.push(settings.name.clone());
        match configured(config, &settings, sources, missing) {
            Ok(provider) => providers.push(provider),
            Err(error) => errors.push(error),
        }
    }
    let mut suggestions = Vec::new();
    let selection = explicit_selection(environment).unwrap_or_else(|error| {
        errors.push(error.into());
        None
    });
    match &selection {
        Some(selection) => {
            names.push(ENVIRONMENT_PROVIDER.to_owned());
            // Where the configuration names a default model, the environment decides nothing.
            suggestions.extend(config.default_model().is_empty().then(|| selection.sentence()));
        }
        None => suggestions.extend(unused_keys(config, environment)),
    }
    if let Some(selection) = &selection
        && config.default_model().is_empty()
        && is_this_daemon(config, &selection.base_url)
    {
        let provider = ENVIRONMENT_PROVIDER.to_owned();
        errors.push(ModelsError::Itself { origin: variable(SERVER_VARIABLE), provider });
    }
    let selected = selection.map(|selection| SelectedServer::new(selection, sources)).transpose();
    let selected = selected.unwrap_or_else(|error| {
        errors.push(error);
        None
    });
    let mut known = |key: &'static str, given: &str| {
        let model =
            ModelRef::parse(given).filter(|model| names.iter().any(|name| *name == model.provider.as_str()));
        if model.is_none() {
            let example = names.last().filter(|last| *last != BUILT_IN_PROVIDER);
            let example = example.map_or("demo/demo".to_owned(), |last| format!("{last}/MODEL"));
            errors.push(ModelsError::Model {
                origin: config.origin(key),
                key,
                given: given.to_owned(),
                example: format!("{example}{}", of_unset_server(key, given)),
            });
        }
        model
    };
    let named = config.default_model();
    let default = if named.is_empty() { None } else { known(DEFAULT_KEY, named) };
    let fallbacks = config.fallback_models().iter();
    let fallbacks = fallbacks.filter_map(|fallback| known(FALLBACKS_KEY, fallback)).collect();
    let embeddings = config.embedding_model();
    errors.extend(embeddings_mistake(config, &embeddings, &names));
    if errors.is_empty() {
        Ok(ModelPlan { providers, selected, default, fallbacks, embeddings, suggestions })
    } else {
        Err(errors)
    }
}

/// Builds the directory; a server that the environment selects is asked which models it has.
///
/// # Errors
/// Every reason against it.
pub(crate) async fn build(
    config: &Config,
    sources: &KeySources,
    missing: MissingSecret,
) -> Result<ModelDirectory, Vec<ModelsError>> {
    let environment = &*sources.environment;
    let ModelPlan { mut providers, selected, default, fallbacks, embeddings, suggestions } =
        plan(config, sources, missing)?;
    let mut selected_default = ModelRef::new("demo", "demo");
    let mut of_environment = None;
    let mut is_unknown = false;
    if let Some(SelectedServer { selection, provider }) = selected {
        let known = model_of(&selection, &provider).await;
        is_unknown = known.is_none() && default.is_none();
        let model = known.unwrap_or_else(|| ModelRef::new(ENVIRONMENT_PROVIDER, ENVIRONMENT_MODEL_UNKNOWN));
        let key = selection.key.as_ref().map(ToString::to_string);
        of_environment =
            Some(EnvironmentServer { provider: model.provider.clone(), base_url: selection.base_url, key });
        selected_default = model;
        providers.push(guard(Arc::new(provider), PARALLEL_REQUESTS_DEFAULT));
    }
    let providers: Vec<_> =
        providers.into_iter().map(|provider| sources.answers.noted_of(provider)).collect();
    let default = default.unwrap_or(selected_default);
    let origin = own_model::of(config, environment).map(|own| own.origin()).unwrap_or_default();
    let embedders = embedders(&providers, embeddings);
    let configured = config.providers().into_iter().filter_map(|settings| {
        let model = settings.model.as_ref()?;
        Some(ModelRef::new(&settings.name, model))
    });
    let directory = ModelDirectory::new(providers, default, suggestions).with_embedders(embedders);
    let directory = directory.with_provider_models(configured.collect());
    let directory = if is_unknown { directory.with_unknown_default() } else { directory };
    Ok(directory.with_fallbacks(fallbacks).with_origin(origin).with_environment_server(of_environment))
}

/// Finds a model for embeddings of a provider that is not there or makes none.
fn embeddings_mistake(config: &Config, model: &EmbeddingModelName, names: &[String]) -> Option<ModelsError> {
    let EmbeddingModelName::OfProvider(given) = model else { return None };
    let provider = given.provider.as_str();
    let settings = config.providers().into_iter().find(|settings| settings.name == provider);
    let why = match settings.map(|settings| settings.format) {
        Some(ProviderFormat::OpenAiChat | ProviderFormat::OpenAiResponses) => return None,
        Some(ProviderFormat::AnthropicMessages) => "and the format anthropic_messages has no embeddings",
        None if provider == BUILT_IN_PROVIDER => "and the built-in provider has no embeddings",
        // That of the environment speaks the same format.
        None if names.iter().any(|name| name == provider) => return None,
        None => "and no provider of this name is configured",
    };
    let origin = config.origin(EMBEDDINGS_KEY);
    Some(ModelsError::Embeddings { origin, given: given.to_string(), why })
}

/// Returns the models for embeddings: the configured one, then the embedded one.
fn embedders(
    providers: &[Arc<dyn ModelProvider>],
    configured: EmbeddingModelName,
) -> Vec<Arc<dyn EmbedTexts>> {
    let of_provider = match configured {
        EmbeddingModelName::Embedded => None,
        EmbeddingModelName::OfProvider(model) => {
            let provider = providers.iter().find(|provider| provider.name() == model.provider);
            provider.map(|provider| Arc::new(ProviderEmbeddings::new(Arc::clone(provider), model)) as _)
        }
    };
    let embedded: Arc<dyn EmbedTexts> = Arc::new(EmbeddedModel::default());
    of_provider.into_iter().chain([embedded]).collect()
}

/// Tells all reasons at once.
pub(crate) fn describe_all(errors: &[ModelsError]) -> String {
    match errors {
        [only] => chain(only),
        all => {
            let lines: Vec<_> = all.iter().map(|error| format!("  {}", chain(error))).collect();
            format!("the configuration has {} mistakes\n{}", all.len(), lines.join("\n"))
        }
    }
}

/// Looks for model servers on this machine, and adds what it finds to the suggestions. Read-only, and slow
/// enough that nobody should wait for it.
pub(crate) async fn suggest_local_servers(models: watch::Sender<Arc<ModelDirectory>>) {
    let found = detect_local_servers().await;
    if !found.is_empty() {
        let sentences: Vec<String> = found.iter().map(DetectedServer::sentence).collect();
        tracing::info!(servers = sentences.len(), "model servers found on this machine");
        models.send_modify(|directory| *directory = Arc::new(directory.with_suggestions(sentences)));
    }
}

impl SelectedServer {
    /// Makes the adapter of the server, without a network.
    fn new(selection: ExplicitSelection, sources: &KeySources) -> Result<Self, ModelsError> {
        let key = selection.key.as_ref().map(|reference| reference.resolve(&sources.environment)).transpose();
        let key = key.map_err(|error| ModelsError::Key {
            origin: variable(KEY_VARIABLE),
            provider: ENVIRONMENT_PROVIDER.to_owned(),
            cause: error.into(),
        })?;
        let mut wanted = OpenAiConfig::new(ENVIRONMENT_PROVIDER, &selection.base_url, key);
        wanted.gateways = sources.gateways.clone();
        let provider = OpenAiChatProvider::new(wanted).map_err(|cause| ModelsError::Provider {
            origin: variable(if cause == ProviderConfigError::Key { KEY_VARIABLE } else { SERVER_VARIABLE }),
            provider: ENVIRONMENT_PROVIDER.to_owned(),
            cause,
        })?;
        Ok(Self { selection, provider })
    }
}

/// Returns the model that the environment selects; a server is asked where no model is named, and may not say it.
async fn model_of(selection: &ExplicitSelection, provider: &OpenAiChatProvider) -> Option<ModelRef> {
    match tokio::time::timeout(ASK_SPAN_MAX, selected_model(selection, provider)).await {
        Ok(Ok(model)) => Some(ModelRef::new(ENVIRONMENT_PROVIDER, &model.to_string())),
        Ok(Err(error)) => {
            tracing::warn!(%error, "the model server does not say which models it has");
            None
        }
        Err(_too_slow) => None,
    }
}

fn configured(
    config: &Config,
    settings: &ProviderConfig,
    sources: &KeySources,
    missing: MissingSecret,
) -> Result<Arc<dyn ModelProvider>, ModelsError> {
    if is_this_daemon(config, &settings.base_url) {
        let origin = config.origin(&format!("providers.{}.base_url", settings.name));
        return Err(ModelsError::Itself { origin, provider: settings.name.clone() });
    }
    let cause = match sources.key_of(settings) {
        Ok(key) => return with_key(config, settings, key, &sources.gateways),
        // Its address is at fault, which this says.
        Err(ModelKeyError::Server(_)) => return with_key(config, settings, None, &sources.gateways),
        Err(cause) => cause,
    };
    let is_needed = is_needed(config, &settings.name);
    let can_wait = match &cause {
        ModelKeyError::Resolve(ResolveKeyError::NotSet { .. }) => !is_needed,
        ModelKeyError::Vault(_) => !is_needed || missing == MissingSecret::Awaited,
        _ => false,
    };
    if can_wait {
        tracing::warn!(provider = settings.name, "a server of models has no key: {}", chain(&cause));
        return keyless(config, settings, sources, no_key(&settings.name, &cause));
    }
    let way_out = match &cause {
        ModelKeyError::Resolve(ResolveKeyError::NotSet { .. }) => {
            Some(format!("{}; set it, or use another model: `palyra model use demo`", chain(&cause)))
        }
        _ => None,
    };
    Err(ModelsError::Key {
        origin: config.origin(&format!("providers.{}.key", settings.name)),
        provider: settings.name.clone(),
        cause: way_out.map_or_else(|| cause.into(), Into::into),
    })
}

/// Returns whether a server is the HTTP API of this daemon, as far as a configured address says so.
fn is_this_daemon(config: &Config, base_url: &str) -> bool {
    config.http().is_some_and(|http| http.serves(base_url))
}

/// Returns whether a server has the default model or a fallback: it is asked without being named.
fn is_needed(config: &Config, provider: &str) -> bool {
    let models = std::iter::once(config.default_model());
    let mut models = models.chain(config.fallback_models().iter().map(String::as_str));
    models.any(|model| model.split('/').next() == Some(provider))
}

/// Says why a server has no key.
fn no_key(provider: &str, cause: &ModelKeyError) -> String {
    format!("no key for `{provider}`: {}", chain(cause))
}

/// Makes a server that looks for its key with each request, until it has one; `note` says why it has none now.
fn keyless(
    config: &Config,
    settings: &ProviderConfig,
    sources: &KeySources,
    note: String,
) -> Result<Arc<dyn ModelProvider>, ModelsError> {
    let keyless = with_key(config, settings, None, &sources.gateways)?;
    let settings = settings.clone();
    let sources = sources.clone();
    let connect = move || {
        let key = sources.key_of(&settings);
        let key = key.map_err(|error| no_key(&settings.name, &error))?;
        let provider = adapter(&settings, key, &sources.gateways).map_err(|error| chain(&error))?;
        Ok(guard(provider, settings.parallel_requests_max))
    };
    Ok(Arc::new(KeylessProvider::new(keyless, Box::new(connect), note)))
}

/// Makes a server with this key.
pub(crate) fn with_key(
    config: &Config,
    settings: &ProviderConfig,
    key: Option<Secret>,
    gateways: &GatewayTrail,
) -> Result<Arc<dyn ModelProvider>, ModelsError> {
    let provider = adapter(settings, key, gateways).map_err(|cause| ModelsError::Provider {
        origin: config.origin(&format!("providers.{}.base_url", settings.name)),
        provider: settings.name.clone(),
        cause,
    })?;
    Ok(guard(provider, settings.parallel_requests_max))
}

/// Makes the adapter that speaks a provider's format.
fn adapter(
    settings: &ProviderConfig,
    key: Option<Secret>,
    gateways: &GatewayTrail,
) -> Result<Arc<dyn ModelProvider>, ProviderConfigError> {
    let (name, base_url) = (&settings.name, &settings.base_url);
    Ok(match settings.format {
        ProviderFormat::OpenAiChat | ProviderFormat::OpenAiResponses => {
            let mut wanted = OpenAiConfig::new(name, base_url, key);
            wanted.context_tokens = settings.context_tokens;
            wanted.images = settings.images;
            wanted.gateways = gateways.clone();
            if settings.format == ProviderFormat::OpenAiChat {
                Arc::new(OpenAiChatProvider::new(wanted)?)
            } else {
                Arc::new(OpenAiResponsesProvider::new(wanted)?)
            }
        }
        ProviderFormat::AnthropicMessages => {
            let mut wanted = AnthropicMessagesConfig::new(name, base_url, key);
            wanted.context_tokens = settings.context_tokens;
            wanted.images = settings.images;
            wanted.gateways = gateways.clone();
            Arc::new(AnthropicMessagesProvider::new(wanted)?)
        }
    })
}

/// Puts the limits of a provider around it.
fn guard(provider: Arc<dyn ModelProvider>, parallel_requests_max: usize) -> Arc<dyn ModelProvider> {
    guarded(provider, GuardLimits { parallel_requests_max, ..GuardLimits::default() }, Arc::new(SystemClock))
}

fn variable(name: &str) -> ValueOrigin {
    ValueOrigin::Variable { name: name.to_owned() }
}

#[cfg(test)]
mod tests;
