//! Builds the directory of models from the configuration and the environment.
//!
//! The environment selects a server explicitly by `OPENAI_BASE_URL`; a bare key is only offered. Values of
//! keys go into the provider and nowhere else.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use palyra_ports::ModelProvider;
use palyra_providers::detect::{
    DetectedServer, ExplicitSelection, SelectModelError, SelectionError, detect_keys, detect_local_servers,
    explicit_selection, selected_model,
};
use palyra_providers::{
    DemoProvider, KeyReference, OpenAiChatConfig, OpenAiChatConfigError, OpenAiChatProvider,
};
use palyra_runtime::ModelDirectory;
use palyra_types::ErrorCode;
use palyra_types::model::ModelRef;
use tokio::sync::watch;

use crate::config::{Config, Origin, ProviderConfig};

/// The provider that the environment names.
const ENVIRONMENT_PROVIDER: &str = "openai";
/// The model taken when the server does not say what it has.
const ENVIRONMENT_MODEL_UNKNOWN: &str = "default";
/// How long a server may take to say what it has.
const ASK_SPAN_MAX: Duration = Duration::from_secs(5);

/// Why the models could not be set up.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ModelsError {
    /// A key's reference does not lead to a key.
    #[error("{origin}: the key of provider `{provider}` cannot be had")]
    Key {
        origin: Origin,
        provider: String,
        #[source]
        cause: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A provider's settings are not usable.
    #[error("{origin}: provider `{provider}` cannot be set up")]
    Provider {
        origin: Origin,
        provider: String,
        #[source]
        cause: OpenAiChatConfigError,
    },
    /// The environment selects something that cannot be used.
    #[error(transparent)]
    Selection(#[from] SelectionError),
    /// The default is not `provider/model` of a configured provider.
    #[error(
        "{origin}: `model.default` is `{given}`; it takes provider/model of a configured provider, such as {example}"
    )]
    Default { origin: Origin, given: String, example: String },
}

impl ModelsError {
    pub(crate) fn code(&self) -> ErrorCode {
        match self {
            Self::Key { .. } | Self::Provider { .. } | Self::Selection(_) | Self::Default { .. } => {
                ErrorCode::ConfigInvalid
            }
        }
    }
}

/// Builds the directory.
pub(crate) async fn build(
    config: &Config,
    environment: &BTreeMap<String, String>,
) -> Result<ModelDirectory, ModelsError> {
    let mut providers: Vec<Arc<dyn ModelProvider>> = vec![Arc::new(DemoProvider)];
    for settings in config.providers() {
        providers.push(configured(config, &settings, environment)?);
    }
    let mut default = ModelRef::new("demo", "demo");
    let mut suggestions = Vec::new();
    match explicit_selection(environment)? {
        Some(selection) => {
            let (provider, model) = selected(&selection, environment).await?;
            default = model;
            providers.push(provider);
            suggestions.push(selection.sentence());
        }
        None => suggestions.extend(detect_keys(environment).iter().map(|key| key.sentence())),
    }
    let named = config.default_model();
    if !named.is_empty() {
        default = named_default(named, &providers).map_err(|example| {
            let origin = config.origin("model.default");
            ModelsError::Default { origin, given: named.to_owned(), example }
        })?;
    }
    Ok(ModelDirectory::new(providers, default, suggestions))
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

/// Reads the default; what it should look like where it is none.
fn named_default(named: &str, providers: &[Arc<dyn ModelProvider>]) -> Result<ModelRef, String> {
    let known = |model: &ModelRef| providers.iter().any(|provider| provider.name() == model.provider);
    let example = || providers.last().map_or("demo/demo".to_owned(), |last| format!("{}/MODEL", last.name()));
    ModelRef::parse(named).filter(known).ok_or_else(example)
}

async fn selected(
    selection: &ExplicitSelection,
    environment: &BTreeMap<String, String>,
) -> Result<(Arc<dyn ModelProvider>, ModelRef), ModelsError> {
    let key = match &selection.key {
        Some(reference) => {
            let key = reference.resolve(environment);
            Some(key.map_err(|error| ModelsError::Key {
                origin: variable("OPENAI_API_KEY"),
                provider: ENVIRONMENT_PROVIDER.to_owned(),
                cause: error.into(),
            })?)
        }
        None => None,
    };
    let wanted = OpenAiChatConfig::new(ENVIRONMENT_PROVIDER, &selection.base_url, key);
    let provider = openai(wanted, &|| variable("OPENAI_BASE_URL"))?;
    let model = match tokio::time::timeout(ASK_SPAN_MAX, selected_model(selection, &provider)).await {
        Ok(Ok(model)) => model.to_string(),
        Ok(Err(error)) => unknown_model(&error),
        Err(_too_slow) => ENVIRONMENT_MODEL_UNKNOWN.to_owned(),
    };
    Ok((Arc::new(provider), ModelRef::new(ENVIRONMENT_PROVIDER, &model)))
}

fn unknown_model(error: &SelectModelError) -> String {
    tracing::warn!(%error, "the model server does not say which models it has");
    ENVIRONMENT_MODEL_UNKNOWN.to_owned()
}

fn configured(
    config: &Config,
    settings: &ProviderConfig,
    environment: &BTreeMap<String, String>,
) -> Result<Arc<dyn ModelProvider>, ModelsError> {
    let origin = |field: &str| config.origin(&format!("providers.{}.{field}", settings.name));
    let unreadable =
        |cause| ModelsError::Key { origin: origin("key"), provider: settings.name.clone(), cause };
    let key = match &settings.key {
        Some(reference) => {
            let reference: KeyReference = reference
                .parse()
                .map_err(|error: palyra_providers::ParseKeyReferenceError| unreadable(error.into()))?;
            Some(reference.resolve(environment).map_err(|error| unreadable(error.into()))?)
        }
        None => None,
    };
    let mut wanted = OpenAiChatConfig::new(&settings.name, &settings.base_url, key);
    wanted.context_tokens = settings.context_tokens;
    Ok(Arc::new(openai(wanted, &|| origin("base_url"))?))
}

fn openai(config: OpenAiChatConfig, origin: &dyn Fn() -> Origin) -> Result<OpenAiChatProvider, ModelsError> {
    let provider = config.name.to_string();
    OpenAiChatProvider::new(config).map_err(|cause| ModelsError::Provider {
        origin: origin(),
        provider,
        cause,
    })
}

fn variable(name: &str) -> Origin {
    Origin::Variable { name: name.to_owned() }
}
