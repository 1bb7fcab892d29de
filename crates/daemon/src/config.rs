//! The daemon's configuration: layered, typed, with an origin for every value.
//!
//! Flags win over the environment (`PALYRA__SECTION__KEY`), that over `palyra.toml`, that over defaults.
//! Begin at [`load`].

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use palyra_types::run::RunLimits;

mod file;
mod check;
mod schema;
mod value;

pub use schema::{SETTINGS, Setting};
pub use value::{ConfigError, Origin, Value};

/// The name of the configuration file below the configuration directory.
pub const CONFIG_FILE_NAME: &str = "palyra.toml";

/// The provider that needs no configuration and takes none.
const BUILT_IN_PROVIDER: &str = "demo";

/// Every value with its origin, by dotted key.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    values: BTreeMap<String, (Value, Origin)>,
}

/// A configured model provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderConfig {
    /// The operator's name for it.
    pub name: String,
    /// Where its API begins.
    pub base_url: String,
    /// A reference to its key (`env:NAME`, `file:PATH`), never the key.
    pub key: Option<String>,
    /// The window of its models in tokens.
    pub context_tokens: Option<u64>,
}

/// Reads all layers. A missing file is an empty one, unless `explicit` named it.
///
/// # Errors
/// [`ConfigError`] names the file and line, or the variable, the key, and the nearest valid name.
pub fn load(
    explicit: Option<&Path>,
    environment: &BTreeMap<String, String>,
    flags: &[(&str, String)],
) -> Result<Config, ConfigError> {
    let mut values = schema::defaults();
    let path = explicit.map(Path::to_owned).or_else(|| default_path(environment));
    if let Some(path) = path {
        match file::read_text(&path)? {
            Some(text) => values.extend(file::parse(&path, &text)?),
            None if explicit.is_none() => {}
            None => return Err(ConfigError::Unreadable { path, what: "it does not exist".to_owned() }),
        }
    }
    values.extend(check::from_environment(environment)?);
    for (key, text) in flags {
        let origin = Origin::Flag;
        let value = check::parse_text(key, text, &origin)?;
        values.insert((*key).to_owned(), (value, origin));
    }
    let config = Config { values };
    config.check()?;
    Ok(config)
}

impl Config {
    /// Returns every key with its value as TOML and its origin, in order.
    pub fn rows(&self) -> impl Iterator<Item = (&str, String, String)> {
        self.values.iter().map(|(key, (value, origin))| (key.as_str(), value.to_toml(), origin.to_string()))
    }

    /// Returns a text that is the same for equal configurations, whatever their origins.
    #[must_use]
    pub fn canonical_text(&self) -> String {
        self.values.iter().map(|(key, (value, _))| format!("{key} = {}\n", value.to_toml())).collect()
    }

    /// Returns what a run may spend.
    #[must_use]
    pub fn run_limits(&self) -> RunLimits {
        let small = |key: &str| u32::try_from(self.integer(key)).unwrap_or(u32::MAX);
        RunLimits {
            turns_max: small("limits.turns_max"),
            tool_calls_max: small("limits.tool_calls_max"),
            active_time_max: Duration::from_secs(self.integer("limits.active_time_seconds_max")),
            parallel_tools_max: small("limits.parallel_tools_max"),
            output_tokens_max: self.integer("limits.output_tokens_max"),
        }
    }

    /// Returns how many runs may wait in one session.
    #[must_use]
    pub fn session_queue_max(&self) -> usize {
        usize::try_from(self.integer("limits.session_queue_max")).unwrap_or(usize::MAX)
    }

    /// Returns how many bytes an input may have.
    #[must_use]
    pub fn input_bytes_max(&self) -> usize {
        usize::try_from(self.integer("limits.input_bytes_max")).unwrap_or(usize::MAX)
    }

    /// Returns the default model; empty when none is named.
    #[must_use]
    pub fn default_model(&self) -> &str {
        self.text("model.default")
    }

    /// Returns where to listen on TCP; empty for not at all.
    #[must_use]
    pub fn listen_tcp(&self) -> &str {
        self.text("listen.tcp")
    }

    /// Returns how long an auto-started daemon stays without anything to do.
    #[must_use]
    pub fn idle_stop(&self) -> Duration {
        Duration::from_secs(self.integer("daemon.idle_stop_seconds"))
    }

    /// Returns the configured providers in order of name.
    #[must_use]
    pub fn providers(&self) -> Vec<ProviderConfig> {
        let names: std::collections::BTreeSet<&str> =
            self.values.keys().filter_map(|key| schema::provider_of(key)).collect();
        let provider = |name: &str| {
            let text = |field: &str| match self.values.get(&format!("providers.{name}.{field}")) {
                Some((Value::Text(text), _)) if !text.is_empty() => Some(text.clone()),
                _ => None,
            };
            let context_tokens = match self.values.get(&format!("providers.{name}.context_tokens")) {
                Some((Value::Integer(tokens), _)) => Some(*tokens),
                _ => None,
            };
            let base_url = text("base_url").unwrap_or_default();
            ProviderConfig { name: name.to_owned(), base_url, key: text("key"), context_tokens }
        };
        names.into_iter().map(provider).collect()
    }

    /// Returns where a value comes from; that of a provider's first value where this one is not set.
    #[must_use]
    pub fn origin(&self, key: &str) -> Origin {
        let section = key.rsplit_once('.').map_or("", |(section, _)| section);
        let beside = || {
            self.values
                .iter()
                .find(|(other, _)| {
                    schema::provider_of(other).is_some()
                        && other.rsplit_once('.').is_some_and(|(of, _)| of == section)
                })
                .map(|(_, value)| value)
        };
        self.values.get(key).or_else(beside).map_or(Origin::Default, |(_, origin)| origin.clone())
    }

    /// What the keys one by one cannot show.
    fn check(&self) -> Result<(), ConfigError> {
        for provider in self.providers() {
            let key = format!("providers.{}.base_url", provider.name);
            let origin = self.origin(&key);
            if provider.name == BUILT_IN_PROVIDER {
                let what =
                    format!("names a provider `{BUILT_IN_PROVIDER}`, which is built in; choose another name");
                return Err(ConfigError::Unusable { origin, key, what });
            }
            if provider.base_url.is_empty() {
                let example = "\"https://api.openai.com/v1\"".to_owned();
                return Err(ConfigError::Missing { origin, key, example });
            }
        }
        Ok(())
    }

    fn integer(&self, key: &str) -> u64 {
        match self.values.get(key) {
            Some((Value::Integer(number), _)) => *number,
            _ => unreachable!("every integer setting has a default of its own type"),
        }
    }

    fn text(&self, key: &str) -> &str {
        match self.values.get(key) {
            Some((Value::Text(text), _)) => text,
            _ => unreachable!("every text setting has a default of its own type"),
        }
    }
}

/// Returns where a configuration file is looked for.
#[must_use]
pub fn default_path(environment: &BTreeMap<String, String>) -> Option<PathBuf> {
    let variable = |name: &str| environment.get(name).map(Into::into);
    palyra_types::state_dir::config_dir(variable).map(|dir| dir.join(CONFIG_FILE_NAME))
}

#[cfg(test)]
mod tests;
