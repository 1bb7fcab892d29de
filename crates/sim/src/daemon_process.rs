//! One life of the daemon: from its start to its crash, its orderly end, or rest.
//!
//! Owns the stepping: between any two polls of any two tasks stands one step of the driver, which lets the journal
//! work, lets time pass when nothing else is left to do, and may end everything. Invariant: one thread, one queue of
//! tasks in order of waking, time only by [`FakeClock`](palyra_testkit::FakeClock); nothing else decides what
//! happens next. Begin at [`live`].

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use futures::FutureExt;
use futures::future::{BoxFuture, ready};
use palyra_admin::healing::HealingModes;
use palyra_policy::ToolCallPolicySnapshot;
use palyra_ports::{
    Clock, Recorder, RestoreFiles, RestoreOrder, WorkspaceChoice, WorkspaceError, Workspaces,
};
use palyra_runtime::gateway;
use palyra_runtime::{GatewayRuntimeConfigSnapshot, GatewayRuntimeState, ModelDirectory, RuntimePorts};
use palyra_testkit::FixedEntropy;
use palyra_testkit::PassThrough;
use palyra_types::effect::RawUndoneFile;
use palyra_types::incident::SelfHealingMode;
use palyra_types::model::ModelRef;
use palyra_types::session::SessionRef;
use palyra_types::{BootTime, Content};
use tokio::sync::watch;

use crate::client::{self, Client, daily};
use crate::clock::SimClock;
use crate::fault::{Fault, Phase};
use crate::journal::{JournalProgress, SimJournal};
use crate::model::SimModel;
use crate::rules;
use crate::tools::SimTools;
use crate::world::SimWorld;

/// Steps of one life, at most; a life that needs more does not come to rest.
const STEPS_MAX: u64 = 400_000;
/// Steps of a life with faults before it is ended.
const STORMY_STEPS_MAX: u64 = 6_000;
/// How long a daemon with a quarantined journal is left alone, at most.
const QUARANTINE_SPAN_MAX: Duration = Duration::from_secs(8);
/// How long a daemon lives while nothing fails, at most.
const DAYS_MAX: Duration = Duration::from_secs(5 * 24 * 60 * 60);
/// How long the machine sleeps at once, at most.
const SUSPENDED_MAX: Duration = Duration::from_secs(9 * 60 * 60);
/// Of so many times that pass without work, the machine sleeps in one, or its clock is set.
const SUSPENDED_ONCE_IN: u64 = 150;
/// How long an orderly end is waited for, at most.
const DRAIN_SPAN_MAX: Duration = Duration::from_secs(40);

/// What a life is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LifePurpose {
    /// Clients act and faults strike.
    Storm,
    /// Clients only say again what has no answer, and everything comes to rest.
    Rest,
    /// Each client sees every run to its end.
    Look,
    /// Clients work and rest for days, and nothing fails.
    Days,
}

/// How a life ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LifeEnd {
    /// The daemon is gone, or could not start: another life follows.
    Gone,
    /// Clients have nothing left to do.
    Finished,
    /// Nothing happens any more, and nobody waits for any time to pass.
    AtRest,
    /// Something is wrong.
    Found,
}

/// What every life of a story begins with.
pub(crate) struct LifeSetup {
    pub(crate) world: Arc<SimWorld>,
    pub(crate) clients: Vec<Client>,
    pub(crate) config: GatewayRuntimeConfigSnapshot,
    pub(crate) entropy: Arc<FixedEntropy>,
    pub(crate) policy: watch::Sender<Arc<ToolCallPolicySnapshot>>,
}

/// Lives one life on a journal.
pub(crate) fn live(birth: &LifeSetup, journal: &SimJournal, purpose: LifePurpose) -> LifeEnd {
    let runtime = tokio::runtime::Builder::new_current_thread()
        // One task at a time between two steps of the driver.
        .event_interval(1)
        .build()
        .expect("a runtime without drivers needs nothing");
    let rounds = Arc::new(AtomicU64::new(0));
    let daemon = Arc::new(RunningDaemon::default());
    let end = runtime.block_on(async {
        tokio::spawn(sentinel(Arc::clone(&rounds)));
        let (ports, config) = ports(birth, journal, purpose);
        tokio::spawn(start(ports, config, Arc::clone(&daemon), birth, purpose));
        let mut driver = StepDriver::new(birth, journal, purpose, rounds, daemon);
        poll_fn(|context| driver.step(context)).await
    });
    birth.world.note(format_args!("the process ends: {end:?}"));
    drop(runtime);
    end
}

fn ports(
    birth: &LifeSetup,
    journal: &SimJournal,
    purpose: LifePurpose,
) -> (RuntimePorts, watch::Receiver<Arc<GatewayRuntimeConfigSnapshot>>) {
    let world = &birth.world;
    let model = Arc::new(SimModel::new(Arc::clone(world)));
    let directory = ModelDirectory::new(vec![model], ModelRef::new("sim", "first"), Vec::new());
    let directory = directory.with_fallbacks(vec![ModelRef::new("sim", "second")]);
    let (_, models) = watch::channel(Arc::new(directory));
    let mut config = birth.config.clone();
    if !matches!(purpose, LifePurpose::Storm | LifePurpose::Days) {
        // Its looks go on while something waits for a person, so nothing would come to rest.
        config.healing = HealingModes::all(SelfHealingMode::Disabled);
    }
    let (_, config) = watch::channel(Arc::new(config));
    let ports = RuntimePorts {
        recorder: Recorder::new(
            Arc::new(journal.clone()),
            Arc::new(PassThrough),
            Arc::new(SimClock::new(Arc::clone(world))),
        ),
        tapes: Arc::new(journal.clone()),
        families: Arc::new(journal.clone()),
        maintain: Arc::new(journal.memory().clone()),
        proofs: Arc::new(journal.memory().clone()),
        backups: Arc::new(palyra_ports::NoBackups),
        spare: Arc::new(palyra_ports::NoSpareFiles),
        artifacts: Arc::new(palyra_ports::NoArtifacts),
        notify: Arc::new(palyra_ports::NoTargets),
        erasures: Arc::new(journal.clone()),
        tools: Arc::new(SimTools::new(Arc::clone(world))),
        restore: Arc::new(NothingToRestore),
        kept: Arc::new(palyra_ports::NoKeptFiles),
        redactor: Arc::new(PassThrough),
        secrets: Arc::new(palyra_testkit::MemorySecrets::default()),
        components: Arc::new(palyra_testkit::NoComponents),
        skills: Arc::new(palyra_testkit::MemorySkillFolders::default()),
        memories: Arc::new(palyra_testkit::SharedWordSearch),
        workspaces: Arc::new(OneFolder),
        project_files: Arc::new(palyra_ports::NoProjectFiles),
        clock: Arc::new(SimClock::new(Arc::clone(world))),
        entropy: Arc::<FixedEntropy>::clone(&birth.entropy),
        models,
    };
    (ports, config)
}

/// What is known of the daemon under way.
#[derive(Default)]
struct RunningDaemon {
    state: Mutex<DaemonState>,
}

#[derive(Default, Clone)]
enum DaemonState {
    #[default]
    Starting,
    Failed,
    Up(Box<GatewayRuntimeState>),
    /// It was asked to come to rest.
    Draining,
    Drained,
}

impl RunningDaemon {
    fn is(&self, condition: DaemonState) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = condition;
    }

    fn condition(&self) -> DaemonState {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Starts the daemon, then its clients.
fn start(
    ports: RuntimePorts,
    config: watch::Receiver<Arc<GatewayRuntimeConfigSnapshot>>,
    daemon: Arc<RunningDaemon>,
    birth: &LifeSetup,
    purpose: LifePurpose,
) -> impl Future<Output = ()> + 'static {
    let (clients, world) = (birth.clients.clone(), Arc::clone(&birth.world));
    let policy = birth.policy.subscribe();
    async move {
        match gateway::start_with_policy(ports, policy, config).await {
            Ok(gateway) => {
                daemon.is(DaemonState::Up(Box::new(gateway.clone())));
                for client in clients {
                    let gateway = gateway.clone();
                    match purpose {
                        LifePurpose::Storm | LifePurpose::Rest => {
                            drop(tokio::spawn(client::live(client, gateway)));
                        }
                        LifePurpose::Days => drop(tokio::spawn(daily::live(client, gateway))),
                        LifePurpose::Look => drop(tokio::spawn(client::look_at_everything(client, gateway))),
                    }
                }
            }
            Err(error) => {
                world.note(format_args!("the daemon does not start: {error:?}"));
                daemon.is(DaemonState::Failed);
            }
        }
    }
}

/// Counts rounds of the queue of tasks: whoever is polled twice in a row is alone.
async fn sentinel(rounds: Arc<AtomicU64>) {
    poll_fn(|context: &mut Context<'_>| {
        rounds.fetch_add(1, Ordering::Relaxed);
        context.waker().wake_by_ref();
        Poll::Pending::<()>
    })
    .await;
}

/// Stands between any two polls.
struct StepDriver<'a> {
    birth: &'a LifeSetup,
    journal: &'a SimJournal,
    purpose: LifePurpose,
    rounds: Arc<AtomicU64>,
    daemon: Arc<RunningDaemon>,
    rounds_before: u64,
    alone: u32,
    steps: u64,
    over_at: Option<BootTime>,
    /// When a daemon that lives for days is stopped or killed.
    days_end: Option<BootTime>,
}

impl<'a> StepDriver<'a> {
    fn new(
        birth: &'a LifeSetup,
        journal: &'a SimJournal,
        purpose: LifePurpose,
        rounds: Arc<AtomicU64>,
        daemon: Arc<RunningDaemon>,
    ) -> Self {
        let is_of_days = purpose == LifePurpose::Days;
        let days_end = is_of_days.then(|| birth.world.clock.boot().after(birth.world.dice.span(DAYS_MAX)));
        Self {
            birth,
            journal,
            purpose,
            rounds,
            daemon,
            rounds_before: 0,
            alone: 0,
            steps: 0,
            over_at: None,
            days_end,
        }
    }

    fn step(&mut self, context: &mut Context<'_>) -> Poll<LifeEnd> {
        context.waker().wake_by_ref();
        let rounds = self.rounds.load(Ordering::Relaxed);
        if rounds > self.rounds_before {
            self.alone += 1;
        } else {
            self.alone = 0;
            self.steps += 1;
            self.birth.world.trace().steps += 1;
        }
        self.rounds_before = rounds;
        if !self.birth.world.oracle().findings().is_empty() {
            return Poll::Ready(LifeEnd::Found);
        }
        if self.steps > STEPS_MAX {
            self.birth.world.oracle().find("it never comes to rest: a run is never over".to_owned());
        }
        let idle = self.alone > 1;
        let working = self.journal.work();
        if working == JournalProgress::Done {
            self.alone = 0;
        }
        match self.ends(idle) {
            Some(end) => Poll::Ready(end),
            None if idle => self.pass_time(working),
            None => Poll::Pending,
        }
    }

    /// Decides whether the daemon ends here.
    fn ends(&mut self, idle: bool) -> Option<LifeEnd> {
        let world = &self.birth.world;
        let now = world.clock.boot();
        match self.daemon.condition() {
            DaemonState::Failed | DaemonState::Drained => return Some(LifeEnd::Gone),
            DaemonState::Starting | DaemonState::Up(_) | DaemonState::Draining => {}
        }
        if self.over_at.is_some_and(|over_at| now >= over_at) {
            return Some(LifeEnd::Gone);
        }
        if self.journal.is_quarantined() && self.over_at.is_none() {
            self.over_at = Some(now.after(world.dice.span(QUARANTINE_SPAN_MAX)));
        }
        if let Some(end) = self.days_end.filter(|end| now >= *end) {
            self.days_end = None;
            return self.end_days(end);
        }
        if self.purpose != LifePurpose::Storm {
            return None;
        }
        if self.birth.clients.iter().all(Client::is_done) || self.steps > STORMY_STEPS_MAX {
            return Some(LifeEnd::Finished);
        }
        // While nothing happens nothing new can be interrupted.
        if idle {
            return None;
        }
        let phases = if matches!(self.daemon.condition(), DaemonState::Starting) {
            [Phase::Idle].into()
        } else {
            world.oracle().phases()
        };
        let phases: Vec<Phase> = phases.into_iter().collect();
        let phase = phases[world.dice.index(phases.len())];
        if world.strikes(Fault::Crash, phase) {
            return Some(LifeEnd::Gone);
        }
        if world.strikes(Fault::ClockSet, phase) {
            world.set_clock();
        }
        if world.strikes(Fault::PolicyChanges, phase) {
            let other = world.dice.index(rules::all().len());
            world.note(format_args!("rules {other} are in force"));
            world.policy_changes();
            self.birth.policy.send_replace(Arc::clone(&rules::all()[other]));
        }
        if let DaemonState::Up(gateway) = self.daemon.condition()
            && world.strikes(Fault::Restart, phase)
        {
            self.drain(*gateway);
        }
        None
    }

    /// Ends a daemon that lived for days: it is asked to stop, or killed.
    fn end_days(&mut self, end: BootTime) -> Option<LifeEnd> {
        self.birth.world.note(format_args!("days are over since {}", end.0));
        match self.daemon.condition() {
            DaemonState::Up(gateway) if self.birth.world.dice.below(3) > 0 => {
                self.drain(*gateway);
                None
            }
            _ => Some(LifeEnd::Gone),
        }
    }

    /// Asks the daemon to come to rest, for a while.
    fn drain(&mut self, gateway: GatewayRuntimeState) {
        let world = &self.birth.world;
        self.over_at = Some(world.clock.boot().after(world.dice.span(DRAIN_SPAN_MAX)));
        self.daemon.is(DaemonState::Draining);
        let daemon = Arc::clone(&self.daemon);
        tokio::spawn(async move {
            gateway.sessions.drain().await;
            gateway.sessions.end_followers();
            daemon.is(DaemonState::Drained);
        });
    }

    /// Returns how long the machine sleeps beside the time until something happens; now and then its clock is set instead.
    fn suspended(&self) -> Duration {
        let world = &self.birth.world;
        if self.purpose != LifePurpose::Days || world.dice.below(SUSPENDED_ONCE_IN) > 0 {
            return Duration::ZERO;
        }
        if world.dice.below(2) == 0 {
            world.set_clock();
            return Duration::ZERO;
        }
        world.dice.span(SUSPENDED_MAX)
    }

    /// Lets time pass until something happens, unless the journal still has something to do without it.
    fn pass_time(&mut self, working: JournalProgress) -> Poll<LifeEnd> {
        let clock = &self.birth.world.clock;
        let now = clock.boot();
        let by_journal = match working {
            JournalProgress::Done | JournalProgress::Now => return Poll::Pending,
            JournalProgress::At(at) => Some(at),
            JournalProgress::Nothing => None,
        };
        let next =
            [clock.next_deadline(), by_journal, self.over_at, self.days_end].into_iter().flatten().min();
        match next {
            Some(at) => {
                clock.advance(at.since(now).saturating_add(self.suspended()));
                self.alone = 0;
                Poll::Pending
            }
            None => Poll::Ready(LifeEnd::AtRest),
        }
    }
}

/// Nobody takes changes back in a story.
struct NothingToRestore;

impl RestoreFiles for NothingToRestore {
    fn restore(&self, _order: RestoreOrder) -> BoxFuture<'static, Vec<RawUndoneFile>> {
        ready(Vec::new()).boxed()
    }
}

/// Gives every run the same folder, which nobody looks into.
struct OneFolder;

impl Workspaces for OneFolder {
    fn choose(
        &self,
        wanted: Option<&Content<std::path::PathBuf>>,
        _session: SessionRef,
    ) -> Result<WorkspaceChoice, WorkspaceError> {
        let root = wanted.cloned().unwrap_or_else(|| Content::new("/simulated".into()));
        Ok(WorkspaceChoice { root, note: None })
    }

    fn look(
        &self,
        wanted: Option<&Content<std::path::PathBuf>>,
        session: SessionRef,
    ) -> Result<WorkspaceChoice, WorkspaceError> {
        self.choose(wanted, session)
    }
}
