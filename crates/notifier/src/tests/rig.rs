//! Notifications over the memory journal, with targets that answer as a test wrote down.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_background::queue::{BackgroundQueue, QueuePorts, TaskQuery, spawn_background_queue_loop};
use palyra_background::{BackgroundDriver, Drain};
use palyra_journal_core::families::deliveries::{self, DeliveryQuery};
use palyra_journal_core::family::QueryFamilies;
use palyra_ports::{
    AppendTape, Clock, DeliverError, DeliverMessages, DeliverySettings, DeliveryTarget, MaintainJournal,
    NewEntry, OutboundMessage, QuietTimes, Recorder,
};
use palyra_testkit::journal_suite::approval_entries::asked;
use palyra_testkit::journal_suite::samples::{self, SampleRun};
use palyra_testkit::{FakeClock, FixedEntropy, MemoryJournal, PassThrough};
use palyra_types::delivery::{DeliveryRecord, DeliveryStage, DeliveryTargetKind};
use palyra_types::queued_task::OrchestratorBackgroundTaskRecord;
use tokio::sync::watch;

use crate::{NotificationSetup, NotificationsHandle, NotifierParts, SettingsSource};

/// How a target answers.
#[derive(Debug, Clone)]
pub(super) enum Answer {
    Fails(DeliverError),
    /// Neither takes nor refuses the message.
    Never,
}

/// What is outside of the journal; survives a restart.
#[derive(Default)]
pub(super) struct World {
    /// What targets were sent, in order: id and body.
    pub(super) sent: Vec<(String, String)>,
    /// How targets answer next; they take every message after that.
    pub(super) answers: VecDeque<Answer>,
}

#[derive(Clone, Default)]
pub(super) struct SharedWorld(Arc<Mutex<World>>);

impl SharedWorld {
    pub(super) fn lock(&self) -> MutexGuard<'_, World> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl DeliverMessages for SharedWorld {
    fn deliver(&self, message: OutboundMessage) -> BoxFuture<'static, Result<(), DeliverError>> {
        let mut world = self.lock();
        world.sent.push((message.key.message_id(), message.body.into_exposed()));
        match world.answers.pop_front() {
            None => std::future::ready(Ok(())).boxed(),
            Some(Answer::Fails(error)) => std::future::ready(Err(error)).boxed(),
            Some(Answer::Never) => std::future::pending().boxed(),
        }
    }
}

pub(super) struct Rig {
    pub(super) clock: FakeClock,
    pub(super) journal: MemoryJournal,
    pub(super) world: SharedWorld,
    pub(super) queue: BackgroundQueue,
    pub(super) handle: NotificationsHandle,
    pub(super) parts: NotifierParts,
    pub(super) settings: watch::Sender<Arc<DeliverySettings>>,
    attention: watch::Sender<u64>,
    drain: Drain,
}

pub(super) fn to(kinds: &[DeliveryTargetKind]) -> DeliverySettings {
    let target = |kind: &DeliveryTargetKind| DeliveryTarget { kind: *kind, name: kind.as_str().to_owned() };
    DeliverySettings {
        targets: kinds.iter().map(target).collect(),
        quiet: None,
        console_origin: "http://palyra.localhost:7787".to_owned(),
    }
}

pub(super) fn quiet(from: &str, until: &str, settings: DeliverySettings) -> DeliverySettings {
    let times = QuietTimes { from: from.to_owned(), until: until.to_owned(), zone: String::new() };
    DeliverySettings { quiet: Some(times), ..settings }
}

impl Rig {
    pub(super) fn start(settings: DeliverySettings) -> Self {
        Self::on(MemoryJournal::new(), FakeClock::new(), SharedWorld::default(), settings)
    }

    fn on(journal: MemoryJournal, clock: FakeClock, world: SharedWorld, settings: DeliverySettings) -> Self {
        let seed = journal.status().entries;
        let drain = Drain::default();
        let driver = BackgroundDriver::new(Arc::new(clock.clone()), drain.clone());
        let shared: Arc<dyn Clock> = Arc::new(clock.clone());
        let redactor = Arc::new(PassThrough);
        let recorder =
            Recorder::new(Arc::new(journal.clone()), Arc::clone(&redactor) as Arc<_>, Arc::clone(&shared));
        let queue_ports = QueuePorts {
            recorder: recorder.clone(),
            families: Arc::new(journal.clone()),
            redactor: Arc::clone(&redactor) as Arc<_>,
            clock: Arc::clone(&shared),
            entropy: Arc::new(FixedEntropy::new(seed)),
        };
        let parts = NotifierParts {
            recorder,
            families: Arc::new(journal.clone()),
            redactor,
            clock: shared,
            deliver: Arc::new(world.clone()),
            owner: samples::principal(0),
        };
        let (settings, seen) = watch::channel(Arc::new(settings));
        let source = SettingsSource::new(seen, DeliverySettings::clone);
        let notifications = NotificationSetup::new(parts.clone(), source);
        let handler = notifications.handler();
        let queue = spawn_background_queue_loop(&driver, queue_ports, vec![Arc::new(handler) as Arc<_>]);
        let (attention, changes) = watch::channel(0);
        driver.spawn(notifications.planner(queue.clone(), vec![changes]));
        let handle = notifications.handle(queue.clone());
        Self { clock, journal, world, queue, handle, parts, settings, attention, drain }
    }

    /// Ends the process at once, and starts again over the same journal.
    pub(super) fn killed_and_restarted(&self) -> Self {
        self.drain.begin();
        let settings = self.settings.borrow().as_ref().clone();
        Self::on(self.journal.restarted(), self.clock.clone(), self.world.clone(), settings)
    }

    /// Lets everything happen that can happen at this time.
    pub(super) async fn settle(&self) {
        for _ in 0..400 {
            tokio::task::yield_now().await;
        }
    }

    pub(super) async fn advance(&self, seconds: u64) {
        self.clock.advance(std::time::Duration::from_secs(seconds));
        self.settle().await;
    }

    pub(super) async fn append(&self, mut entries: Vec<NewEntry>) {
        for entry in &mut entries {
            entry.time = self.clock.wall();
        }
        self.journal.append(samples::append(entries)).await.unwrap();
        self.attention.send_modify(|changes| *changes += 1);
    }

    /// Says that something else may wait.
    pub(super) async fn look_again(&self) {
        self.attention.send_modify(|changes| *changes += 1);
        self.settle().await;
    }

    /// Lets a run of the owner ask for an approval.
    pub(super) async fn ask(&self, number: u64, input: &str) -> SampleRun {
        let mut run = SampleRun::new(samples::session(samples::principal(0), number.into()), number);
        let mut entries = vec![run.started(input), run.requested(1), run.message(1, 1)];
        entries.extend(run.proposed(1));
        entries.push(asked(&mut run, number, 1, None));
        self.append(entries).await;
        self.settle().await;
        run
    }

    pub(super) async fn messages(&self) -> Vec<DeliveryRecord> {
        let query = DeliveryQuery { limit: 500, ..DeliveryQuery::default() };
        self.journal.query(move |rows, log| deliveries::records(rows, log, &query)).await.unwrap()
    }

    pub(super) async fn stages(&self) -> Vec<(DeliveryTargetKind, DeliveryStage)> {
        let mut stages: Vec<_> =
            self.messages().await.iter().map(|one| (one.target_kind, one.stage)).collect();
        stages.sort_unstable();
        stages
    }

    pub(super) async fn tasks(&self) -> Vec<OrchestratorBackgroundTaskRecord> {
        self.queue.list(TaskQuery { limit: 500, ..TaskQuery::default() }).await.unwrap()
    }

    /// Returns the ids of what targets were sent, in order.
    pub(super) fn sent_ids(&self) -> Vec<String> {
        self.world.lock().sent.iter().map(|(id, _)| id.clone()).collect()
    }

    pub(super) fn sent_bodies(&self) -> Vec<String> {
        self.world.lock().sent.iter().map(|(_, body)| body.clone()).collect()
    }
}
