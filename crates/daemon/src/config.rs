//! The daemon's configuration: layered, typed, with an origin for every value.
//!
//! Flags win over the environment (`PALYRA__SECTION__KEY`), that over `palyra.toml`, that over defaults.
//! Invariant: a [`Config`] that exists is valid by itself; whether keys and servers can be had is seen when the
//! models are built. Begin at [`load`].

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use palyra_admin::healing::HealingModes;
use palyra_admin::upkeep::RetentionRules;
use palyra_delivery::TargetAddresses;
use palyra_governance::ModelPreference;
use palyra_journal::PayloadSealing;
use palyra_learning::{FULL_CONFIDENCE_BPS, LearningRuntimeConfig};
use palyra_ports::{BackupSchedule, DeliverySettings, EmbeddingModelName};
use palyra_types::incident::{HealingDomain, SelfHealingMode};
use palyra_types::run::RunLimits;

mod schema;
mod describe;

mod file;
mod check;
mod provider;
mod http;
mod notify;
mod host_places;

mod value;
mod diagnostic;
mod suggest;

use crate::trusted_place;
use check::ConfigLayer;
use diagnostic::ErrorCollector;

pub use describe::{as_json_schema, as_markdown, as_toml};
pub use diagnostic::{ConfigError, ConfigErrors, ListExtent, MISTAKES_MAX};
pub use http::{AddressChoice, HttpSettings};
pub use provider::{ProviderConfig, ProviderFormat};
pub use schema::{
    ApplyTime, PARALLEL_REQUESTS_DEFAULT, PROVIDER_FIELDS, SETTINGS, SettingSpec, SettingType, UnsetValue,
};
pub use value::{ConfigValue, ValueOrigin};

/// The name of the configuration file below the configuration directory.
pub const CONFIG_FILE_NAME: &str = "palyra.toml";

/// Every value with its origin, by dotted key.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    values: ConfigLayer,
    /// Where the file was looked for.
    file: Option<PathBuf>,
}

/// Reads all layers. A missing file is an empty one, unless `explicit` named it.
///
/// # Errors
/// [`ConfigErrors`]: each names the file, line and column, or the variable, then the key and the mend.
pub fn load(
    explicit: Option<&Path>,
    environment: &BTreeMap<String, String>,
    flags: &[(&str, String)],
) -> Result<Config, ConfigErrors> {
    let mut mistakes = ErrorCollector::default();
    let path = explicit.map(Path::to_owned).or_else(|| default_path(environment));
    let read = path.as_deref().map(|path| {
        check_place(path)?;
        match file::read_text(path)? {
            None if explicit.is_some() => {
                Err(ConfigError::Unreadable { path: path.to_owned(), what: "it does not exist".to_owned() })
            }
            text => Ok((path, text.unwrap_or_default())),
        }
    });
    let text = mistakes.note(read.transpose()).flatten();
    let file = text.as_ref().map(|(path, text)| ConfigText { path, text });
    let config = assemble(file, environment, flags, mistakes)?;
    on_this_host(config, environment, path)
}

/// Reads all layers with another text of the file than the one that is there.
///
/// # Errors
/// [`ConfigErrors`], as [`load`].
pub(crate) fn load_text(
    path: &Path,
    text: &str,
    environment: &BTreeMap<String, String>,
    flags: &[(&str, String)],
) -> Result<Config, ConfigErrors> {
    let config = assemble(Some(ConfigText { path, text }), environment, flags, ErrorCollector::default())?;
    on_this_host(config, environment, Some(path.to_owned()))
}

/// Checks what depends on the host, and says where the configuration is from.
fn on_this_host(
    config: Config,
    environment: &BTreeMap<String, String>,
    file: Option<PathBuf>,
) -> Result<Config, ConfigErrors> {
    let mut mistakes = ErrorCollector::default();
    host_places::check_all(&config.values, environment, &mut mistakes);
    mistakes.into_result().map(|()| Config { file, ..config })
}

/// Refuses a file that somebody else could have written, and a folder where they could put one.
fn check_place(path: &Path) -> Result<(), ConfigError> {
    // Without its folder there is nothing that anybody wrote.
    if path.parent().is_some_and(Path::exists) {
        trusted_place::check(path)
            .map_err(|cause| ConfigError::Untrusted { path: path.to_owned(), cause })?;
    }
    Ok(())
}

/// The text of a configuration file, and where it was read.
struct ConfigText<'a> {
    path: &'a Path,
    text: &'a str,
}

/// Puts the layers on top of each other.
fn assemble(
    file: Option<ConfigText<'_>>,
    environment: &BTreeMap<String, String>,
    flags: &[(&str, String)],
    mut mistakes: ErrorCollector,
) -> Result<Config, ConfigErrors> {
    let mut values = schema::defaults();
    let file = file.map(|file| file::parse(file.path, file.text, &mut mistakes)).unwrap_or_default();
    values.extend(file.values);
    values.extend(check::from_environment(environment, &mut mistakes));
    values.extend(check::from_flags(flags, &mut mistakes));
    // What a mistake took away may be what would be missed here.
    if mistakes.is_empty() {
        provider::check_all(&values, &file.providers, &mut mistakes);
        http::check_all(&values, &mut mistakes);
        notify::check_all(&values, &mut mistakes);
    }
    provider::add_defaults(&mut values);
    mistakes.into_result().map(|()| Config { values, file: None })
}

impl Config {
    /// Returns where the configuration file is, or would be.
    #[must_use]
    pub fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// Returns every key with its value as TOML and its origin, in order.
    pub fn rows(&self) -> impl Iterator<Item = (&str, String, String)> {
        self.values.iter().map(|(key, (value, origin))| (key.as_str(), value.to_toml(), origin.to_string()))
    }

    /// Returns a text that is the same for equal configurations, whatever their origins.
    #[must_use]
    pub fn canonical_text(&self) -> String {
        self.values.iter().map(|(key, (value, _))| format!("{key} = {}\n", value.to_toml())).collect()
    }

    /// Returns the keys whose values differ between two configurations, in order.
    #[must_use]
    pub fn changed_keys(&self, other: &Self) -> Vec<String> {
        let value = |config: &Self, key: &String| config.values.get(key).map(|(value, _)| value.clone());
        let keys: std::collections::BTreeSet<_> = self.values.keys().chain(other.values.keys()).collect();
        keys.into_iter().filter(|key| value(self, key) != value(other, key)).cloned().collect()
    }

    /// Returns what a run may spend.
    #[must_use]
    pub fn run_limits(&self) -> RunLimits {
        let small = |key: &str| u32::try_from(self.integer(key)).unwrap_or(u32::MAX);
        RunLimits {
            turns_max: small("limits.turns_max"),
            tool_calls_max: small("limits.tool_calls_max"),
            active_time_max: self.seconds("limits.active_time_seconds_max"),
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

    /// Returns whether runs are given what is remembered for their person.
    #[must_use]
    pub fn recalls_memory(&self) -> bool {
        matches!(self.values.get("memory.recall"), Some((ConfigValue::Bool(true), _)))
    }

    /// Returns the file of the price catalogue; empty for none.
    #[must_use]
    pub fn prices_file(&self) -> &str {
        self.text("prices.file")
    }

    /// Returns whether older runs of sessions are summed up without being asked.
    #[must_use]
    pub fn compacts(&self) -> bool {
        !matches!(self.values.get("compaction.automatic"), Some((ConfigValue::Bool(false), _)))
    }

    /// Returns when sessions that no person uses are archived and erased.
    #[must_use]
    pub fn retention(&self) -> RetentionRules {
        let days = |key: &str| match self.integer(key) {
            0 => None,
            days => Some(Duration::from_secs(days * 24 * 60 * 60)),
        };
        RetentionRules {
            archive_after: days("retention.archive_sessions_days"),
            erase_after: days("retention.erase_archived_days"),
        }
    }

    /// Returns when backups are made without being asked; `None` for never.
    #[must_use]
    pub fn backups(&self) -> Option<BackupSchedule> {
        let folder = self.text("backup.folder");
        (!folder.is_empty()).then(|| BackupSchedule {
            folder: folder.into(),
            every: Duration::from_secs(self.integer("backup.every_hours") * 3_600),
            keep: usize::try_from(self.integer("backup.keep")).unwrap_or(usize::MAX),
        })
    }

    /// Returns the targets of notifications, and when they are used. `machine_zone` counts where no time zone is set.
    #[must_use]
    pub fn notify(&self, machine_zone: &str) -> DeliverySettings {
        notify::settings(&self.values, machine_zone)
    }

    /// Returns where notifications go.
    #[must_use]
    pub fn notify_addresses(&self) -> TargetAddresses {
        notify::addresses(&self.values)
    }

    /// Returns the reference to the secret that webhooks are signed with; empty for none.
    #[must_use]
    pub fn webhook_secret(&self) -> &str {
        self.text("notify.webhook_secret")
    }

    /// Returns the folder of automatic backups; empty for none.
    #[must_use]
    pub fn backup_folder(&self) -> &str {
        self.text("backup.folder")
    }

    /// Returns the mode of self-healing in each domain.
    #[must_use]
    pub fn healing_modes(&self) -> HealingModes {
        let mut modes = HealingModes::default();
        for (domain, word) in HealingDomain::ALL {
            let mode = SelfHealingMode::of(self.text(&format!("healing.{word}")));
            modes.set(domain, mode.unwrap_or_default());
        }
        modes
    }

    /// Returns what is learned from conversations.
    #[must_use]
    pub fn learning(&self) -> LearningRuntimeConfig {
        let bps = |key| u32::try_from(self.integer(key)).unwrap_or(FULL_CONFIDENCE_BPS);
        LearningRuntimeConfig {
            is_enabled: !matches!(self.values.get("learning.enabled"), Some((ConfigValue::Bool(false), _))),
            sampling_bps: bps("learning.sampling_bps"),
            fact_auto_write_threshold_bps: bps("learning.fact_threshold_bps"),
            preference_auto_write_threshold_bps: bps("learning.preference_threshold_bps"),
            procedure_auto_write_threshold_bps: None,
            review_threshold_bps: bps("learning.review_threshold_bps"),
        }
    }

    /// Returns the default model; empty when none is named.
    #[must_use]
    pub fn default_model(&self) -> &str {
        self.text("model.default")
    }

    /// Returns the models that may be asked instead of the default one, in order.
    #[must_use]
    pub fn fallback_models(&self) -> &[String] {
        self.list("model.fallbacks")
    }

    /// Returns which of the default model and its fallbacks a run asks first.
    #[must_use]
    pub fn model_order(&self) -> ModelPreference {
        ModelPreference::of(self.text("model.order")).unwrap_or(ModelPreference::ConfiguredOrder)
    }

    /// Returns whether a request that budgets do not allow goes to the next fallback that they allow.
    #[must_use]
    pub fn falls_back_over_budget(&self) -> bool {
        matches!(self.values.get("model.fallbacks_over_budget"), Some((ConfigValue::Bool(true), _)))
    }

    /// Returns the model that makes vectors of texts.
    #[must_use]
    pub fn embedding_model(&self) -> EmbeddingModelName {
        EmbeddingModelName::parse(self.text("embeddings.model")).unwrap_or(EmbeddingModelName::Embedded)
    }

    /// Returns the folder of the operator's policies; empty for the usual one.
    #[must_use]
    pub fn policy_dir(&self) -> &str {
        self.text("policy.dir")
    }

    /// Returns the folder of policies that are tried out; empty for none.
    #[must_use]
    pub fn policy_shadow_dir(&self) -> &str {
        self.text("policy.shadow_dir")
    }

    /// Returns the tools that a setting of standing treatment names.
    pub(crate) fn posture_tools(&self, key: &str) -> &[String] {
        self.list(key)
    }

    /// Returns whether there are tools that start programs.
    #[must_use]
    pub fn commands_enabled(&self) -> bool {
        !matches!(self.values.get("commands.enabled"), Some((ConfigValue::Bool(false), _)))
    }

    /// Returns whether a start looks for servers of models on this machine.
    #[must_use]
    pub fn detects_local_models(&self) -> bool {
        !matches!(self.values.get("model.detect_local"), Some((ConfigValue::Bool(false), _)))
    }

    /// Returns the folders in which programs are looked for first.
    #[must_use]
    pub fn commands_path(&self) -> &[String] {
        self.list("commands.path")
    }

    /// Returns what commands may read beside the workspace and the system.
    #[must_use]
    pub fn commands_readable(&self) -> &[String] {
        self.list("commands.readable")
    }

    /// Returns the variables of every command, each as `NAME=value`.
    #[must_use]
    pub fn commands_environment(&self) -> &[String] {
        self.list("commands.environment")
    }

    /// Returns how many mebibytes and how many processes a command may have.
    #[must_use]
    pub fn commands_limits(&self) -> (u64, u64) {
        (self.integer("commands.memory_mib_max"), self.integer("commands.processes_max"))
    }

    /// Returns whether there is a way out to other machines.
    #[must_use]
    pub fn egress_enabled(&self) -> bool {
        !matches!(self.values.get("egress.enabled"), Some((ConfigValue::Bool(false), _)))
    }

    /// Returns the hosts of the operator's own network that may be reached, each with its port.
    #[must_use]
    pub fn egress_allow_private(&self) -> &[String] {
        self.list("egress.allow_private")
    }

    /// Returns where to listen on TCP; empty for not at all.
    #[must_use]
    pub fn listen_tcp(&self) -> &str {
        self.text("listen.tcp")
    }

    /// Returns where and how the HTTP API is served; `None` where it is off.
    #[must_use]
    pub fn http(&self) -> Option<HttpSettings> {
        http::settings(&self.values)
    }

    /// Returns whether new payloads of the journal are sealed.
    #[must_use]
    pub fn journal_sealing(&self) -> PayloadSealing {
        match self.values.get("journal.seal") {
            Some((ConfigValue::Bool(true), _)) => PayloadSealing::On,
            _ => PayloadSealing::Off,
        }
    }

    /// Returns how long an auto-started daemon stays without anything to do.
    #[must_use]
    pub fn idle_stop(&self) -> Duration {
        self.seconds("daemon.idle_stop_seconds")
    }

    /// Returns how long running answers and tools may take to finish once the daemon is told to stop.
    #[must_use]
    pub fn drain_span(&self) -> Duration {
        self.seconds("daemon.drain_seconds")
    }

    /// Returns the configured providers in order of name.
    #[must_use]
    pub fn providers(&self) -> Vec<ProviderConfig> {
        provider::gather(&self.values)
    }

    /// Returns where a value comes from; that of a provider's first value where this one is not set.
    #[must_use]
    pub fn origin(&self, key: &str) -> ValueOrigin {
        match (self.values.get(key), schema::provider_of(key)) {
            (Some((_, origin)), None) => origin.clone(),
            (Some((_, origin)), Some(_)) if *origin != ValueOrigin::Default => origin.clone(),
            (_, Some(provider)) => provider::origin_beside(&self.values, provider),
            (None, None) => ValueOrigin::Default,
        }
    }

    fn seconds(&self, key: &str) -> Duration {
        Duration::from_secs(self.integer(key))
    }

    fn integer(&self, key: &str) -> u64 {
        match self.values.get(key) {
            Some((ConfigValue::Integer(number), _)) => *number,
            _ => unreachable!("every integer setting has a default of its own type"),
        }
    }

    fn list(&self, key: &str) -> &[String] {
        match self.values.get(key) {
            Some((ConfigValue::List(items), _)) => items,
            _ => unreachable!("every list setting has a default of its own type"),
        }
    }

    fn text(&self, key: &str) -> &str {
        match self.values.get(key) {
            Some((ConfigValue::Text(text), _)) => text,
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
