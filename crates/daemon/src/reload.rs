//! Reads the configuration again, on a hang-up signal or when asked: validate, then swap.
//!
//! One task does it, so that two reloads never mix. Invariant: a configuration that does not validate changes
//! nothing but what is told of it. Begin at [`ConfigReloader::run`].

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use palyra_admin::healing::HealingTimes;
use palyra_admin::health::{CheckLevel, HealthCheck};
use palyra_admin::prices::PublishedPrices;
use palyra_api::{ConfigFact, ReloadError, ReloadPart, ReloadReport, ReloadRequest};
use palyra_policy::ToolCallPolicySnapshot;
use palyra_runtime::{GatewayRuntimeConfigSnapshot, ModelDirectory};
use tokio::signal::unix::Signal;
use tokio::sync::{mpsc, watch};

use crate::components::KnownToTheRules;
use crate::config::{self, ApplyTime, Config, ConfigErrors, SETTINGS};
use crate::model_keys::KeySources;
use crate::models::MissingSecret;
use crate::policies::{self, LoadPoliciesError, LoadedPolicies, PolicySource};
use crate::refusal::chain;
use crate::service_notices::ServiceNotices;
use crate::tool_setup::ToolSetup;
use crate::{components, models, prices, secrets, wiring};

/// Where the configuration comes from.
#[derive(Clone)]
pub(crate) struct ConfigSource {
    pub(crate) explicit: Option<PathBuf>,
    pub(crate) environment: BTreeMap<String, String>,
    pub(crate) flags: Vec<(&'static str, String)>,
}

impl ConfigSource {
    pub(crate) fn load(&self) -> Result<Config, ConfigErrors> {
        config::load(self.explicit.as_deref(), &self.environment, &self.flags)
    }

    /// Reads the configuration with another text of its file.
    pub(crate) fn load_text(&self, file: &Path, text: &str) -> Result<Config, ConfigErrors> {
        config::load_text(file, text, &self.environment, &self.flags)
    }

    /// Returns the folder of the operator's policies, beside the configuration file.
    pub(crate) fn policies_folder(&self) -> Option<PathBuf> {
        Some(self.file()?.parent()?.join(policies::POLICIES_FOLDER))
    }

    /// Returns the configuration file, which need not be there.
    pub(crate) fn file(&self) -> Option<PathBuf> {
        self.explicit.clone().or_else(|| config::default_path(&self.environment))
    }
}

/// What a new configuration replaces.
pub(crate) struct ReloadTargets {
    pub(crate) models: watch::Sender<Arc<ModelDirectory>>,
    pub(crate) snapshots: watch::Sender<Arc<GatewayRuntimeConfigSnapshot>>,
    pub(crate) facts: watch::Sender<Arc<Vec<ConfigFact>>>,
    pub(crate) checks: watch::Sender<Arc<Vec<HealthCheck>>>,
    pub(crate) config: watch::Sender<Arc<Config>>,
    pub(crate) policy: watch::Sender<Arc<ToolCallPolicySnapshot>>,
    pub(crate) prices: watch::Sender<PublishedPrices>,
}

impl ReloadTargets {
    /// Returns the shelf of components, whose tools the rules in force learn of.
    pub(crate) fn known_to_the_rules(&self, tool_setup: &ToolSetup) -> KnownToTheRules {
        KnownToTheRules {
            shelf: Arc::clone(&tool_setup.components),
            tools: Arc::clone(&tool_setup.tools),
            policy: self.policy.clone(),
            checks: self.checks.clone(),
        }
    }
}

/// The other ends of a [`ReloadTargets`].
pub(crate) struct ReloadReceivers {
    pub(crate) models: watch::Receiver<Arc<ModelDirectory>>,
    pub(crate) snapshots: watch::Receiver<Arc<GatewayRuntimeConfigSnapshot>>,
    pub(crate) facts: watch::Receiver<Arc<Vec<ConfigFact>>>,
    pub(crate) checks: watch::Receiver<Arc<Vec<HealthCheck>>>,
    pub(crate) config: watch::Receiver<Arc<Config>>,
    pub(crate) policy: watch::Receiver<Arc<ToolCallPolicySnapshot>>,
    pub(crate) prices: watch::Receiver<PublishedPrices>,
}

impl ReloadTargets {
    /// Lets self-healing decide by another window than the usual ones, until the configuration is read again.
    pub(crate) fn set_healing_window(&self, window: Option<Duration>) {
        if let Some(window) = window {
            self.snapshots.send_modify(|snapshot| {
                Arc::make_mut(snapshot).healing_times = HealingTimes::with_window(window);
            });
        }
    }
}

/// Puts a configuration, its models, prices and policies where they can be watched and replaced. Policies that are not
/// valid leave a daemon that denies every call, and says so.
pub(crate) fn watched(
    config: Config,
    directory: ModelDirectory,
    prices: PublishedPrices,
    policies: &PolicySource,
) -> Result<(ReloadTargets, ReloadReceivers), LoadPoliciesError> {
    let snapshot = wiring::snapshot(&config, &prices);
    let (policy, policy_check) = match policies.load(&config) {
        Ok(policy) => {
            let check = policies::in_force_check(&policy.snapshot);
            (policy, check)
        }
        Err(error) => {
            tracing::error!(code = %error.code(), "every tool call is denied: {error}");
            (policies.closed()?, policies::closed_check(&error))
        }
    };
    let checks = [in_force_check(&snapshot.digest, &[]), policy_check];
    let checks: Vec<HealthCheck> = checks.into_iter().chain(policy.check).collect();
    let (policy, policy_seen) = watch::channel(policy.snapshot);
    let (models, models_seen) = watch::channel(Arc::new(directory));
    let (snapshots, snapshots_seen) = watch::channel(Arc::new(snapshot));
    let (facts, facts_seen) = watch::channel(Arc::new(wiring::facts_of(&config)));
    let (checks, checks_seen) = watch::channel(Arc::new(checks));
    let (config, config_seen) = watch::channel(Arc::new(config));
    let (prices, prices_seen) = watch::channel(prices);
    let seen = ReloadReceivers {
        models: models_seen,
        snapshots: snapshots_seen,
        facts: facts_seen,
        checks: checks_seen,
        config: config_seen,
        policy: policy_seen,
        prices: prices_seen,
    };
    Ok((ReloadTargets { models, snapshots, facts, checks, config, policy, prices }, seen))
}

/// Reads the configuration again when told to.
pub(crate) struct ConfigReloader {
    source: ConfigSource,
    swap: ReloadTargets,
    /// What the daemon started with: settings that need a restart still have these values.
    at_start: Arc<Config>,
    policies: PolicySource,
    keys: KeySources,
    notices: ServiceNotices,
}

impl ConfigReloader {
    pub(crate) fn new(
        source: ConfigSource,
        policies: PolicySource,
        keys: KeySources,
        swap: ReloadTargets,
        notices: ServiceNotices,
    ) -> Self {
        let at_start = Arc::clone(&swap.config.borrow());
        Self { source, swap, at_start, policies, keys, notices }
    }

    /// Reloads on every hang-up signal and every request, one after the other.
    pub(crate) async fn run(self, mut hangups: Signal, mut requests: mpsc::Receiver<ReloadRequest>) {
        loop {
            let request = tokio::select! {
                hangup = hangups.recv() => match hangup {
                    Some(()) => None,
                    None => return,
                },
                request = requests.recv() => match request {
                    Some(request) => Some(request),
                    None => return,
                },
            };
            if let Some(ReloadRequest { part: ReloadPart::VaultKeys, reply }) = request {
                let _ = reply.send(self.renew_vault_keys().await);
                continue;
            }
            self.notices.reloading();
            let reloaded = self.reload().await;
            self.notices.ready_again(match &reloaded {
                Ok(_) => "serving, with the configuration read again",
                Err(_) => "serving with the old configuration: the new one is not valid",
            });
            match &reloaded {
                Ok(report) => tracing::info!(
                    changed = report.changed.join(", "),
                    needs_restart = report.needs_restart.join(", "),
                    "the configuration was reloaded"
                ),
                Err(refused) => tracing::error!("{refused}"),
            }
            if let Some(request) = request {
                // Whoever asked may have left.
                let _ = request.reply.send(reloaded);
            }
        }
    }

    async fn reload(&self) -> Result<ReloadReport, ReloadError> {
        let ValidConfig { config, directory, policy, prices } = match self.validate().await {
            Ok(valid) => valid,
            Err(refused) => {
                // The policies that are in force stay so, or stay closed.
                let policy = self.swap.checks.borrow().iter().skip(1).cloned().collect::<Vec<_>>();
                let checks = std::iter::once(refused_check(&refused)).chain(policy).collect();
                self.swap.checks.send_replace(Arc::new(checks));
                return Err(refused);
            }
        };
        let LoadedPolicies { snapshot: policy, check: shadow_check } = policy;
        let policy_check = policies::in_force_check(&policy);
        let snapshot = wiring::snapshot(&config, &prices);
        let digest = snapshot.digest;
        let mut changed = config.changed_keys(&self.swap.config.borrow());
        if self.swap.policy.borrow().digest() != policy.digest() {
            changed.push(POLICIES_CHANGED.to_owned());
        }
        if !self.swap.prices.borrow().is_same_as(&prices)
            && !changed.iter().any(|key| key == prices::PRICES_KEY)
        {
            changed.push(PRICES_CHANGED.to_owned());
        }
        let needs_restart = needs_restart(&config, &self.at_start);
        secrets::know(&config, &self.source.environment);
        // Models first: a run that begins in between must find those that its snapshot names.
        self.swap.models.send_replace(Arc::new(directory));
        self.swap.policy.send_replace(policy);
        self.swap.prices.send_replace(prices);
        self.swap.snapshots.send_replace(Arc::new(snapshot));
        self.swap.facts.send_replace(Arc::new(wiring::facts_of(&config)));
        let checks = [in_force_check(&digest, &needs_restart), policy_check];
        let checks = checks.into_iter().chain(shadow_check).collect();
        self.swap.checks.send_replace(Arc::new(checks));
        // A component that was added since the policies were read.
        components::refit(&self.swap.policy, &self.swap.checks, &*self.policies.tools);
        self.swap.config.send_replace(Arc::new(config));
        tokio::spawn(models::suggest_local_servers(self.swap.models.clone()));
        Ok(ReloadReport { digest, changed, needs_restart })
    }

    /// Builds the servers again where one has a key of the vault. One whose key is not given out waits for it.
    async fn renew_vault_keys(&self) -> Result<ReloadReport, ReloadError> {
        let config = Arc::clone(&self.swap.config.borrow());
        if models::uses_the_vault(&config) {
            let directory = models::build(&config, &self.keys, MissingSecret::Awaited).await;
            let lines = |errors: Vec<models::ModelsError>| errors.iter().map(|error| chain(error)).collect();
            let directory = directory.map_err(|errors| invalid(lines(errors)))?;
            self.swap.models.send_replace(Arc::new(directory));
        }
        let digest = self.swap.snapshots.borrow().digest;
        Ok(ReloadReport { digest, changed: Vec::new(), needs_restart: Vec::new() })
    }

    async fn validate(&self) -> Result<ValidConfig, ReloadError> {
        let config = self.source.load().map_err(|wrong| invalid(wrong.lines()))?;
        let directory = models::build(&config, &self.keys, MissingSecret::Refused).await;
        let lines = |errors: Vec<models::ModelsError>| errors.iter().map(|error| chain(error)).collect();
        let directory = directory.map_err(|errors| invalid(lines(errors)))?;
        let policy = self.policies.load(&config).map_err(|error| invalid(error.lines()))?;
        let prices = prices::load(&config).map_err(|error| invalid(vec![error.to_string()]))?;
        Ok(ValidConfig { config, directory, policy, prices })
    }
}

/// A configuration with all that was made of it.
struct ValidConfig {
    config: Config,
    directory: ModelDirectory,
    policy: LoadedPolicies,
    prices: PublishedPrices,
}

fn invalid(mistakes: Vec<String>) -> ReloadError {
    ReloadError::Invalid { mistakes }
}

/// Returns the keys that differ from those at the start and take effect only there.
fn needs_restart(config: &Config, at_start: &Config) -> Vec<String> {
    let at_start_only =
        |key: &String| SETTINGS.iter().any(|s| s.key == key && s.applies == ApplyTime::AtStart);
    config.changed_keys(at_start).into_iter().filter(at_start_only).collect()
}

/// What is told to have changed where other policies are in force than before.
const POLICIES_CHANGED: &str = "policies";

/// What has changed where the file of prices has other content than before.
pub(crate) const PRICES_CHANGED: &str = "prices";

const CHECK_NAME: &str = "configuration";

/// Says that a configuration is in force.
fn in_force_check(digest: &[u8; 32], needs_restart: &[String]) -> HealthCheck {
    let digest: String = digest.iter().take(6).map(|byte| format!("{byte:02x}")).collect();
    if needs_restart.is_empty() {
        let found = format!("in force, digest {digest}");
        return HealthCheck { name: CHECK_NAME, level: CheckLevel::Ok, found, mend: "" };
    }
    let found =
        format!("in force, digest {digest}; not yet, since it needs a restart: {}", needs_restart.join(", "));
    HealthCheck {
        name: CHECK_NAME,
        level: CheckLevel::Warning,
        found,
        mend: "restart the daemon: `palyra admin stop`",
    }
}

fn refused_check(refused: &ReloadError) -> HealthCheck {
    HealthCheck {
        name: CHECK_NAME,
        level: CheckLevel::Warning,
        found: refused.to_string(),
        mend: "fix it, run `palyra config check`, then `palyra config reload`",
    }
}

#[cfg(test)]
mod tests;
