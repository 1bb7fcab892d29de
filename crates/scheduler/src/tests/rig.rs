//! Schedules over the memory journal, with runs that end when a test says so.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_admin::{AdminError, Caller};
use palyra_background::queue::{QueuePorts, spawn_background_queue_loop};
use palyra_background::{BackgroundDriver, BackgroundStatus, Drain};
use palyra_ports::{AppendClass, Clock, MaintainJournal, NewEntry, Recorder};
use palyra_schedule::digest_of;
use palyra_testkit::{FakeClock, FixedEntropy, MemoryJournal, PassThrough};
use palyra_types::event::JournalEvent;
use palyra_types::schedule::{
    MissedRule, OccurrenceOutcome, OccurrenceStage, OverlapRule, ScheduleEvent, ScheduleRules,
};
use palyra_types::{AgentId, Content, PrincipalId, RunId, ScheduleId, Seq, Timestamp};
use tokio::sync::watch;

use crate::occurrence_check::{AgentFacts, CreatorFacts, ScheduleFacts};
use crate::scheduled_run::{RunNotStarted, ScheduledRun, StartScheduledRuns, StartedRun};
use crate::{DraftAction, DraftTimes, ScheduleDraft, SchedulePorts, SchedulesHandle, SchedulesStart};

/// What is outside of the journal; survives a restart.
#[derive(Default)]
pub(super) struct World {
    /// Every start, by its key.
    pub(super) starts: Vec<String>,
    runs: BTreeMap<String, RunId>,
    ends: BTreeMap<RunId, watch::Sender<Option<OccurrenceOutcome>>>,
    pub(super) cancelled: Vec<RunId>,
    pub(super) disabled: BTreeSet<PrincipalId>,
    pub(super) instructions: String,
    pub(super) refusal: Option<RunNotStarted>,
}

#[derive(Clone, Default)]
pub(super) struct SharedWorld(Arc<Mutex<World>>);

impl SharedWorld {
    pub(super) fn lock(&self) -> MutexGuard<'_, World> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ScheduleFacts for SharedWorld {
    fn creator(&self, principal: PrincipalId) -> CreatorFacts {
        CreatorFacts { is_active: !self.lock().disabled.contains(&principal), may_start_runs: true }
    }

    fn agent_named(&self, name: Option<&str>) -> Result<AgentFacts, AdminError> {
        let is_known = name.is_none_or(|name| name == "main");
        self.agent(agent()).filter(|_| is_known).ok_or(AdminError::AgentNotFound)
    }

    fn agent(&self, id: AgentId) -> Option<AgentFacts> {
        let profile = digest_of(&self.lock().instructions);
        (id == agent()).then(|| AgentFacts { id, name: "main".to_owned(), profile })
    }
}

impl StartScheduledRuns for SharedWorld {
    fn start(&self, run: ScheduledRun) -> BoxFuture<'_, Result<StartedRun, RunNotStarted>> {
        let key = run.idempotency_key().expose().clone();
        let mut world = self.lock();
        world.starts.push(key.clone());
        if let Some(refusal) = world.refusal.clone() {
            return std::future::ready(Err(refusal)).boxed();
        }
        let number = world.runs.len() as u128;
        let run = *world.runs.entry(key).or_insert(RunId::from_parts(3, number));
        let mut end = world.ends.entry(run).or_insert_with(|| watch::Sender::new(None)).subscribe();
        let end = async move { end.wait_for(Option::is_some).await.ok().and_then(|outcome| *outcome) };
        std::future::ready(Ok(StartedRun { run, end: end.boxed() })).boxed()
    }

    fn cancel(&self, _principal: PrincipalId, run: RunId) -> BoxFuture<'_, Result<(), RunNotStarted>> {
        self.lock().cancelled.push(run);
        std::future::ready(Ok(())).boxed()
    }
}

fn agent() -> AgentId {
    AgentId::from_parts(1, 1)
}

pub(super) struct Rig {
    pub(super) clock: FakeClock,
    pub(super) journal: MemoryJournal,
    pub(super) world: SharedWorld,
    pub(super) schedules: SchedulesHandle,
    pub(super) status: BackgroundStatus,
    recorder: Recorder,
    drain: Drain,
}

pub(super) fn person(number: u128) -> PrincipalId {
    PrincipalId::from_parts(9, number)
}

pub(super) fn me() -> Caller {
    Caller::at_socket(person(1))
}

pub(super) fn draft(times: DraftTimes, missed: MissedRule, overlap: OverlapRule) -> ScheduleDraft {
    ScheduleDraft {
        name: None,
        times,
        zone: Some("UTC".to_owned()),
        rules: ScheduleRules { missed, overlap, jitter_seconds: 0 },
        action: DraftAction::Run { prompt: Content::from("Read my mail."), agent: None },
    }
}

/// Returns a draft for every hour, with the simplest rules.
pub(super) fn hourly() -> ScheduleDraft {
    draft(DraftTimes::Cron("0 * * * *".to_owned()), MissedRule::Skip, OverlapRule::Forbid)
}

impl Rig {
    pub(super) fn start() -> Self {
        Self::on(MemoryJournal::new(), FakeClock::new(), SharedWorld::default())
    }

    pub(super) fn on(journal: MemoryJournal, clock: FakeClock, world: SharedWorld) -> Self {
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
        let ports = SchedulePorts {
            recorder: recorder.clone(),
            families: Arc::new(journal.clone()),
            redactor,
            clock: shared,
            entropy: Arc::new(FixedEntropy::new(seed + 1_000_003)),
            facts: Arc::new(world.clone()),
            zone_of: Arc::new(|_| jiff::tz::TimeZone::UTC),
            occurrences: Arc::default(),
        };
        let start = SchedulesStart::new(ports, Arc::new(world.clone()));
        let queue =
            spawn_background_queue_loop(&driver, queue_ports, vec![Arc::new(start.handler()) as Arc<_>]);
        let schedules = start.spawn(&driver, queue);
        Self { clock, journal, world, schedules, status: driver.status(), recorder, drain }
    }

    /// Ends the process at once, and starts again over the same journal.
    pub(super) fn restarted(&self) -> Self {
        self.drain.begin();
        Self::on(self.journal.restarted(), self.clock.clone(), self.world.clone())
    }

    /// Lets everything happen that can happen at this time.
    pub(super) async fn quiet(&self) {
        for _ in 0..400 {
            tokio::task::yield_now().await;
        }
    }

    pub(super) async fn advance(&self, minutes: u64) {
        for _ in 0..minutes {
            self.clock.advance(Duration::from_secs(60));
            self.quiet().await;
        }
    }

    /// Moves the clock while no daemon runs.
    pub(super) fn pass_minutes(&self, minutes: u64) {
        self.clock.advance(Duration::from_secs(60 * minutes));
    }

    pub(super) async fn create(&self, draft: ScheduleDraft) -> ScheduleId {
        self.schedules.create(me(), draft).await.unwrap()
    }

    /// Records events as if a process had ended right after them.
    pub(super) async fn record(&self, principal: PrincipalId, events: Vec<ScheduleEvent>) {
        let time = self.clock.wall();
        let entry = |event: ScheduleEvent| NewEntry {
            time,
            principal,
            session: None,
            run: None,
            event: event.into(),
        };
        let entries = events.into_iter().map(entry).collect();
        self.recorder.record(entries, AppendClass::Normal, Vec::new()).await.unwrap();
    }

    /// Returns planned minute and stage of the occurrences, oldest first.
    pub(super) async fn stages(&self, schedule: ScheduleId) -> Vec<(i64, OccurrenceStage)> {
        let details = self.schedules.get(me(), schedule).await.unwrap();
        let mut stages: Vec<_> =
            details.occurrences.iter().map(|one| (minute(one.planned), one.stage)).collect();
        stages.reverse();
        stages
    }

    pub(super) fn starts(&self) -> Vec<String> {
        self.world.lock().starts.clone()
    }

    /// Ends the run that was started last.
    pub(super) async fn end_latest(&self, outcome: OccurrenceOutcome) {
        let latest = self.world.lock().ends.last_key_value().map(|(_, end)| end.clone()).unwrap();
        latest.send_replace(Some(outcome));
        self.quiet().await;
    }

    pub(super) async fn schedule_entries(&self) -> Vec<(Seq, ScheduleEvent)> {
        let entries = self.journal.entries(Seq(0), 1_000).await.unwrap();
        let of = entries.into_iter().filter_map(|entry| match entry.event {
            JournalEvent::Schedule(event) => Some((entry.seq, event)),
            _ => None,
        });
        of.collect()
    }

    pub(super) fn ticks(&self) -> u64 {
        self.status.all().iter().filter(|task| task.name == "schedules").map(|task| task.ticks).sum()
    }
}

/// Returns the minute of a time since the clock began.
pub(super) fn minute(time: Timestamp) -> i64 {
    (time.0 - palyra_testkit::fake_clock::FAKE_WALL_START.0) / 60_000_000
}
