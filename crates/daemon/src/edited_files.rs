//! Whether the configuration file and the policies are those in force: a person edits them, and a reload takes them on.

use std::sync::Arc;

use palyra_admin::health::{CheckLevel, HealthCheck};
use palyra_admin::prices::PublishedPrices;
use palyra_policy::ToolCallPolicySnapshot;
use tokio::sync::watch;

use crate::config::Config;
use crate::policies::PolicySource;
use crate::prices;
use crate::reload::{ConfigSource, PRICES_CHANGED, ReloadReceivers};

/// Keys that a check names, at most.
const KEYS_TOLD_MAX: usize = 4;

/// What is in force, and where it was read from.
#[derive(Clone)]
pub(crate) struct EditedFiles {
    pub(crate) source: ConfigSource,
    pub(crate) policies: PolicySource,
    pub(crate) config: watch::Receiver<Arc<Config>>,
    pub(crate) policy: watch::Receiver<Arc<ToolCallPolicySnapshot>>,
    pub(crate) prices: watch::Receiver<PublishedPrices>,
}

impl EditedFiles {
    pub(crate) fn new(source: &ConfigSource, policies: &PolicySource, seen: &ReloadReceivers) -> Self {
        Self {
            source: source.clone(),
            policies: policies.clone(),
            config: seen.config.clone(),
            policy: seen.policy.clone(),
            prices: seen.prices.clone(),
        }
    }

    /// Reads the configuration again and compares it with the one in force.
    pub(crate) fn configuration(&self) -> HealthCheck {
        let name = "configuration_file";
        let found = match self.changed() {
            Err(first) => {
                let found = format!("a reload would refuse it: {first}");
                let mend = "correct it; `palyra config check` lists each mistake";
                return HealthCheck { name, level: CheckLevel::Warning, found, mend };
            }
            Ok(changed) => changed,
        };
        if found.is_empty() {
            return HealthCheck { name, level: CheckLevel::Ok, found: "as in force".to_owned(), mend: "" };
        }
        let more = found.len().saturating_sub(KEYS_TOLD_MAX);
        let mut told = found[..found.len().min(KEYS_TOLD_MAX)].join(", ");
        if more > 0 {
            told.push_str(&format!(" and {more} more"));
        }
        let found = format!("edited, not applied yet: {told}");
        HealthCheck { name, level: CheckLevel::Warning, found, mend: "`palyra config reload`" }
    }

    /// Returns the settings that a reload would change, else the first mistake.
    fn changed(&self) -> Result<Vec<String>, String> {
        let first = |lines: Vec<String>| lines.into_iter().next().unwrap_or_default();
        let now = self.source.load().map_err(|mistakes| first(mistakes.lines()))?;
        let mut changed = now.changed_keys(&self.config.borrow());
        let prices = prices::load(&now).map_err(|error| error.to_string())?;
        if changed.is_empty() && !prices.is_same_as(&self.prices.borrow()) {
            changed.push(PRICES_CHANGED.to_owned());
        }
        Ok(changed)
    }

    /// Reads the policies again and compares them with those in force.
    pub(crate) fn policies(&self) -> HealthCheck {
        let name = "policy_files";
        match self.policies.load(&self.config.borrow()) {
            Err(error) => {
                let found = format!("a reload would refuse them: {error}");
                let mend = "`palyra policy check` names each mistake";
                HealthCheck { name, level: CheckLevel::Warning, found, mend }
            }
            Ok(loaded) if loaded.snapshot.digest() == self.policy.borrow().digest() => {
                HealthCheck { name, level: CheckLevel::Ok, found: "as in force".to_owned(), mend: "" }
            }
            Ok(_) => {
                let found = "edited, and not applied yet".to_owned();
                HealthCheck { name, level: CheckLevel::Warning, found, mend: "`palyra config reload`" }
            }
        }
    }
}
