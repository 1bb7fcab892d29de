//! A queue with a handler that does what a test wrote down.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_journal_core::families::queued_tasks::TaskQuery;
use palyra_journal_core::family::ReadFamilies;
use palyra_ports::{AppendTape, Clock, MaintainJournal, Recorder};
use palyra_testkit::{FakeClock, FixedEntropy, MemoryJournal, PassThrough};
use palyra_types::access::ActorIdentity;
use palyra_types::event::JournalEvent;
use palyra_types::queued_task::{OrchestratorBackgroundTaskRecord, TaskKey, TaskKind, TaskStage};
use palyra_types::surface::Surface;
use palyra_types::{Content, PrincipalId, QueuedTaskId, Seq, SessionId, Timestamp};

use super::super::*;
use crate::drain::Drain;
use crate::driver::BackgroundDriver;
use crate::status::BackgroundStatus;

/// What a worker does with a task.
#[derive(Debug, Clone, Copy)]
pub(super) enum Script {
    Complete,
    Fail,
    Doubt,
    Panic,
    /// Stops when it is asked to.
    UntilStopped,
    /// Neither ends nor stops.
    Deaf,
    /// Shows heartbeats for a while, and completes its task.
    Slow,
}

/// Heartbeats of a slow worker.
const SLOW_STEPS: u64 = 4;

/// What happened outside of the journal; survives a restart.
#[derive(Debug, Default)]
pub(super) struct World {
    scripts: BTreeMap<TaskKind, VecDeque<Script>>,
    leases: Vec<TaskLease>,
    pub(super) effects: BTreeMap<QueuedTaskId, u32>,
    pub(super) at_work: usize,
    pub(super) at_work_max: usize,
}

impl World {
    /// Lets the next workers of a kind do this; later ones complete their tasks.
    pub(super) fn script(&mut self, kind: TaskKind, scripts: impl IntoIterator<Item = Script>) {
        self.scripts.entry(kind).or_default().extend(scripts);
    }
}

#[derive(Clone)]
pub(super) struct ScriptedHandler {
    pub(super) kind: TaskKind,
    pub(super) world: Arc<Mutex<World>>,
    clock: FakeClock,
}

pub(super) fn locked(world: &Mutex<World>) -> MutexGuard<'_, World> {
    world.lock().unwrap_or_else(PoisonError::into_inner)
}

impl TaskHandler for ScriptedHandler {
    fn kind(&self) -> TaskKind {
        self.kind
    }

    fn run(&self, work: TaskWork) -> BoxFuture<'static, TaskEnd> {
        let this = self.clone();
        assert_eq!(work.payload.expose(), "do it");
        let script = {
            let mut world = locked(&this.world);
            world.leases.push(work.lease.clone());
            world.at_work += 1;
            world.at_work_max = world.at_work_max.max(world.at_work);
            world.scripts.get_mut(&this.kind).and_then(VecDeque::pop_front).unwrap_or(Script::Complete)
        };
        async move {
            tokio::task::yield_now().await;
            let end = match script {
                Script::Complete => {
                    *locked(&this.world).effects.entry(work.task).or_default() += 1;
                    TaskEnd::Completed
                }
                Script::Fail => TaskEnd::Failed(Content::from("no room")),
                Script::Doubt => TaskEnd::InDoubt(Content::from("the line broke")),
                Script::Panic => panic!("a fault"),
                Script::UntilStopped => {
                    work.lease.stop_requested().await;
                    TaskEnd::Stopped
                }
                Script::Deaf => std::future::pending().await,
                Script::Slow => {
                    for marker in 1..=SLOW_STEPS {
                        let step = this.clock.boot().after(Duration::from_secs(40));
                        this.clock.sleep_until(step).await;
                        if !work.lease.heartbeat(marker) {
                            return TaskEnd::Stopped;
                        }
                    }
                    *locked(&this.world).effects.entry(work.task).or_default() += 1;
                    TaskEnd::Completed
                }
            };
            locked(&this.world).at_work -= 1;
            end
        }
        .boxed()
    }
}

pub(super) struct Rig {
    pub(super) clock: FakeClock,
    pub(super) drain: Drain,
    pub(super) journal: MemoryJournal,
    pub(super) queue: BackgroundQueue,
    status: BackgroundStatus,
    world: Arc<Mutex<World>>,
}

pub(super) const KINDS: [TaskKind; 4] =
    [TaskKind::SessionCleanup, TaskKind::OutboxSend, TaskKind::Backup, TaskKind::JournalCare];

pub(super) fn ports(
    append: Arc<dyn AppendTape>,
    families: Arc<dyn ReadFamilies>,
    clock: &FakeClock,
    seed: u64,
) -> QueuePorts {
    let clock: Arc<dyn Clock> = Arc::new(clock.clone());
    let redactor = Arc::new(PassThrough);
    let recorder = Recorder::new(append, Arc::clone(&redactor) as Arc<_>, Arc::clone(&clock));
    QueuePorts { recorder, families, redactor, clock, entropy: Arc::new(FixedEntropy::new(seed)) }
}

pub(super) fn handlers(world: &Arc<Mutex<World>>, clock: &FakeClock) -> Vec<Arc<dyn TaskHandler>> {
    let handler = |kind| {
        Arc::new(ScriptedHandler { kind, world: Arc::clone(world), clock: clock.clone() })
            as Arc<dyn TaskHandler>
    };
    KINDS.map(handler).into()
}

pub(super) fn new_task(kind: TaskKind, subject: u8) -> NewTask {
    NewTask {
        kind,
        principal: PrincipalId::from_parts(9, 1),
        session: Some(SessionId::from_parts(9, 2)),
        key: Some(TaskKey([subject; 16])),
        due: None,
        payload: "do it".into(),
    }
}

pub(super) fn actor() -> ActorIdentity {
    let principal = PrincipalId::from_parts(9, 7);
    ActorIdentity { principal, credential: None, surface: Surface::LocalSocket }
}

impl Rig {
    pub(super) fn start() -> Self {
        Self::on(MemoryJournal::new(), FakeClock::new(), Arc::default())
    }

    pub(super) fn on(journal: MemoryJournal, clock: FakeClock, world: Arc<Mutex<World>>) -> Self {
        let seed = journal.status().entries;
        let (append, families) = (Arc::new(journal.clone()), Arc::new(journal.clone()));
        let drain = Drain::default();
        let driver = BackgroundDriver::new(Arc::new(clock.clone()), drain.clone());
        let ports = ports(append, families, &clock, seed);
        let queue = spawn_background_queue_loop(&driver, ports, handlers(&world, &clock));
        Self { clock, drain, journal, queue, status: driver.status(), world }
    }

    /// Starts again over the same journal.
    pub(super) fn restarted(&self) -> Self {
        Self::on(self.journal.restarted(), self.clock.clone(), Arc::clone(&self.world))
    }

    pub(super) fn now(&self) -> Timestamp {
        self.clock.wall()
    }

    /// Lets the next workers of a kind do this; later ones complete their tasks.
    pub(super) fn script(&self, kind: TaskKind, scripts: impl IntoIterator<Item = Script>) {
        locked(&self.world).script(kind, scripts);
    }

    pub(super) async fn enqueue(&self, task: NewTask) -> EnqueueReceipt {
        self.queue.enqueue(task).await.unwrap()
    }

    /// Lets everything happen that can happen at this time.
    pub(super) async fn quiet(&self) {
        for _ in 0..64 {
            tokio::task::yield_now().await;
        }
    }

    pub(super) async fn all(&self) -> Vec<OrchestratorBackgroundTaskRecord> {
        self.queue.list(TaskQuery { limit: 500, ..TaskQuery::default() }).await.unwrap()
    }

    pub(super) async fn record(&self, task: QueuedTaskId) -> OrchestratorBackgroundTaskRecord {
        self.all().await.into_iter().find(|record| record.task == task).unwrap()
    }

    pub(super) async fn stage(&self, task: QueuedTaskId) -> TaskStage {
        self.record(task).await.stage
    }

    /// Waits until a task is in a stage.
    pub(super) async fn stage_is(&self, task: QueuedTaskId, stage: TaskStage) {
        for _ in 0..2_000 {
            if self.stage(task).await == stage {
                return;
            }
            tokio::task::yield_now().await;
        }
        panic!("expected {stage:?}: {:?}", self.record(task).await);
    }

    /// Returns how many attempts began.
    pub(super) fn begun(&self) -> usize {
        locked(&self.world).leases.len()
    }

    pub(super) async fn begun_is(&self, number: usize) {
        for _ in 0..2_000 {
            if self.begun() == number {
                return;
            }
            tokio::task::yield_now().await;
        }
        panic!("{} attempts began, and not {number}", self.begun());
    }

    pub(super) fn lease(&self, attempt: usize) -> TaskLease {
        locked(&self.world).leases[attempt].clone()
    }

    pub(super) fn effects(&self, task: QueuedTaskId) -> u32 {
        locked(&self.world).effects.get(&task).copied().unwrap_or(0)
    }

    pub(super) async fn task_entries(&self) -> usize {
        let entries = self.journal.entries(Seq(0), 500).await.unwrap();
        entries.iter().filter(|entry| matches!(entry.event, JournalEvent::Task(_))).count()
    }

    pub(super) fn ticks(&self) -> u64 {
        self.status.all().iter().map(|task| task.ticks).sum()
    }
}
