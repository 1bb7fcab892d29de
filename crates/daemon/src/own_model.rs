//! The default model that a configuration and an environment select, without asking any server.
//!
//! Daemon and client compute it with the same code. A digest under a salt tells whether both select the same model at the
//! same server with the same key; the key itself stays in this file. Begin at [`own_model`].

use std::collections::BTreeMap;
use std::path::Path;

use palyra_providers::KeyReference;
use palyra_providers::detect::{ExplicitSelection, explicit_selection};
use palyra_runtime::model_directory::{ModelOrigin, ModelSource};
use palyra_types::model::ModelRef;

use crate::config::{self, Config, ProviderConfig, ValueOrigin};
use crate::refusal::{chain, in_this_environment};

/// The provider that the environment names.
pub(crate) const ENVIRONMENT_PROVIDER: &str = "openai";
/// The variable that selects a server.
const SERVER_VARIABLE: &str = "OPENAI_BASE_URL";
/// The variable that names the model at that server.
const MODEL_VARIABLE: &str = "PALYRA_MODEL";
/// The variable of the key for that server.
const KEY_VARIABLE: &str = "OPENAI_API_KEY";
const DEFAULT_KEY: &str = "model.default";
/// Random bytes of a fingerprint.
const SALT_BYTES: usize = 16;

/// The default model that a daemon started here would use.
#[derive(Clone, PartialEq, Eq)]
pub struct OwnModel {
    /// What names it.
    pub source: ModelSource,
    /// The setting or variable with its place; empty for the built-in model.
    pub place: String,
    /// Its name for messages: provider/model, or the server where the model is not named.
    pub name: String,
    /// Variables of this environment that are there to select a model.
    pub variables: Vec<&'static str>,
    /// Whether the variables name the server and model that the configuration names.
    pub is_named_twice: bool,
    /// The variable of the key, where variables select the server and none has a key for it.
    pub unset_key: Option<&'static str>,
    /// The variable that names the model's server and is not set: no daemon starts here, and one that has the variable has this
    /// model.
    pub unset_server: Option<&'static str>,
    /// Everything that selects it, the key included.
    selection: Vec<u8>,
    /// The same where the server names the model: for an environment that names a server and a model.
    unnamed_selection: Option<Vec<u8>>,
    /// The same without the key, where there is one.
    keyless_selection: Option<Vec<u8>>,
}

impl OwnModel {
    /// Returns a digest that is equal for an equal selection under the same salt.
    #[must_use]
    pub fn fingerprint(&self, salt: &[u8]) -> Vec<u8> {
        palyra_ledger::sha256(&[salt, &self.selection].concat()).to_vec()
    }

    /// Returns the digest of the same server and key without a name of the model; `None` where that is no other selection.
    #[must_use]
    pub fn unnamed_fingerprint(&self, salt: &[u8]) -> Option<Vec<u8>> {
        let selection = self.unnamed_selection.as_ref()?;
        Some(palyra_ledger::sha256(&[salt, selection].concat()).to_vec())
    }

    /// Returns the digest of the same server and model without a key; `None` where there is no key, or the configuration
    /// names it.
    #[must_use]
    pub fn keyless_fingerprint(&self, salt: &[u8]) -> Option<Vec<u8>> {
        let selection = self.keyless_selection.as_ref()?;
        Some(palyra_ledger::sha256(&[salt, selection].concat()).to_vec())
    }

    /// Returns what clients are told, with a salt of its own.
    pub(crate) fn origin(&self) -> ModelOrigin {
        let mut salt = vec![0; SALT_BYTES];
        getrandom::fill(&mut salt).expect("the kernel gives random numbers once it has booted");
        let fingerprint = self.fingerprint(&salt);
        ModelOrigin { source: self.source, place: self.place.clone(), salt, fingerprint }
    }
}

/// Returns the default model of a daemon that would be started with this configuration file and environment.
///
/// # Errors
/// Why such a daemon would not start, in one line.
pub fn own_model(
    explicit: Option<&Path>,
    environment: &BTreeMap<String, String>,
) -> Result<OwnModel, String> {
    let config = config::load(explicit, environment, &[]).map_err(|mistakes| mistakes.lines().join("; "))?;
    of(&config, environment)
}

/// Returns the variables of an environment that are there to select a model.
#[must_use]
pub fn model_variables(environment: &BTreeMap<String, String>) -> Vec<&'static str> {
    let is_set = |name: &&str| environment.get(*name).is_some_and(|value: &String| !value.trim().is_empty());
    [SERVER_VARIABLE, MODEL_VARIABLE].into_iter().filter(is_set).collect()
}

/// As [`own_model`], with a configuration that was read.
pub(crate) fn of(config: &Config, environment: &BTreeMap<String, String>) -> Result<OwnModel, String> {
    let selection = explicit_selection(environment).map_err(|error| chain(&error))?;
    let variables = model_variables(environment);
    let named = config.default_model();
    let own = |source, place, name: String, parts: &[&str]| OwnModel {
        source,
        place,
        variables,
        selection: joined(parts),
        unnamed_selection: None,
        keyless_selection: None,
        is_named_twice: false,
        unset_key: None,
        unset_server: None,
        name,
    };
    if named.is_empty() {
        return Ok(match &selection {
            Some(selection) => {
                let name = match &selection.model {
                    Some(model) => format!("{ENVIRONMENT_PROVIDER}/{model}"),
                    None => format!("the first model at {}", selection.base_url),
                };
                let model = selection.model.as_ref().map(ToString::to_string).unwrap_or_default();
                let key = selection.key.as_ref().map(|key| key_of(key, environment)).unwrap_or_default();
                let place = SERVER_VARIABLE.to_owned();
                let unnamed_selection = (!model.is_empty()).then(|| joined(&[&selection.base_url, "", &key]));
                let keyless_selection = (!key.is_empty()).then(|| joined(&[&selection.base_url, &model, ""]));
                let parts = [selection.base_url.as_str(), &model, &key];
                OwnModel {
                    unset_key: unset_key(&key),
                    unnamed_selection,
                    keyless_selection,
                    ..own(ModelSource::Environment, place, name, &parts)
                }
            }
            None => own(ModelSource::BuiltIn, String::new(), "demo/demo".to_owned(), &[]),
        });
    }
    let provider = ModelRef::parse(named).map(|model| model.provider.to_string()).unwrap_or_default();
    let settings = config.providers().into_iter().find(|settings| settings.name == provider);
    let origin = config.origin(DEFAULT_KEY);
    match (&settings, &selection) {
        (None, Some(selection)) if provider == ENVIRONMENT_PROVIDER => {
            let key = selection.key.as_ref().map(|key| key_of(key, environment)).unwrap_or_default();
            let place = format!("{SERVER_VARIABLE}, with {DEFAULT_KEY} of {}", origin.place());
            let own =
                own(ModelSource::Environment, place, named.to_owned(), &[named, &selection.base_url, &key]);
            Ok(OwnModel { unset_key: unset_key(&key), ..own })
        }
        (Some(settings), _) if from_variable(config, settings, &origin) => {
            let key = configured_key(settings, environment)?;
            let format = format!("{:?}", settings.format);
            let parts = [named, &settings.base_url, &format, &key];
            Ok(own(ModelSource::Environment, origin.place(), named.to_owned(), &parts))
        }
        (None, None) if provider == ENVIRONMENT_PROVIDER => {
            let place = format!("{SERVER_VARIABLE}, with {DEFAULT_KEY} of {}", origin.place());
            let own = own(ModelSource::Environment, place, named.to_owned(), &[named]);
            Ok(OwnModel { unset_server: Some(SERVER_VARIABLE), ..own })
        }
        _ if matches!(origin, ValueOrigin::Variable { .. }) => {
            Ok(own(ModelSource::Environment, origin.place(), named.to_owned(), &[named]))
        }
        _ => {
            let place = format!("{DEFAULT_KEY} of {origin}");
            let is_named_twice = names_the_same(named, settings.as_ref(), selection.as_ref());
            let own = own(ModelSource::Configuration, place, named.to_owned(), &[named]);
            Ok(OwnModel { is_named_twice, ..own })
        }
    }
}

/// Returns whether the variables select the server and the model of a configured name.
fn names_the_same(
    named: &str,
    settings: Option<&ProviderConfig>,
    selection: Option<&ExplicitSelection>,
) -> bool {
    let (Some(settings), Some(selection)) = (settings, selection) else { return false };
    let is_same_server = settings.base_url.trim_end_matches('/') == selection.base_url.trim_end_matches('/');
    let model = selection.model.as_ref().map(ToString::to_string);
    is_same_server && model.is_some_and(|model| named == format!("{}/{model}", settings.name))
}

/// Returns the parts with an end each, so that two lists of parts never read alike.
fn joined(parts: &[&str]) -> Vec<u8> {
    parts.iter().flat_map(|part| part.bytes().chain([0])).collect()
}

/// Returns the value of a key's variable, the path of its file, or the name of its secret.
fn key_of(reference: &KeyReference, environment: &BTreeMap<String, String>) -> String {
    match reference {
        KeyReference::Env(name) => environment.get(name).cloned().unwrap_or_default(),
        KeyReference::File(path) => path.display().to_string(),
        KeyReference::Vault(name) => name.as_str().to_owned(),
    }
}

/// Returns the variable to set where there is no key for the server of the environment.
fn unset_key(key: &str) -> Option<&'static str> {
    key.is_empty().then_some(KEY_VARIABLE)
}

/// Returns whether a variable names the model, or its server.
fn from_variable(config: &Config, settings: &ProviderConfig, default: &ValueOrigin) -> bool {
    let server = config.origin(&format!("providers.{}.base_url", settings.name));
    [default, &server].into_iter().any(|origin| matches!(origin, ValueOrigin::Variable { .. }))
}

fn configured_key(
    settings: &ProviderConfig,
    environment: &BTreeMap<String, String>,
) -> Result<String, String> {
    let Some(reference) = &settings.key else { return Ok(String::new()) };
    let unusable = |error: &dyn std::error::Error| {
        in_this_environment(&format!("no key for provider `{}`: {}", settings.name, chain(error)))
    };
    let reference: KeyReference = reference.parse().map_err(|error| unusable(&error))?;
    // Clients cannot read the vault of the daemon.
    if !matches!(reference, KeyReference::Vault(_)) {
        reference.resolve(environment).map_err(|error| unusable(&error))?;
    }
    Ok(key_of(&reference, environment))
}

#[cfg(test)]
mod tests;
