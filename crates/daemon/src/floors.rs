//! Builds the floors: every adapter behind its port.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use palyra_grpc::ConfigFact;
use palyra_journal::{Derived, JournalStore, OpenError, OpenOptions, Sealing};
use palyra_ports::{Clock, ComponentShelf, Entropy, ReadRecords, RestoreFiles, SecretStore, ToolRuntime};
use palyra_runtime::{GatewayRuntimeConfigSnapshot, ModelDirectory, RuntimePorts};
use palyra_types::PrincipalId;
use palyra_types::access::LOCAL_PRINCIPAL_NAME;
use tokio::sync::watch;

use crate::config::Config;
use crate::equipment::ASIDE_FOLDER;
use crate::skills::StateSkillFolders;
use crate::system::{SystemClock, SystemEntropy};
use crate::workspaces::StateWorkspaces;
use palyra_commands::KeptStore;

/// Opens the journal; blocks while it recovers.
pub(crate) fn open_journal(
    state_dir: &Path,
    environment: &BTreeMap<String, String>,
    (sealing, derived): (Sealing, Derived),
) -> Result<JournalStore, OpenError> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let entropy: Arc<dyn Entropy> = Arc::new(SystemEntropy);
    let options = OpenOptions { sealing, derived, ..OpenOptions::new(state_dir.to_owned(), clock, entropy) };
    crate::history::open(options, environment)
}

/// Puts an adapter behind every port.
pub(crate) async fn ports(
    journal: &JournalStore,
    models: watch::Receiver<Arc<ModelDirectory>>,
    (tools, restore, components): (Arc<dyn ToolRuntime>, Arc<dyn RestoreFiles>, Arc<dyn ComponentShelf>),
    secrets: Arc<dyn SecretStore>,
    state_dir: &Path,
    environment: &BTreeMap<String, String>,
) -> RuntimePorts {
    let store = Arc::new(journal.clone());
    let home = environment.get("HOME").map(Into::into);
    let owner = owner(journal).await;
    let workspaces = StateWorkspaces::new(state_dir.to_owned(), home).owned_by(owner);
    RuntimePorts {
        append: Arc::clone(&store) as _,
        tapes: Arc::clone(&store) as _,
        records: Arc::clone(&store) as _,
        approvals: Arc::clone(&store) as _,
        maintain: Arc::clone(&store) as _,
        proofs: Arc::clone(&store) as _,
        erasures: store,
        tools,
        restore,
        kept: Arc::new(KeptStore::new(state_dir.join(ASIDE_FOLDER))),
        redactor: crate::secrets::scanner(),
        secrets,
        skills: Arc::new(StateSkillFolders::new(state_dir.to_owned())),
        components,
        workspaces: Arc::new(workspaces),
        clock: Arc::new(SystemClock),
        entropy: Arc::new(SystemEntropy),
        models,
    }
}

/// Returns the principal of the daemon's own socket; none before the first start. A journal that cannot be read names
/// nobody: the runtime's start reads the same and reports it.
pub(crate) async fn owner(journal: &JournalStore) -> Option<PrincipalId> {
    let principals = journal.principals().await.unwrap_or_default();
    let owner = principals.iter().find(|principal| principal.name.expose() == LOCAL_PRINCIPAL_NAME);
    owner.map(|owner| owner.id)
}

/// Makes the snapshot that runs and transports see.
pub(crate) fn snapshot(config: &Config) -> GatewayRuntimeConfigSnapshot {
    GatewayRuntimeConfigSnapshot {
        digest: palyra_ledger::sha256(config.canonical_text().as_bytes()),
        limits: config.run_limits(),
        session_queue_max: config.session_queue_max(),
        input_bytes_max: config.input_bytes_max(),
        ..GatewayRuntimeConfigSnapshot::default()
    }
}

/// Returns every configuration value as transports show it.
pub(crate) fn facts_of(config: &Config) -> Vec<ConfigFact> {
    let fact =
        |(key, value, origin): (&str, String, String)| ConfigFact { key: key.to_owned(), value, origin };
    config.rows().map(fact).collect()
}
