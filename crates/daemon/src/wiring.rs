//! Wires the daemon: every adapter behind its port.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use palyra_admin::budgets::OverBudgetModel;
use palyra_admin::prices::PublishedPrices;
use palyra_admin::upkeep::{JournalCareRules, UpkeepRules};
use palyra_api::ConfigFact;
use palyra_backup::ConfigPlaces;
use palyra_journal::{Derived, JournalStore, OpenError, OpenOptions, PayloadSealing};
use palyra_journal_core::families::principals;
use palyra_journal_core::family::QueryFamilies;
use palyra_ports::{
    CheckArtifacts, Clock, ComponentStore, DeliverMessages, Entropy, Recorder, RestoreFiles, SecretStore,
    SpareFiles, ToolRuntime,
};
use palyra_runtime::{GatewayRuntimeConfigSnapshot, ModelDirectory, RuntimePorts};
use palyra_types::PrincipalId;
use palyra_types::access::LOCAL_PRINCIPAL_NAME;
use tokio::sync::watch;

use crate::backups::StateBackups;
use crate::config::Config;
use crate::skills::StateSkillFolders;
use crate::system::{SystemClock, SystemEntropy};
use crate::tool_setup::ASIDE_FOLDER;
use crate::workspaces::StateWorkspaces;
use palyra_commands::KeptStore;

/// Where the journal is, and how it is kept.
#[derive(Clone, Copy)]
pub(crate) struct JournalPlace<'a> {
    pub(crate) state_dir: &'a Path,
    pub(crate) environment: &'a BTreeMap<String, String>,
    pub(crate) sealing: PayloadSealing,
}

/// Opens the journal; blocks while it recovers.
pub(crate) fn open_journal(place: JournalPlace<'_>, derived: Derived) -> Result<JournalStore, OpenError> {
    let JournalPlace { state_dir, environment, sealing } = place;
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let entropy: Arc<dyn Entropy> = Arc::new(SystemEntropy);
    let rebuild_progress = Some(crate::readiness::rebuild_progress());
    let usual = OpenOptions::new(state_dir.to_owned(), clock, entropy);
    let options = OpenOptions { sealing, derived, rebuild_progress, ..usual };
    crate::history::open(options, environment)
}

/// A journal with its one recorder, which every part of the daemon shares: guesses are counted together.
pub(crate) struct RecordedJournal {
    pub(crate) store: JournalStore,
    pub(crate) recorder: Recorder,
}

impl RecordedJournal {
    pub(crate) fn new(store: JournalStore) -> Self {
        let clock = Arc::new(SystemClock);
        let recorder = Recorder::new(Arc::new(store.clone()), crate::secrets::scanner(), clock);
        Self { store, recorder }
    }
}

/// Adapters that are made before the journal is open.
pub(crate) struct PortAdapters {
    pub(crate) tools: Arc<dyn ToolRuntime>,
    pub(crate) restore: Arc<dyn RestoreFiles>,
    pub(crate) components: Arc<dyn ComponentStore>,
    pub(crate) secrets: Arc<dyn SecretStore>,
    /// Sends notifications.
    pub(crate) notify: Arc<dyn DeliverMessages>,
    /// Frees files that need not be kept on a full disk.
    pub(crate) spare: Arc<dyn SpareFiles>,
    /// Compares and mends files that the journal pins by a digest.
    pub(crate) artifacts: Arc<dyn CheckArtifacts>,
    /// What a backup takes of the configuration.
    pub(crate) config: ConfigPlaces,
}

/// Puts an adapter behind every port.
pub(crate) async fn ports(
    journal: &RecordedJournal,
    models: watch::Receiver<Arc<ModelDirectory>>,
    PortAdapters { tools, restore, components, secrets, notify, spare, artifacts, config }: PortAdapters,
    JournalPlace { state_dir, environment, .. }: JournalPlace<'_>,
) -> RuntimePorts {
    let RecordedJournal { store: journal, recorder } = journal;
    let store = Arc::new(journal.clone());
    let home = environment.get("HOME").map(Into::into);
    let owner = owner(journal).await;
    let workspaces = StateWorkspaces::new(state_dir.to_owned(), home).owned_by(owner);
    let backups = StateBackups::new(state_dir.to_owned(), config, Arc::clone(&store) as _);
    RuntimePorts {
        backups: Arc::new(backups),
        spare,
        artifacts,
        notify,
        recorder: recorder.clone(),
        tapes: Arc::clone(&store) as _,
        families: Arc::clone(&store) as _,
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
        memories: Arc::new(palyra_memory::MemoryIndexes::default()),
        workspaces: Arc::new(workspaces),
        project_files: Arc::new(palyra_tools::WorkspaceProjectFiles),
        clock: Arc::new(SystemClock),
        entropy: Arc::new(SystemEntropy),
        models,
    }
}

/// Returns the principal of the daemon's own socket; none before the first start. A journal that cannot be read names
/// nobody: the runtime's start reads the same and reports it.
pub(crate) async fn owner(journal: &JournalStore) -> Option<PrincipalId> {
    let principals = journal.query(|rows, _| principals::all(rows)).await.unwrap_or_default();
    let owner = principals.iter().find(|principal| principal.name.expose() == LOCAL_PRINCIPAL_NAME);
    owner.map(|owner| owner.id)
}

/// Makes the snapshot that runs and transports see.
pub(crate) fn snapshot(config: &Config, prices: &PublishedPrices) -> GatewayRuntimeConfigSnapshot {
    GatewayRuntimeConfigSnapshot {
        digest: palyra_ledger::sha256(config.canonical_text().as_bytes()),
        limits: config.run_limits(),
        session_queue_max: config.session_queue_max(),
        input_bytes_max: config.input_bytes_max(),
        time_zone: machine_time_zone().into(),
        recalls_memory: config.recalls_memory(),
        learning: config.learning(),
        prices: prices.configured_catalogue(),
        compacts: config.compacts(),
        upkeep: UpkeepRules { retention: config.retention(), journal: Some(JournalCareRules::USUAL) },
        backups: config.backups(),
        notify: config.notify(&machine_time_zone()),
        healing: config.healing_modes(),
        over_budget: if config.falls_back_over_budget() {
            OverBudgetModel::PassedOver
        } else {
            OverBudgetModel::Stops
        },
        model_order: config.model_order(),
        ..GatewayRuntimeConfigSnapshot::default()
    }
}

/// Returns the name of this machine's time zone; empty where it has none that the IANA database knows.
fn machine_time_zone() -> String {
    let zone = jiff::tz::TimeZone::try_system().ok();
    zone.and_then(|zone| zone.iana_name().map(str::to_owned)).unwrap_or_default()
}

/// Returns every configuration value as transports show it.
pub(crate) fn facts_of(config: &Config) -> Vec<ConfigFact> {
    let fact =
        |(key, value, origin): (&str, String, String)| ConfigFact { key: key.to_owned(), value, origin };
    config.rows().map(fact).collect()
}
