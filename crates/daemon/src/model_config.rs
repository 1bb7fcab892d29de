//! Adds servers of models to the configuration file, for the operation that tests them first.
//!
//! Owns what an addition must be, and that the file it makes is valid before it is written. Invariant: the file names keys
//! by reference only. Begin at [`FileModelConfig::draft`](ConfigureModels::draft).

use std::path::Path;

use palyra_api::{
    AddModelError, ConfigureModels, ExistingServer, ModelAddition, ModelDraft, ModelFormat, NewDefault,
    PersistConfig, SecretDraft,
};
use palyra_config_text::{DefaultChange, ProviderSection, StagedFile, with_provider};
use palyra_ports::secret_store::check_value;
use palyra_ports::{SecretName, SecretStore, SecretStoreError, SentAs};
use palyra_providers::{LinkPrivacy, Secret, secret_host};
use palyra_types::Content;
use palyra_types::model::ModelRef;

use crate::config::{Config, ConfigErrors, ProviderConfig};
use crate::model_keys::KeySources;
use crate::models::{self, MissingSecret, ModelsError};
use crate::refusal::chain;
use crate::reload::ConfigSource;
use crate::secrets;

/// Characters of a server's name, at most: the name of its secret is made from it.
const NAME_CHARS_MAX: usize = 40;
/// Bytes of an address and of a model's name, at most.
const BASE_URL_BYTES_MAX: usize = 2_048;
const MODEL_BYTES_MAX: usize = 256;
/// The provider that is built in.
const BUILT_IN_PROVIDER: &str = "demo";
/// What the name of a key's secret begins with.
const SECRET_PREFIX: &str = "model-";
/// Secrets of one server's name that are tried for one that is free.
const SECRET_NAMES_MAX: u32 = 100;

/// The configuration file of a daemon.
pub(crate) struct FileModelConfig {
    source: ConfigSource,
    keys: KeySources,
}

impl std::fmt::Debug for FileModelConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FileModelConfig").finish_non_exhaustive()
    }
}

impl ConfigureModels for FileModelConfig {
    fn draft(&self, addition: &ModelAddition) -> Result<ModelDraft, AddModelError> {
        check(addition)?;
        let secret = addition.key.as_ref().map(|key| self.secret(addition, key)).transpose()?;
        let file = self.source.file().ok_or(AddModelError::NoFile)?;
        let current = self.current(addition)?;
        let reference = secret.as_ref().map(|secret| format!("vault:{}", secret.name));
        let text = edited(&file, addition, reference.as_deref())?;
        let config = self.source.load_text(&file, &text).map_err(|errors| invalid(&errors))?;
        let settings = settings_of(&config, addition, reference.as_deref())?;
        let key = addition.key.as_ref().map(|key| Secret::new(key.expose()));
        let provider = models::with_key(&config, &settings, key, &self.keys.gateways)
            .map_err(|error| unusable_server(&error))?;
        Ok(ModelDraft {
            provider,
            model: ModelRef::new(&addition.name, &addition.model),
            former_secret: former_secret(&current, addition),
            secret,
            file,
            text,
        })
    }

    fn stage(&self, draft: &ModelDraft) -> Result<PersistConfig, AddModelError> {
        let file = draft.file.clone();
        let not_written =
            move |error: std::io::Error| AddModelError::NotWritten { file, why: error.to_string() };
        let staged = StagedFile::write(&draft.file, &draft.text).map_err(not_written.clone())?;
        Ok(Box::new(move || staged.persist().map_err(not_written)))
    }
}

impl FileModelConfig {
    pub(crate) fn new(source: ConfigSource, keys: KeySources) -> Self {
        Self { source, keys }
    }

    /// Returns the configuration of now. A mistake of the server that is replaced goes with it; any other would keep the new
    /// file from being used.
    fn current(&self, addition: &ModelAddition) -> Result<Config, AddModelError> {
        let config = self.source.load().map_err(|errors| invalid(&errors))?;
        let own = format!("providers.{}.", addition.name);
        let is_other = |error: &ModelsError| !error.key().is_some_and(|key| key.starts_with(&own));
        let errors = models::plan(&config, &self.keys, MissingSecret::Refused).err().unwrap_or_default();
        let mistakes: Vec<String> =
            errors.iter().filter(|error| is_other(error)).map(|error| chain(error)).collect();
        if !mistakes.is_empty() {
            return Err(AddModelError::Invalid { mistakes });
        }
        let is_there = config.providers().iter().any(|settings| settings.name == addition.name);
        if is_there && addition.existing == ExistingServer::Kept {
            return Err(unsuitable("there is a server of this name; choose another name, or replace it"));
        }
        Ok(config)
    }

    /// Returns how the vault is to keep a key, which is kept out of texts from now on.
    fn secret(&self, addition: &ModelAddition, key: &Content<String>) -> Result<SecretDraft, AddModelError> {
        let server = secret_host(&addition.base_url);
        let server = server.map_err(|error| unsuitable(&format!("`base_url`: {error}")))?;
        if server.privacy == LinkPrivacy::Readable {
            let what = "`base_url` begins with https for a server that takes a key, unless it is this machine: others \
                        could read the key";
            return Err(unsuitable(what));
        }
        check_value(key.expose(), &SentAs::Bearer).map_err(|error| not_kept(&error))?;
        secrets::look_for(key.clone());
        let Some(vault) = &self.keys.vault else { return Err(AddModelError::NoFile) };
        let status = vault.status().map_err(|error| not_kept(&error))?;
        if let Some(why) = status.locked {
            return Err(not_kept(&SecretStoreError::Locked { why }));
        }
        let name = free_name(&**vault, &addition.name)?;
        let sent_as = match addition.format {
            ModelFormat::OpenAiChat | ModelFormat::OpenAiResponses => "bearer",
            ModelFormat::AnthropicMessages => "x-api-key",
        };
        Ok(SecretDraft { name, host: server.host, sent_as })
    }
}

fn check(addition: &ModelAddition) -> Result<(), AddModelError> {
    let ModelAddition { name, base_url, model, .. } = addition;
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if name.is_empty() || name.len() > NAME_CHARS_MAX || !name.chars().all(plain) {
        return Err(unsuitable(&format!("`name` takes a-z, 0-9 and -, at most {NAME_CHARS_MAX} characters")));
    }
    if name == BUILT_IN_PROVIDER {
        return Err(unsuitable("`name`: `demo` is the provider that is built in; choose another name"));
    }
    let odd = |c: char| c.is_control() || c.is_whitespace();
    if base_url.is_empty() || base_url.len() > BASE_URL_BYTES_MAX || base_url.contains(odd) {
        return Err(unsuitable(
            "`base_url` takes the address where the API begins, such as https://api.openai.com/v1",
        ));
    }
    if model.is_empty() || model.len() > MODEL_BYTES_MAX || model.contains(odd) || model == "*" {
        return Err(unsuitable("`model` takes the name of one model, as the server names it"));
    }
    Ok(())
}

fn edited(file: &Path, addition: &ModelAddition, reference: Option<&str>) -> Result<String, AddModelError> {
    let old = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(mistake(format!("{} cannot be read: {error}", file.display()))),
    };
    let section = ProviderSection {
        name: &addition.name,
        model: &addition.model,
        format: match addition.format {
            ModelFormat::OpenAiChat => "openai_chat",
            ModelFormat::OpenAiResponses => "openai_responses",
            ModelFormat::AnthropicMessages => "anthropic_messages",
        },
        base_url: &addition.base_url,
        key: reference,
        context_tokens: addition.context_tokens,
        takes_images: false,
    };
    let change = match addition.new_default {
        NewDefault::ThisModel => DefaultChange::Set,
        NewDefault::Unchanged => DefaultChange::Keep,
    };
    with_provider(&old, &section, change).map_err(|error| mistake(format!("{}: {error}", file.display())))
}

/// Returns the server as the new configuration has it: variables and flags win over the file.
fn settings_of(
    config: &Config,
    addition: &ModelAddition,
    reference: Option<&str>,
) -> Result<ProviderConfig, AddModelError> {
    let settings = config.providers().into_iter().find(|settings| settings.name == addition.name);
    let as_written = |settings: &ProviderConfig| {
        settings.base_url == addition.base_url && settings.key.as_deref() == reference
    };
    settings.filter(as_written).ok_or_else(|| {
        unsuitable("a variable of the daemon's environment sets the address or the key of this server, and wins over the file")
    })
}

/// Returns the secret that was made for the server that is replaced, where no other server uses it.
fn former_secret(current: &Config, addition: &ModelAddition) -> Option<String> {
    let providers = current.providers();
    let (own, others): (Vec<_>, Vec<_>) =
        providers.iter().partition(|settings| settings.name == addition.name);
    let reference = own.first()?.key.as_deref()?;
    let name = reference.strip_prefix("vault:")?;
    let number = name.strip_prefix(SECRET_PREFIX)?.strip_prefix(&addition.name)?;
    let is_made_here =
        number.is_empty() || number.strip_prefix('-').is_some_and(|digits| digits.parse::<u32>().is_ok());
    let is_shared = others.iter().any(|settings| settings.key.as_deref() == Some(reference));
    (is_made_here && !is_shared).then(|| name.to_owned())
}

/// Returns a name that no secret has. A secret of a server that was deleted by hand keeps its name.
fn free_name(vault: &dyn SecretStore, server: &str) -> Result<String, AddModelError> {
    for number in 1..=SECRET_NAMES_MAX {
        let end = if number == 1 { String::new() } else { format!("-{number}") };
        let name = format!("{SECRET_PREFIX}{server}{end}");
        let parsed: SecretName = name.parse().map_err(|_| unsuitable("`name` is too long"))?;
        match vault.find(&parsed) {
            Ok(None) => return Ok(name),
            Ok(Some(_)) | Err(SecretStoreError::Damaged { .. }) => {}
            Err(error) => return Err(not_kept(&error)),
        }
    }
    Err(unsuitable(
        "the vault has too many secrets of servers with this name: remove those that are not used",
    ))
}

fn unusable_server(error: &ModelsError) -> AddModelError {
    match error {
        ModelsError::Provider { cause, .. } => unsuitable(&format!("`base_url` or `key`: {cause}")),
        ModelsError::Key { .. }
        | ModelsError::Itself { .. }
        | ModelsError::Selection(_)
        | ModelsError::Model { .. }
        | ModelsError::Embeddings { .. } => mistake(chain(error)),
    }
}

fn unsuitable(what: &str) -> AddModelError {
    AddModelError::Unsuitable { what: what.to_owned() }
}

fn mistake(what: String) -> AddModelError {
    AddModelError::Invalid { mistakes: vec![what] }
}

fn invalid(errors: &ConfigErrors) -> AddModelError {
    AddModelError::Invalid { mistakes: errors.lines() }
}

fn not_kept(error: &SecretStoreError) -> AddModelError {
    AddModelError::NotKept { code: error.code(), why: chain(error) }
}

#[cfg(test)]
mod tests;
