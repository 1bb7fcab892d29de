//! Reads the configuration again on a hang-up signal: validate, then swap.
//!
//! Invariant: a configuration that does not validate changes nothing.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use palyra_grpc::ConfigFact;
use palyra_runtime::{GatewayRuntimeConfigSnapshot, ModelDirectory};
use tokio::signal::unix::Signal;
use tokio::sync::watch;

use crate::config::{self, Config, Mistakes};
use crate::{floors, models};

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
}

/// Reloads on every hang-up signal.
pub(crate) async fn on_hangup(mut hangups: Signal, source: Source, swap: Swap) {
    while hangups.recv().await.is_some() {
        match reload(&source, &swap).await {
            Ok(()) => tracing::info!("the configuration was reloaded"),
            Err(why) => tracing::error!("the configuration was not reloaded, the old one stays: {why}"),
        }
    }
}

async fn reload(source: &Source, swap: &Swap) -> Result<(), String> {
    let config = source.load().map_err(|mistakes| mistakes.to_string())?;
    let directory =
        models::build(&config, &source.environment).await.map_err(|errors| models::told(&errors))?;
    swap.models.send_replace(Arc::new(directory));
    tokio::spawn(models::suggest_local_servers(swap.models.clone()));
    swap.snapshots.send_replace(Arc::new(floors::snapshot(&config)));
    swap.facts.send_replace(Arc::new(floors::facts_of(&config)));
    Ok(())
}
