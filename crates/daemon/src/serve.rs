//! The life of the daemon, from its arguments to its last line.
//!
//! Order: configuration, lock, journal, runtime, listeners, readiness; then the same backwards. Whatever goes
//! wrong before readiness is told in one line on standard output. Begin at [`serve`].

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use palyra_admin::health::LiveChecks;
use palyra_admin::prices::{CurrentPrices, PublishedPrices};
use palyra_api::{DaemonFacts, ModelChanges, ReloadHandle};
use palyra_backup::ConfigPlaces;
use palyra_journal::{Derived, JournalStore};
use palyra_policy::ToolCallPolicySnapshot;
use palyra_ports::{CheckArtifacts, Clock, ComponentStore, FillCredential, SecretNames, SpareFiles};
use palyra_runtime::{GatewayRuntimeConfigSnapshot, GatewayRuntimeState, ModelDirectory};
use palyra_types::daemon_lock::DaemonLockRecord;
use palyra_types::state_dir::{config_dir, state_dir};
use palyra_types::{ErrorCode, Timestamp, mend_of_start};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use crate::artifact_files::StateArtifacts;
use crate::config::Config;
use crate::edited_files::EditedFiles;
use crate::first_model::learn_first_model;
use crate::journal_jobs::JournalJobs;
use crate::lock_watch::LockPlace;
use crate::model_config::FileModelConfig;
use crate::model_keys::KeySources;
use crate::models::MissingSecret;
use crate::notifications::DeliveryAccess;
use crate::policies::{PolicySource, denial_of_all, own};
use crate::refusal::{StartRefusal, chain};
use crate::reload::{ConfigReloader, ReloadReceivers};
use crate::replacement::{ReplacementConditions, StartedBy};
use crate::service_notices::ServiceNotices;
use crate::spare_files::{DISK_LOW_BYTES, StateSpareFiles};
use crate::state_lock::StateLock;
use crate::stop::{IdleWork, StopRequests, StopSignals};
use crate::system::SystemClock;
use crate::tool_setup::{SCRATCH_FOLDER, ToolContext, ToolSetup};
use crate::vault::{OpenVault, VaultCredentials};
use crate::{
    idle_memory, journal_watch, listeners, logging, models, prices, readiness, reload, secrets, stop,
    transports, wiring,
};

/// How the daemon is started.
#[derive(Debug, Clone, Default)]
pub struct ServeArgs {
    /// Started by a client: log to a file, stop when idle.
    pub auto_started: bool,
    /// The state directory, instead of the environment's.
    pub state_dir: Option<PathBuf>,
    /// The configuration file, instead of the usual one.
    pub config: Option<PathBuf>,
    /// A loopback address for clients with a token.
    pub listen: Option<String>,
    /// The window of self-healing instead of the usual ones; for tests, no option of the program sets it.
    pub healing_window: Option<Duration>,
}

/// How long tasks may take to end once everything is closed.
const DRAIN_SPAN_MAX: Duration = Duration::from_secs(5);
/// Blocking threads: file tools and reads of the journal.
const BLOCKING_THREADS_MAX: usize = 8;

/// Serves until told to stop.
///
/// # Errors
/// None: what goes wrong is told on standard output and standard error, and is in the exit code.
pub fn serve(args: ServeArgs) -> anyhow::Result<ExitCode> {
    serve_with_tools(args, ToolSetup::shipped)
}

/// Serves with other tools than the shipped ones until told to stop.
///
/// # Errors
/// As [`serve`].
pub fn serve_with_tools(
    args: ServeArgs,
    equip: impl FnOnce(ToolContext<'_>) -> ToolSetup,
) -> anyhow::Result<ExitCode> {
    match start(args, equip, process_environment()) {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(refusal) => {
            readiness::tell_failed(refusal.code, &refusal.message);
            tracing::error!(code = %refusal.code, "{}", refusal.message);
            let mend = mend_of_start(refusal.code, &refusal.message);
            let mend = mend.as_deref().unwrap_or(refusal.code.mend());
            let told = format!("error[{}]: {}\n  {mend}", refusal.code, refusal.message);
            // Nobody may be reading any more.
            let _ = writeln!(std::io::stderr(), "{told}");
            Ok(exit_code(refusal.code))
        }
    }
}

/// The exit codes of the command line: 5 for a conflict with another daemon, else 1.
fn exit_code(refusal: ErrorCode) -> ExitCode {
    if refusal == ErrorCode::StateDirLocked { ExitCode::from(5) } else { ExitCode::FAILURE }
}

/// Returns the variables of this process; one that is not text cannot be one of ours.
#[must_use]
pub fn process_environment() -> BTreeMap<String, String> {
    let text =
        |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value.into_string().ok()?));
    std::env::vars_os().filter_map(text).collect()
}

fn start(
    args: ServeArgs,
    equip: impl FnOnce(ToolContext<'_>) -> ToolSetup,
    environment: BTreeMap<String, String>,
) -> Result<(), StartRefusal> {
    let flags: Vec<_> = args.listen.iter().map(|address| ("listen.tcp", address.clone())).collect();
    let source = reload::ConfigSource { explicit: args.config.clone(), environment, flags };
    let config = source.load().map_err(|error| StartRefusal::new(error.code(), &error))?;
    let variable = |name: &str| source.environment.get(name).map(Into::into);
    let dir = args.state_dir.clone().or_else(|| state_dir(variable));
    let dir = dir.ok_or_else(|| {
        StartRefusal::new(ErrorCode::StateDirUnusable, &"no state directory: set HOME or PALYRA_HOME")
    })?;
    let mut lock = StateLock::take(&dir).map_err(|error| StartRefusal::new(error.code(), &error))?;
    let record = starting_record();
    lock.write(&record).map_err(|error| StartRefusal::new(error.code(), &error))?;
    if args.auto_started {
        // A session leader already is what this call would make it.
        let _ = rustix::process::setsid();
        let redirected = logging::redirect_to_file(lock.dir());
        redirected.map_err(|error| StartRefusal::new(ErrorCode::StateDirUnusable, &error))?;
    }
    secrets::know(&config, &source.environment);
    logging::start(&secrets::scanner());
    // Fails only when a provider is installed already, which serves as well.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .max_blocking_threads(BLOCKING_THREADS_MAX)
        .on_thread_unpark(palyra_sandbox::notify)
        .build()
        .map_err(|error| StartRefusal::new(ErrorCode::Internal, &error))?;
    let vault = OpenVault::open(lock.dir());
    let credentials =
        VaultCredentials::new(Arc::clone(&vault) as _, Arc::new(SystemClock), secrets::scanner());
    let credentials = Arc::new(credentials);
    let filling: Arc<dyn FillCredential> = Arc::clone(&credentials) as _;
    let (state_dir, environment) = (lock.dir(), &source.environment);
    let names: Arc<dyn SecretNames> = Arc::clone(&credentials) as _;
    let own_paths = own_paths(&source, &config);
    let place = ToolContext {
        state_dir,
        config: &config,
        own_paths: &own_paths,
        environment,
        credentials: &filling,
        secrets: &names,
    };
    let tool_setup = equip(place);
    let lock = StartupLock { lock, starting: record };
    let access = SecretAccess { vault, credentials };
    let served = runtime.block_on(run(args, tool_setup, source, config, lock, access));
    runtime.shutdown_timeout(DRAIN_SPAN_MAX);
    served
}

/// The lock of the state directory, with what is written in it until the daemon serves.
struct StartupLock {
    lock: StateLock,
    starting: DaemonLockRecord,
}

/// The vault, and what fills in its credentials.
struct SecretAccess {
    vault: Arc<OpenVault>,
    credentials: Arc<VaultCredentials>,
}

async fn run(
    args: ServeArgs,
    tool_setup: ToolSetup,
    source: reload::ConfigSource,
    config: Config,
    StartupLock { mut lock, starting }: StartupLock,
    access: SecretAccess,
) -> Result<(), StartRefusal> {
    // Heard from here on: until it is, a signal ends the process without a word.
    let signals = StopSignals::listen().and_then(|stop| Ok((stop, signal(SignalKind::hangup())?)));
    let (stop_signals, hangups) = signals.map_err(|error| StartRefusal::new(ErrorCode::Internal, &error))?;
    let notices = if args.auto_started { ServiceNotices::none() } else { ServiceNotices::of_process() };
    let dir = lock.dir().to_owned();
    let keys = KeySources::of_daemon(&source.environment, &access.vault);
    let directory = directory_of(&config, &keys).await?;
    let model = directory.default_model().to_string();
    let policies = policy_source(&tool_setup, &source, &dir);
    let prices = prices_of(&config)?;
    let watched = reload::watched(config, directory, prices, &policies);
    let (swap, seen) = watched.map_err(|error| StartRefusal::new(error.code(), &error))?;
    swap.set_healing_window(args.healing_window);
    let sealing = seen.config.borrow().journal_sealing();
    let live_checks = live_checks(&tool_setup, &access.vault, EditedFiles::new(&source, &policies, &seen));
    let components = Arc::new(swap.known_to_the_rules(&tool_setup));
    let jobs = tool_setup.jobs.clone();
    let watched = ReloadedParts::new(&seen, components);
    let place = wiring::JournalPlace { state_dir: &dir, environment: &source.environment, sealing };
    let backed_up = backed_up(&source, &policies, &seen.config.borrow());
    let (journal, gateway) = start_gateway(place, tool_setup, access, watched, backed_up).await?;
    let listeners = listeners::bind(&dir, &seen.config.borrow(), &source.environment)?;
    let record = DaemonLockRecord { socket: listeners.socket.display().to_string(), model, ..starting };
    let stop = StopRequests::default();
    let (reload, reloads) = ReloadHandle::channel();
    let conditions = ReplacementConditions::new(started_by(&args), &dir, jobs.clone());
    let facts = DaemonFacts {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        build: record.build_id.clone(),
        pid: record.pid,
        started: Timestamp(record.started_unix_us),
        state_dir: dir.clone(),
        listening: listeners.addresses(),
        http_origin: listeners.http_origin(),
        gateways: keys.gateways.clone(),
        config_file: source.file().map(|file| std::path::absolute(&file).unwrap_or(file)),
        config: seen.facts,
        checks: seen.checks,
        live_checks: live_checks.clone(),
        reload,
        model_changes: ModelChanges::new(Arc::new(FileModelConfig::new(source.clone(), keys.clone()))),
        replacement: Arc::new(conditions.asking(&keys.answers)),
        stop_requested: stop.requested.clone(),
    };
    let place = lock.place().map_err(|error| StartRefusal::new(ErrorCode::StateDirUnusable, &error))?;
    lock.write(&record).map_err(|error| StartRefusal::new(error.code(), &error))?;
    tell_ready(&record, &facts, notices);
    // Looked at once, so that the first command need not wait for it.
    tokio::task::spawn_blocking(move || live_checks.made());
    ask_model_servers(&seen.config.borrow(), &swap.models);
    let reloading =
        tokio::spawn(ConfigReloader::new(source, policies, keys, swap, notices).run(hangups, reloads));
    tokio::spawn(notices.beat(gateway.health.clone()));
    begin_chores(&journal, dir);
    tokio::spawn(stop::on_signals(stop.clone(), stop_signals));
    tokio::spawn(stop::on_lost_lock(stop.clone(), place.clone()));
    let (connections, open_connections) = watch::channel(0);
    if args.auto_started {
        stop_when_idle(&stop, &gateway, jobs, seen.config.clone(), open_connections);
    }
    tokio::spawn(stop::drain(stop.clone(), gateway.sessions.clone(), seen.config, notices));
    let socket = listeners.socket.clone();
    let (rebound, rebinding) = tokio::sync::mpsc::channel(1);
    tokio::spawn(listeners::keep_socket(socket.clone(), place.clone(), rebound, stop.requested.clone()));
    let served = transports::serve(gateway, facts, listeners, connections, rebinding, stop.now).await;
    reloading.abort();
    journal.close().await;
    give_up_place(&place, &socket, &mut lock);
    tracing::info!("stopped");
    served
}

/// Removes the socket and empties the lock file, unless another process has the place now.
fn give_up_place(place: &LockPlace, socket: &Path, lock: &mut StateLock) {
    if place.is_locked() {
        // Gone already, or the next daemon takes it away.
        let _ = std::fs::remove_file(socket);
        lock.clear();
    }
}

/// Makes the models; a secret of the vault may be put there later.
async fn directory_of(config: &Config, keys: &KeySources) -> Result<ModelDirectory, StartRefusal> {
    let directory = models::build(config, keys, MissingSecret::Awaited).await;
    directory.map_err(|errors| StartRefusal::new(ErrorCode::ConfigInvalid, &models::describe_all(&errors)))
}

/// Reads the prices; a catalogue with a mistake is refused as other settings are.
fn prices_of(config: &Config) -> Result<PublishedPrices, StartRefusal> {
    prices::load(config).map_err(|error| StartRefusal::new(ErrorCode::ConfigInvalid, &error))
}

/// Asks servers of models in the background: the one whose models are not known, and those of this machine where the
/// configuration lets it.
fn ask_model_servers(config: &Config, models: &watch::Sender<Arc<ModelDirectory>>) {
    tokio::spawn(learn_first_model(models.clone()));
    if config.detects_local_models() {
        tokio::spawn(models::suggest_local_servers(models.clone()));
    }
}

fn started_by(args: &ServeArgs) -> StartedBy {
    if args.auto_started { StartedBy::Client } else { StartedBy::Operator }
}

/// Lets a daemon that a client started stop by itself once it has nothing to do.
fn stop_when_idle(
    stop: &StopRequests,
    gateway: &GatewayRuntimeState,
    jobs: Option<palyra_commands::Jobs>,
    config: watch::Receiver<Arc<Config>>,
    open_connections: watch::Receiver<usize>,
) {
    let work = IdleWork { gateway: gateway.clone(), jobs };
    let span = move || config.borrow().idle_stop();
    tokio::spawn(stop::on_idle(stop.clone(), open_connections, async move || work.kept_by().await, span));
}

/// Returns what decides over the daemon and may lie in a workspace: settings, policies, prices, anchors and backups.
fn own_paths(source: &reload::ConfigSource, config: &Config) -> Vec<PathBuf> {
    let named =
        [config.policy_dir(), config.policy_shadow_dir(), config.prices_file(), config.backup_folder()]
            .into_iter()
            .filter(|named| !named.is_empty());
    // The default folder holds nothing else. One in which somebody put a settings file may be a project's.
    let folder = config_dir(|name| source.environment.get(name).map(Into::into));
    let files = folder.into_iter().chain(source.file()).chain(source.policies_folder());
    files.chain(named.map(PathBuf::from)).collect()
}

/// Says that the daemon serves, and why it denies every call, where it does.
fn tell_ready(record: &DaemonLockRecord, facts: &DaemonFacts, notices: ServiceNotices) {
    let checks = Arc::clone(&facts.checks.borrow());
    let denial = denial_of_all(&checks);
    let listening = facts.listening.join(", ");
    readiness::tell_ready(record, denial);
    notices.ready(&denial.map_or_else(|| listening.clone(), |why| format!("{listening}; {why}")));
}

/// Returns the checks of what lies beside the runtime.
fn live_checks(tool_setup: &ToolSetup, vault: &Arc<OpenVault>, edited: EditedFiles) -> LiveChecks {
    let (vault, of_policies, of_folder) = (Arc::clone(vault), edited.clone(), edited.clone());
    let checks = tool_setup.checks.clone().with(move || vault.check());
    let checks = checks.with(move || of_folder.policies.folder_check(&of_folder.config.borrow()));
    checks.with(move || edited.configuration()).with(move || of_policies.policies())
}

/// Returns where policies come from: what ships, the operator's folder, and what belongs to the daemon itself.
fn policy_source(tool_setup: &ToolSetup, source: &reload::ConfigSource, state_dir: &Path) -> PolicySource {
    let folder = source.policies_folder();
    let beside = folder.as_ref().and_then(|folder| folder.parent()).map(Path::to_owned);
    let mut shipped = tool_setup.rules.clone();
    let own = [Some(state_dir.to_owned()), beside, source.file()].into_iter().flatten();
    own::add(&mut shipped.own_paths, own);
    PolicySource { shipped, tools: Arc::clone(&tool_setup.tools), folder }
}

/// Returns the places of the configuration that belong to a backup.
fn backed_up(source: &reload::ConfigSource, policies: &PolicySource, config: &Config) -> ConfigPlaces {
    let named = Some(config.policy_dir()).filter(|named| !named.is_empty()).map(PathBuf::from);
    ConfigPlaces { file: source.file(), policies: named.or_else(|| policies.folder.clone()) }
}

/// What a reload changes while the runtime goes on.
struct ReloadedParts {
    models: watch::Receiver<Arc<ModelDirectory>>,
    snapshots: watch::Receiver<Arc<GatewayRuntimeConfigSnapshot>>,
    policy: watch::Receiver<Arc<ToolCallPolicySnapshot>>,
    components: Arc<dyn ComponentStore>,
    prices: CurrentPrices,
    config: watch::Receiver<Arc<Config>>,
}

impl ReloadedParts {
    fn new(seen: &ReloadReceivers, components: Arc<dyn ComponentStore>) -> Self {
        Self {
            models: seen.models.clone(),
            snapshots: seen.snapshots.clone(),
            policy: seen.policy.clone(),
            components,
            prices: CurrentPrices::new(seen.prices.clone()),
            config: seen.config.clone(),
        }
    }
}

/// Starts what a daemon does beside its calls, until it ends.
fn begin_chores(journal: &JournalStore, state_dir: PathBuf) {
    tokio::spawn(journal.change_keys_daily());
    tokio::spawn(journal_watch::run(journal.clone(), state_dir));
    tokio::spawn(idle_memory::run());
    journal.verify_in_background();
}

/// Opens the journal and starts the runtime on it. Where damage is met on the way, the journal is opened once more,
/// and everything that is only derived from the log is rebuilt.
async fn start_gateway(
    place: wiring::JournalPlace<'_>,
    tool_setup: ToolSetup,
    SecretAccess { vault, credentials }: SecretAccess,
    ReloadedParts { models, snapshots, policy, components, prices, config }: ReloadedParts,
    backed_up: ConfigPlaces,
) -> Result<(JournalStore, GatewayRuntimeState), StartRefusal> {
    let spare: Arc<dyn SpareFiles> = Arc::new(StateSpareFiles {
        state_dir: place.state_dir.to_owned(),
        scratch: place.state_dir.join(SCRATCH_FOLDER),
        components: Arc::clone(&tool_setup.components),
        config: config.clone(),
        low_bytes: DISK_LOW_BYTES,
    });
    let artifacts: Arc<dyn CheckArtifacts> = Arc::new(StateArtifacts::new(
        place.state_dir.to_owned(),
        Arc::clone(&tool_setup.components),
        config.clone(),
    ));
    let deliveries = DeliveryAccess {
        config,
        environment: Arc::new(place.environment.clone()),
        vault: Arc::clone(&vault) as _,
        fetch: tool_setup.fetch.clone(),
    };
    let notify = Arc::new(deliveries.into_deliverer());
    let mut derived = Derived::Checked;
    loop {
        let opened = wiring::open_journal(place, derived);
        let journal = opened.map_err(|error| StartRefusal::new(error.code(), &chain(&error)))?;
        let recorded = wiring::RecordedJournal::new(journal.clone());
        credentials.record_in(recorded.recorder.clone());
        // Runs that go on at the start use secrets before the runtime can name the owner.
        if let Some(owner) = wiring::owner(&journal).await {
            credentials.belong_to(owner);
        }
        tool_setup.tapes.read_by(Arc::new(journal.clone()));
        if let Some(jobs) = &tool_setup.jobs {
            let read = JournalJobs(Arc::new(journal.clone()));
            jobs.record_in(recorded.recorder.clone(), Arc::new(read));
        }
        let ToolSetup { tools, restore, .. } = tool_setup.clone();
        let ports = wiring::ports(
            &recorded,
            models.clone(),
            wiring::PortAdapters {
                tools,
                restore,
                components: Arc::clone(&components),
                secrets: Arc::clone(&vault) as _,
                notify: Arc::clone(&notify) as _,
                spare: Arc::clone(&spare),
                artifacts: Arc::clone(&artifacts),
                config: backed_up.clone(),
            },
            place,
        )
        .await;
        match palyra_runtime::gateway::start_with_policy(ports, policy.clone(), snapshots.clone()).await {
            Ok(mut gateway) => {
                gateway.admin.usage = gateway.admin.usage.with_prices(prices);
                credentials.belong_to(gateway.admin.access.local_principal());
                tool_setup.memory.give(Arc::new(gateway.admin.memories.clone()));
                tool_setup.schedules.give(Arc::new(gateway.schedules.clone()));
                return Ok((journal, gateway));
            }
            Err(error) if error.code() == ErrorCode::JournalCorrupt && derived == Derived::Checked => {
                derived = Derived::Rebuilt;
                tracing::warn!("the journal is opened again for repair: {}", chain(&error));
                journal.close().await;
            }
            Err(error) => return Err(StartRefusal::new(error.code(), &chain(&error))),
        }
    }
}

/// Returns what the lock file says from the moment it is taken.
fn starting_record() -> DaemonLockRecord {
    DaemonLockRecord {
        pid: std::process::id(),
        started_unix_us: SystemClock.wall().0,
        boot_id: read_boot_id(),
        socket: String::new(),
        build_id: build_id(),
        model: String::new(),
    }
}

/// Returns what tells this build from others: its version, and the size and time of its file.
fn build_id() -> String {
    use std::os::unix::fs::MetadataExt;
    let version = env!("CARGO_PKG_VERSION");
    match std::fs::metadata("/proc/self/exe") {
        Ok(file) => format!("{version}+{:x}-{:x}", file.size(), file.mtime()),
        Err(_) => version.to_owned(),
    }
}

fn read_boot_id() -> String {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    text.trim().to_owned()
}
