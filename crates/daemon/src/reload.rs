//! Reads the configuration again, on a hang-up signal or when asked: validate, then swap.
//!
//! One task does it, so that two reloads never mix. Invariant: a configuration that does not validate changes
//! nothing but what is told of it. Begin at [`Reloader::run`].

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use palyra_grpc::{ConfigFact, ReloadError, ReloadReport, ReloadRequest};
use palyra_runtime::health::{Check, CheckLevel};
use palyra_runtime::{GatewayRuntimeConfigSnapshot, ModelDirectory};
use tokio::signal::unix::Signal;
use tokio::sync::{mpsc, watch};

use crate::config::{self, Applies, Config, Mistakes, SETTINGS};
use crate::refusal::chain;
use crate::service_notices::ServiceNotices;
use crate::{floors, models, secrets};

/// Where the configuration comes from.
pub(crate) struct Source {
    pub(crate) explicit: Option<PathBuf>,
    pub(crate) environment: BTreeMap<String, String>,
    pub(crate) flags: Vec<(&'static str, String)>,
}

impl Source {
    pub(crate) fn load(&self) -> Result<Config, Mistakes> {
        config::load(self.explicit.as_deref(), &self.environment, &self.flags)
    }
}

/// What a new configuration replaces.
pub(crate) struct Swap {
    pub(crate) models: watch::Sender<Arc<ModelDirectory>>,
    pub(crate) snapshots: watch::Sender<Arc<GatewayRuntimeConfigSnapshot>>,
    pub(crate) facts: watch::Sender<Arc<Vec<ConfigFact>>>,
    pub(crate) checks: watch::Sender<Arc<Vec<Check>>>,
    pub(crate) config: watch::Sender<Arc<Config>>,
}

/// The other ends of a [`Swap`].
pub(crate) struct Seen {
    pub(crate) models: watch::Receiver<Arc<ModelDirectory>>,
    pub(crate) snapshots: watch::Receiver<Arc<GatewayRuntimeConfigSnapshot>>,
    pub(crate) facts: watch::Receiver<Arc<Vec<ConfigFact>>>,
    pub(crate) checks: watch::Receiver<Arc<Vec<Check>>>,
    pub(crate) config: watch::Receiver<Arc<Config>>,
}

/// Puts a configuration and its models where they can be watched and replaced.
pub(crate) fn watched(config: Config, directory: ModelDirectory) -> (Swap, Seen) {
    let snapshot = floors::snapshot(&config);
    let checks = vec![in_force_check(&snapshot.digest, &[])];
    let (models, models_seen) = watch::channel(Arc::new(directory));
    let (snapshots, snapshots_seen) = watch::channel(Arc::new(snapshot));
    let (facts, facts_seen) = watch::channel(Arc::new(floors::facts_of(&config)));
    let (checks, checks_seen) = watch::channel(Arc::new(checks));
    let (config, config_seen) = watch::channel(Arc::new(config));
    let seen = Seen {
        models: models_seen,
        snapshots: snapshots_seen,
        facts: facts_seen,
        checks: checks_seen,
        config: config_seen,
    };
    (Swap { models, snapshots, facts, checks, config }, seen)
}

/// Reads the configuration again when told to.
pub(crate) struct Reloader {
    source: Source,
    swap: Swap,
    /// What the daemon started with: settings that need a restart still have these values.
    at_start: Arc<Config>,
    notices: ServiceNotices,
}

impl Reloader {
    pub(crate) fn new(source: Source, swap: Swap, notices: ServiceNotices) -> Self {
        let at_start = Arc::clone(&swap.config.borrow());
        Self { source, swap, at_start, notices }
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
        let (config, directory) = match self.validate().await {
            Ok(valid) => valid,
            Err(refused) => {
                self.swap.checks.send_replace(Arc::new(vec![refused_check(&refused)]));
                return Err(refused);
            }
        };
        let snapshot = floors::snapshot(&config);
        let digest = snapshot.digest;
        let changed = config.changed_keys(&self.swap.config.borrow());
        let needs_restart = needs_restart(&config, &self.at_start);
        secrets::know(&config, &self.source.environment);
        // Models first: a run that begins in between must find those that its snapshot names.
        self.swap.models.send_replace(Arc::new(directory));
        self.swap.snapshots.send_replace(Arc::new(snapshot));
        self.swap.facts.send_replace(Arc::new(floors::facts_of(&config)));
        self.swap.checks.send_replace(Arc::new(vec![in_force_check(&digest, &needs_restart)]));
        self.swap.config.send_replace(Arc::new(config));
        tokio::spawn(models::suggest_local_servers(self.swap.models.clone()));
        Ok(ReloadReport { digest, changed, needs_restart })
    }

    async fn validate(&self) -> Result<(Config, ModelDirectory), ReloadError> {
        let config = self.source.load().map_err(|wrong| invalid(wrong.lines()))?;
        let directory = models::build(&config, &self.source.environment).await;
        let told = |errors: Vec<models::ModelsError>| errors.iter().map(|error| chain(error)).collect();
        let directory = directory.map_err(|errors| invalid(told(errors)))?;
        Ok((config, directory))
    }
}

fn invalid(mistakes: Vec<String>) -> ReloadError {
    ReloadError::Invalid { mistakes }
}

/// Returns the keys that differ from those at the start and take effect only there.
fn needs_restart(config: &Config, at_start: &Config) -> Vec<String> {
    let at_start_only = |key: &String| SETTINGS.iter().any(|s| s.key == key && s.applies == Applies::AtStart);
    config.changed_keys(at_start).into_iter().filter(at_start_only).collect()
}

const CHECK_NAME: &str = "configuration";

/// Says that a configuration is in force.
fn in_force_check(digest: &[u8; 32], needs_restart: &[String]) -> Check {
    let digest: String = digest.iter().take(6).map(|byte| format!("{byte:02x}")).collect();
    if needs_restart.is_empty() {
        let found = format!("in force, digest {digest}");
        return Check { name: CHECK_NAME, level: CheckLevel::Ok, found, mend: "" };
    }
    let found =
        format!("in force, digest {digest}; not yet, since it needs a restart: {}", needs_restart.join(", "));
    Check {
        name: CHECK_NAME,
        level: CheckLevel::Warning,
        found,
        mend: "restart the daemon: `palyra admin stop`",
    }
}

fn refused_check(refused: &ReloadError) -> Check {
    Check {
        name: CHECK_NAME,
        level: CheckLevel::Warning,
        found: refused.to_string(),
        mend: "correct it until `palyra config check` is content, then reload it again",
    }
}

#[cfg(test)]
mod tests;
