//! The bunch of keys that a transport is given, and how the runtime is started.
//!
//! Owns nothing: each handle belongs to the module that made it. A handler takes the one handle it needs.
//! Begin at [`start`].

use std::sync::Arc;

use palyra_admin::access::AccessHandle;
use palyra_admin::agents::AgentRegistry;
use palyra_admin::attention::AttentionHandle;
use palyra_admin::backups::{BackupHandler, BackupTimer, ScheduleSource};
use palyra_admin::budgets::{AuxiliaryBudgets, BudgetWaits};
use palyra_admin::components::ComponentsHandle;
use palyra_admin::erasure::ErasureHandle;
use palyra_admin::grants::GrantsHandle;
use palyra_admin::healing::HealingParts;
use palyra_admin::health::HealthHandle;
use palyra_admin::journal::JournalHandle;
use palyra_admin::memories::{MemoriesHandle, MemoryExpiry};
use palyra_admin::models::ModelsHandle;
use palyra_admin::project_rules::{ProjectRules, ProjectRulesHandle};
use palyra_admin::rules::PolicyHandle;
use palyra_admin::skills::SkillsHandle;
use palyra_admin::upkeep::{
    JournalCareHandler, JournalCareTimer, SessionCleanupHandler, SessionCleanupTimer,
};
use palyra_admin::usage::UsageHandle;
use palyra_admin::vault::VaultHandle;
use palyra_admin::{AdminHandles, AdminViews, ErasureSubscriber, MemoryPorts, ShadowCounting};
use palyra_background::queue::{BackgroundQueue, QueuePorts, TaskHandler};
use palyra_background::{BackgroundDriver, Drain, TickFailure};
use palyra_conversation::{CompactionHandler, LearningConfigNow, ReflectionHandler};
use palyra_notifier::{NotificationSetup, NotificationsHandle};
use palyra_policy::{ToolCallPolicySnapshot, ToolPolicyRules};
use palyra_scheduler::{DaemonFacts, SchedulesHandle};
use palyra_tape::{TapeHandle, TapeHub};
use palyra_types::PrincipalId;
use tokio::sync::watch;

use crate::approvals::ApprovalsHandle;
use crate::approvals::expiry::ApprovalExpiry;
use crate::config::GatewayRuntimeConfigSnapshot;
use crate::engine::Engine;
use crate::error::StartError;
use crate::notifications::notifications;
use crate::parts::RuntimePorts;
use crate::run_context::RunContext;
use crate::run_stopping::{RunCanceller, RunHealer};
use crate::runs::RunsHandle;
use crate::scheduled_runs::{ScheduledRunStarter, SpawnedQueue, spawn_with_queue};
use crate::session::SessionsHandle;
use crate::undo::UndoService;

/// Everything that transports may touch, and nothing more.
#[derive(Clone)]
pub struct GatewayRuntimeState {
    /// Conversations, and the way in for new input.
    pub sessions: SessionsHandle,
    /// Runs: looking, answering, cancelling; their effects, and taking them back.
    pub runs: RunsHandle,
    /// What waits for people, answering it, and notifications of it.
    pub waiting: WaitingHandles,
    /// Tapes: pages and live following.
    pub tapes: TapeHandle,
    /// Agent profiles.
    pub agents: AgentRegistry,
    /// Models that can be asked.
    pub models: ModelsHandle,
    /// What people decide outside of runs: tokens, secrets, skills, components, rules, grants, erasures.
    pub admin: AdminHandles,
    /// The journal as a whole.
    pub journal: JournalHandle,
    /// How the daemon is.
    pub health: HealthHandle,
    /// Schedules.
    pub schedules: SchedulesHandle,
}

/// What waits for people.
#[derive(Clone)]
pub struct WaitingHandles {
    /// Approvals, and answering them.
    pub approvals: ApprovalsHandle,
    /// All that waits.
    pub attention: AttentionHandle,
    /// Notifications of it.
    pub notifications: NotificationsHandle,
}

/// Starts the runtime: registers what must exist, then takes up every run that is not terminal.
///
/// # Errors
/// [`StartError`] when the journal cannot be read or written.
pub async fn start(
    ports: RuntimePorts,
    config: watch::Receiver<Arc<GatewayRuntimeConfigSnapshot>>,
) -> Result<GatewayRuntimeState, StartError> {
    start_with_rules(ports, ToolPolicyRules::shipped(), config).await
}

/// Starts the runtime with other rules than the shipped ones, for tools that those do not permit.
///
/// # Errors
/// As [`start`].
pub async fn start_with_rules(
    ports: RuntimePorts,
    rules: ToolPolicyRules,
    config: watch::Receiver<Arc<GatewayRuntimeConfigSnapshot>>,
) -> Result<GatewayRuntimeState, StartError> {
    let digest = |text: &str| palyra_ledger::sha256(text.as_bytes());
    let policy = ToolCallPolicySnapshot::compile(ports.tools.catalog(), rules, digest)?;
    start_with_policy(ports, watch::channel(Arc::new(policy)).1, config).await
}

/// Starts the runtime under a policy that its maker may replace; the next call is judged by the new one.
///
/// # Errors
/// As [`start`].
pub async fn start_with_policy(
    ports: RuntimePorts,
    policy: watch::Receiver<Arc<ToolCallPolicySnapshot>>,
    config: watch::Receiver<Arc<GatewayRuntimeConfigSnapshot>>,
) -> Result<GatewayRuntimeState, StartError> {
    let admin_ports = Arc::new(ports.for_admin());
    let ports = Arc::new(ports);
    let access = AccessHandle::open(Arc::clone(&admin_ports)).await?;
    let owner = access.local_principal();
    let drain = Drain::default();
    let background = BackgroundDriver::new(Arc::clone(&ports.clock), drain.clone());
    let vault = VaultHandle::new(Arc::clone(&admin_ports), owner);
    background.at_start("vault_changes", settle_vault(&vault)).await;
    let agents = AgentRegistry::open(Arc::clone(&admin_ports), owner).await?;
    let hub = TapeHub::default();
    let views = AdminViews::load(&admin_ports, agents.clone(), &access, policy, drain.clone()).await?;
    let runs = RunContext::new(&ports, views.clone(), hub.clone(), drain, config.clone()).await?;
    let engine = Arc::new(Engine::new(Arc::clone(&ports), Arc::new(runs)));
    background.at_start("skill_copies", views.skills.check_all()).await;
    let components = ComponentsHandle::new(Arc::clone(&admin_ports));
    background.at_start("component_catalog", components.offer_all()).await;
    let sessions = SessionsHandle::new(Arc::clone(&engine));
    let undoing = UndoService::new(Arc::clone(&engine));
    settle_earlier_work(&background, &engine, &sessions, &undoing).await?;
    let configured = ConfiguredWork::new(&ports, owner, config);
    let tapes = TapeHandle::new(Arc::clone(&ports.tapes), Arc::clone(&ports.families), hub.clone());
    let starter = ScheduledRunStarter::new(&engine, &sessions, &tapes);
    let facts = DaemonFacts { access: access.clone(), agents: agents.clone() };
    let memories = memories(admin_ports.for_memory(), &engine);
    let policy = PolicyHandle::new(Arc::clone(&admin_ports), &views);
    let subscribers: Vec<Arc<dyn ErasureSubscriber>> = vec![
        Arc::new(sessions.clone()),
        Arc::clone(&views.skills) as Arc<_>,
        Arc::new(components.clone()),
        Arc::new(policy.clone()),
        Arc::new(memories.clone()),
        Arc::new(hub),
        Arc::new(access.clone()),
        Arc::new(agents.clone()),
    ];
    let stopper = run_canceller(&ports, &sessions, &tapes);
    let erasures = erasures(&engine, stopper.clone(), subscribers);
    let upkeep = UpkeepSetup { erasures: erasures.clone(), owner, configured: configured.clone() };
    let spawned = spawn_tasks(&background, &memories, starter, facts, upkeep);
    let notifications = configured.notifications.handle(spawned.queue.clone());
    let healing = healing_parts(&engine, stopper, spawned.queue, access.clone());
    let health = HealthHandle::new(&admin_ports, &ports.proofs, &ports.models, &background, healing)
        .with_backups(configured.backups.reader())
        .with_deliveries(configured.notifications.doctor_check());
    let admin = AdminHandles {
        access,
        vault,
        skills: SkillsHandle::new(Arc::clone(&admin_ports), &views),
        components,
        policy,
        grants: GrantsHandle::new(Arc::clone(&admin_ports), &views, owner),
        project_rules: project_rules(&ports, &views.project_rules),
        usage: usage(&admin_ports, &engine),
        memories,
        erasures,
    };
    Ok(GatewayRuntimeState {
        runs: RunsHandle::new(Arc::clone(&engine), sessions.clone(), undoing, owner),
        models: models(&ports, engine.conversations.ports().budgets.clone()),
        waiting: waiting_handles(engine, &sessions, owner, notifications),
        tapes,
        journal: JournalHandle::new(&ports.maintain, &ports.proofs, &ports.backups),
        health,
        sessions,
        agents,
        admin,
        schedules: spawned.schedules,
    })
}

fn usage(admin_ports: &Arc<palyra_admin::AdminPorts>, engine: &Engine) -> UsageHandle {
    let zones = Arc::clone(&engine.runs.ports.zones);
    UsageHandle::new(Arc::clone(admin_ports), Arc::clone(&engine.views.budgets), zones)
}

fn waiting_handles(
    engine: Arc<Engine>,
    sessions: &SessionsHandle,
    owner: PrincipalId,
    notifications: NotificationsHandle,
) -> WaitingHandles {
    let attention = AttentionHandle::new(Arc::clone(&engine.ports.families));
    WaitingHandles {
        approvals: ApprovalsHandle::new(engine, sessions.clone(), owner),
        attention,
        notifications,
    }
}

/// Ends what an earlier process left open, and takes its open runs up.
async fn settle_earlier_work(
    background: &BackgroundDriver,
    engine: &Arc<Engine>,
    sessions: &SessionsHandle,
    undoing: &UndoService,
) -> Result<(), StartError> {
    let admin_ports = Arc::new(engine.ports.for_admin());
    background.at_start("open_undos", undoing.finish_open()).await;
    background.at_start("lost_jobs", palyra_admin::doubt_lost_jobs(&admin_ports)).await;
    background.at_start("lost_requests", engine.views.budgets.end_lost(&engine.runs.ports.zones)).await;
    let recovered = crate::recovery::take_up_open_runs(&engine.ports, sessions).await?;
    tracing::info!(runs = recovered, "open runs taken up");
    Ok(())
}

/// What the upkeep of journal and sessions needs.
struct UpkeepSetup {
    erasures: ErasureHandle,
    owner: PrincipalId,
    configured: ConfiguredWork,
}

/// Work whose times or targets the configuration gives.
#[derive(Clone)]
struct ConfiguredWork {
    config: watch::Receiver<Arc<GatewayRuntimeConfigSnapshot>>,
    backups: ScheduleSource<GatewayRuntimeConfigSnapshot>,
    notifications: NotificationSetup<GatewayRuntimeConfigSnapshot>,
}

impl ConfiguredWork {
    fn new(
        ports: &RuntimePorts,
        owner: PrincipalId,
        config: watch::Receiver<Arc<GatewayRuntimeConfigSnapshot>>,
    ) -> Self {
        let backups = ScheduleSource::new(config.clone(), |config| config.backups.clone());
        let notifications = notifications(ports, owner, &config);
        Self { config, backups, notifications }
    }
}

fn spawn_tasks(
    background: &BackgroundDriver,
    memories: &MemoriesHandle,
    starter: ScheduledRunStarter,
    facts: DaemonFacts,
    upkeep: UpkeepSetup,
) -> SpawnedQueue {
    let engine = Arc::clone(&starter.engine);
    let sessions = starter.sessions.clone();
    let ports = &engine.ports;
    let queue_ports = QueuePorts {
        recorder: ports.recorder.clone(),
        families: Arc::clone(&ports.families),
        redactor: Arc::clone(&ports.redactor),
        clock: Arc::clone(&ports.clock),
        entropy: Arc::clone(&ports.entropy),
    };
    let UpkeepSetup { erasures, owner, configured } = upkeep;
    let ConfiguredWork { config, backups, notifications } = configured;
    let views = &engine.views;
    let configured = config.clone();
    let learning: LearningConfigNow = Arc::new(move || configured.borrow().learning);
    let archiver = Arc::new(sessions.clone());
    let handlers: Vec<Arc<dyn TaskHandler>> = vec![
        Arc::new(CompactionHandler::new(engine.conversations.clone())),
        Arc::new(JournalCareHandler::new(Arc::clone(&ports.maintain), config.clone())),
        Arc::new(SessionCleanupHandler::new(
            Arc::clone(&ports.families),
            Arc::clone(&ports.clock),
            erasures,
            archiver,
            owner,
            config.clone(),
        )),
        Arc::new(BackupHandler::new(Arc::clone(&ports.backups), backups.reader())),
        Arc::new(notifications.handler()),
        Arc::new(ReflectionHandler::new(&engine.conversations, memories.clone(), Arc::clone(&learning))),
    ];
    let changes = starter.tapes.attention_changes();
    let spawned = spawn_with_queue(background, queue_ports, handlers, starter, facts);
    let queue = &spawned.queue;
    let attention = vec![changes, spawned.schedules.watch_changes(), memories.watch_learned()];
    background.spawn(notifications.planner(queue.clone(), attention));
    let maintain = Arc::clone(&ports.maintain);
    let clock = Arc::clone(&ports.clock);
    background.spawn(JournalCareTimer::new(maintain, Arc::clone(&clock), queue.clone(), config.clone()));
    background.spawn(SessionCleanupTimer::new(Arc::clone(&ports.families), clock, queue.clone(), config));
    background.spawn(BackupTimer::new(queue.clone(), Arc::clone(&ports.clock), backups));
    background.spawn(MemoryExpiry::new(ports.for_admin().for_memory(), Arc::clone(&views.memories)));
    background.spawn(ApprovalExpiry::new(Arc::clone(&engine), sessions.clone()));
    background.spawn(budget_waits(&engine, &sessions));
    background.spawn(engine.compaction_watch.task(engine.conversations.clone(), queue.clone()));
    background.spawn(engine.conversations.completed().task(
        queue.clone(),
        learning,
        Arc::clone(&ports.clock),
    ));
    background.spawn(ShadowCounting::new(Arc::clone(&views.shadow)));
    spawned
}

fn healing_parts(
    engine: &Arc<Engine>,
    canceller: RunCanceller,
    queue: BackgroundQueue,
    access: AccessHandle,
) -> HealingParts {
    let config = engine.config.clone();
    HealingParts {
        runs: Arc::new(RunHealer { engine: Arc::clone(engine), canceller }),
        queue,
        reaches_approver: Arc::new(move || !access.reach().is_empty()),
        times: engine.config.borrow().healing_times,
        configured: Arc::new(move || config.borrow().healing),
    }
}

fn erasures(
    engine: &Engine,
    stopper: RunCanceller,
    subscribers: Vec<Arc<dyn ErasureSubscriber>>,
) -> ErasureHandle {
    let exclusion = engine.conversations.ports().erasures.clone();
    ErasureHandle::new(Arc::new(engine.ports.for_admin()), Arc::new(stopper), subscribers, exclusion)
}

fn run_canceller(ports: &RuntimePorts, sessions: &SessionsHandle, tapes: &TapeHandle) -> RunCanceller {
    RunCanceller { sessions: sessions.clone(), tapes: tapes.clone(), clock: Arc::clone(&ports.clock) }
}

fn memories(ports: MemoryPorts, engine: &Engine) -> MemoriesHandle {
    let erasures = engine.conversations.ports().erasures.clone();
    let zones = Arc::clone(&engine.runs.ports.zones);
    MemoriesHandle::new(ports, Arc::clone(&engine.views.memories), zones, erasures)
}

fn models(ports: &RuntimePorts, budgets: AuxiliaryBudgets) -> ModelsHandle {
    ModelsHandle::new(&ports.models, &ports.clock, &ports.redactor, &ports.recorder, budgets)
}

fn project_rules(ports: &RuntimePorts, rules: &Arc<ProjectRules>) -> ProjectRulesHandle {
    ProjectRulesHandle::new(rules, &ports.recorder, &ports.workspaces, &ports.clock)
}

fn budget_waits(engine: &Engine, sessions: &SessionsHandle) -> BudgetWaits {
    let book = Arc::clone(&engine.views.budgets);
    let zones = Arc::clone(&engine.runs.ports.zones);
    BudgetWaits::new(book, Arc::clone(&engine.ports.maintain), Arc::new(sessions.clone()), zones)
}

async fn settle_vault(vault: &VaultHandle) -> Result<(), TickFailure> {
    vault.settle().await.map_err(|error| {
        TickFailure::new(format_args!("a change of the vault is recorded and not carried out: {error}"))
    })
}
