//! Many runs that wait for a person: no incident, no looks, and few rows at each look that something else causes.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use palyra_background::queue::{BackgroundQueue, QueuePorts, spawn_background_queue_loop};
use palyra_background::{BackgroundDriver, Drain};
use palyra_healing::HealingTimes;
use palyra_journal_core::families::incidents::IncidentQuery;
use palyra_journal_core::families::{approvals, runs};
use palyra_journal_core::family::{ReadFamilies, Snapshot, SnapshotQuery};
use palyra_ports::model_directory::ModelDirectory;
use palyra_ports::read_approvals::ApprovalQuery;
use palyra_ports::read_records::RECORD_PAGE_ROWS_MAX;
use palyra_ports::{AppendTape, Clock, NoArtifacts, NoSpareFiles, ReadError, Recorder};
use palyra_testkit::journal_suite::approval_entries::asked;
use palyra_testkit::journal_suite::samples::{SampleRun, append, principal, session};
use palyra_testkit::{FakeClock, FixedEntropy, MemoryJournal, PassThrough, RowCounter, ScriptedProvider};
use palyra_types::RunId;
use palyra_types::Timestamp;
use palyra_types::incident::{IncidentCause, IncidentSubject};
use palyra_types::model::ModelRef;
use palyra_types::run::{RunPhase, RunRecord, WaitReason};
use palyra_types::session::SessionRef;
use tokio::sync::watch;

use super::super::run_board::RunBoard;
use super::super::{HealRuns, IncidentView, SelfHealing};
use super::*;

const WAITS: RunPhase = RunPhase::Waiting(WaitReason::Approval);
const RUNS: usize = 10_000;
/// Runs whose entries are appended at once.
const RUNS_PER_APPEND: usize = 80;
/// Rows that one query may read: a page, which is read in two parts.
const ROWS_AT_ONCE_MAX: usize = 2 * RECORD_PAGE_ROWS_MAX;
const MINUTE: Duration = Duration::from_secs(60);

/// A journal that counts the rows that are read.
#[derive(Clone)]
struct CountedRows {
    journal: MemoryJournal,
    /// The most of one query, and all.
    rows: Arc<[AtomicUsize; 2]>,
}

impl ReadFamilies for CountedRows {
    fn run_query(&self, query: SnapshotQuery) -> BoxFuture<'static, Result<(), ReadError>> {
        let rows = Arc::clone(&self.rows);
        self.journal.run_query(Box::new(move |snapshot| {
            let mut counter = RowCounter::new(snapshot.rows);
            let done = query(Snapshot { rows: &mut counter, log: snapshot.log });
            rows[0].fetch_max(counter.seen(), Ordering::SeqCst);
            rows[1].fetch_add(counter.seen(), Ordering::SeqCst);
            done
        }))
    }
}

/// Runs that do as they are asked, in memory.
#[derive(Default)]
struct ListedRuns {
    board: RunBoard,
    cancelled: Mutex<Vec<RunId>>,
    /// Whether the wall clock is before the newest entry.
    is_clock_behind: AtomicBool,
}

impl HealRuns for ListedRuns {
    fn board(&self) -> &RunBoard {
        &self.board
    }

    fn resume(&self, _session: SessionRef) -> BoxFuture<'_, Result<(), TickFailure>> {
        async { Ok(()) }.boxed()
    }

    fn cancel(&self, _session: SessionRef, run: RunId) -> BoxFuture<'_, Result<(), TickFailure>> {
        self.cancelled.lock().unwrap().push(run);
        async { Ok(()) }.boxed()
    }

    fn expire_approvals(&self) {}

    fn may_expire(&self, _now: Timestamp) -> bool {
        !self.is_clock_behind.load(Ordering::SeqCst)
    }

    fn is_followed(&self, _run: RunId) -> bool {
        false
    }

    fn attention_changed(&self) {}
}

/// Self-healing in `auto` over a journal.
struct Healed {
    counted: CountedRows,
    clock: FakeClock,
    runs: Arc<ListedRuns>,
    /// Whether a person who may approve is reachable.
    reaches_approver: Arc<AtomicBool>,
    driver: BackgroundDriver,
    healing: SelfHealing,
    _models: watch::Sender<Arc<ModelDirectory>>,
}

impl Healed {
    fn start(journal: &MemoryJournal) -> Self {
        let fake = FakeClock::new();
        let clock: Arc<dyn Clock> = Arc::new(fake.clone());
        let driver = BackgroundDriver::new(Arc::clone(&clock), Drain::default());
        let counted = CountedRows { journal: journal.clone(), rows: Arc::default() };
        let recorder = Recorder::new(Arc::new(journal.clone()), Arc::new(PassThrough), Arc::clone(&clock));
        let provider = ScriptedProvider::new(Arc::clone(&clock));
        let default = ModelRef::new("scripted", "scripted");
        let directory = ModelDirectory::new(vec![Arc::new(provider)], default, Vec::new());
        let (keep, models) = watch::channel(Arc::new(directory));
        let runs = Arc::new(ListedRuns::default());
        let reaches_approver = Arc::new(AtomicBool::new(true));
        let reaches = Arc::clone(&reaches_approver);
        let ports = HealingPorts {
            recorder: recorder.clone(),
            families: Arc::new(counted.clone()),
            maintain: Arc::new(journal.clone()),
            spare: Arc::new(NoSpareFiles),
            artifacts: Arc::new(NoArtifacts),
            runs: Arc::clone(&runs) as _,
            queue: queue(&driver, recorder, journal, &clock),
            models,
            reaches_approver: Arc::new(move || reaches.load(Ordering::SeqCst)),
            configured: Arc::new(|| HealingModes::all(palyra_healing::SelfHealingMode::Auto)),
            times: HealingTimes::default(),
            clock,
            entropy: Arc::new(FixedEntropy::new(7)),
        };
        let healing = SelfHealing::start(&driver, ports);
        Self { counted, clock: fake, runs, reaches_approver, driver, healing, _models: keep }
    }

    async fn pass(&self, minutes: usize) {
        for _ in 0..minutes {
            self.clock.advance(MINUTE);
            settle().await;
        }
    }

    fn looks(&self) -> u64 {
        let tasks = self.driver.status().all();
        tasks.iter().find(|task| task.name == "self_healing").map_or(0, |task| task.ticks)
    }

    /// Returns the most rows of one query, and the rows of all, since the last time.
    fn rows(&self) -> [usize; 2] {
        [0, 1].map(|which: usize| self.counted.rows[which].swap(0, Ordering::SeqCst))
    }

    async fn incidents(&self) -> usize {
        self.views().await.len()
    }

    /// Returns all incidents as callers see them, the newest first.
    async fn views(&self) -> Vec<IncidentView> {
        let query = IncidentQuery { limit: 50, ..IncidentQuery::default() };
        let found = self.counted.journal.query(move |rows, log| incidents::records(rows, log, &query));
        found.await.unwrap().into_iter().map(|record| self.healing.view(record)).collect()
    }
}

fn queue(
    driver: &BackgroundDriver,
    recorder: Recorder,
    journal: &MemoryJournal,
    clock: &Arc<dyn Clock>,
) -> BackgroundQueue {
    let ports = QueuePorts {
        recorder,
        families: Arc::new(journal.clone()),
        redactor: Arc::new(PassThrough),
        clock: Arc::clone(clock),
        entropy: Arc::new(FixedEntropy::new(5)),
    };
    spawn_background_queue_loop(driver, ports, Vec::new())
}

async fn settle() {
    for _ in 0..200 {
        tokio::task::yield_now().await;
    }
}

/// Returns a journal with so many runs that wait for a person, and one more run that is to move.
async fn waiting(count: usize) -> (MemoryJournal, RunId) {
    let journal = MemoryJournal::new();
    let person = principal(1);
    for first in (0..count).step_by(RUNS_PER_APPEND) {
        let mut entries = Vec::new();
        for number in first..(first + RUNS_PER_APPEND).min(count) {
            let mut run = SampleRun::new(session(person, number as u128), number as u64);
            let question = |run: &mut SampleRun| asked(run, number as u64, 1, None);
            entries.extend([run.started("go"), run.requested(1), question(&mut run)]);
        }
        journal.append(append(entries)).await.unwrap();
    }
    let mut moving = SampleRun::new(session(person, count as u128), count as u64);
    journal.append(append(vec![moving.started("go"), moving.requested(1)])).await.unwrap();
    let open = journal.query(|rows, _| runs::open(rows)).await.unwrap();
    let waits = |run: &&RunRecord| run.phase == RunPhase::Waiting(WaitReason::Approval);
    assert_eq!((open.len(), open.iter().filter(waits).count()), (count + 1, count));
    (journal, moving.run)
}

#[tokio::test]
async fn ten_thousand_runs_that_wait_for_a_person_raise_no_incident_and_cost_no_looks() {
    let (journal, moving) = waiting(RUNS).await;
    let healed = Healed::start(&journal);
    let marker = healed.runs.board.begin(moving);
    marker.show_phase(RunPhase::Running);
    settle().await;
    // The look at the start reads all of them, page by page.
    let [most, all] = healed.rows();
    assert!(all > RUNS, "{all} rows");
    assert!(most < ROWS_AT_ONCE_MAX, "{most} rows at once");
    marker.show_phase(WAITS);
    healed.pass(2).await;
    let before = healed.looks();
    healed.pass(48 * 60).await;
    assert_eq!(healed.looks(), before, "runs that wait need no look");
    healed.rows();
    // Beside them, one run works all the time: each minute has a look.
    for piece in 0..30 {
        marker.show_phase(RunPhase::Running);
        marker.received();
        healed.pass(1).await;
        marker.show_phase(if piece % 2 == 0 { RunPhase::Running } else { WAITS });
    }
    let looks = healed.looks() - before;
    assert!((15..=31).contains(&looks), "{looks} looks in half an hour");
    let [most, all] = healed.rows();
    assert!(most < ROWS_AT_ONCE_MAX, "{most} rows at once");
    // All runs are read three times at most in that time, and otherwise a page of questions.
    let usual = ROWS_AT_ONCE_MAX;
    let limit = 4 * (RUNS + usual) + usize::try_from(looks).unwrap() * usual;
    assert!(all <= limit, "{all} rows, of {limit}");
    assert_eq!(healed.incidents().await, 0);
    assert!(healed.runs.cancelled.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_run_that_is_left_among_many_that_wait_is_found_within_its_window() {
    let (journal, moving) = waiting(3 * RECORD_PAGE_ROWS_MAX).await;
    let healed = Healed::start(&journal);
    let marker = healed.runs.board.begin(moving);
    marker.show_phase(RunPhase::Running);
    settle().await;
    healed.rows();
    drop(marker);
    healed.pass(3).await;
    assert_eq!(healed.incidents().await, 1, "no actor works on it");
    healed.pass(3).await;
    assert_eq!(*healed.runs.cancelled.lock().unwrap(), [moving], "it does not resume");
    let [_, all] = healed.rows();
    assert!(all < 8 * RECORD_PAGE_ROWS_MAX, "{all} rows: those that wait are not read again");
}

#[tokio::test]
async fn many_questions_that_nobody_sees_are_one_incident_until_a_person_is_reachable() {
    let count = 2 * RECORD_PAGE_ROWS_MAX + 3;
    let (journal, _) = waiting(count).await;
    let pending = ApprovalQuery { limit: RECORD_PAGE_ROWS_MAX, ..ApprovalQuery::default() };
    let newest = journal.query(move |rows, log| approvals::records(rows, log, &pending)).await.unwrap();
    let healed = Healed::start(&journal);
    healed.reaches_approver.store(false, Ordering::SeqCst);
    let marker = healed.runs.board.begin(RunId::from_parts(7, 7));
    for _ in 0..15 {
        marker.show_phase(RunPhase::Running);
        marker.received();
        healed.pass(1).await;
    }
    let [view] = &of_approvals(&healed).await[..] else { panic!("one incident") };
    assert_eq!(view.evidence.measured, count as u64, "their number");
    assert!(newest.iter().all(|one| one.approval.to_string() != view.subject), "the oldest is the subject");
    assert!(view.next.is_none() && view.mend.contains("palyra approve"), "{view:?}");
    healed.reaches_approver.store(true, Ordering::SeqCst);
    healed.pass(11).await;
    let views = of_approvals(&healed).await;
    assert_eq!(views.len(), 1);
    assert_eq!(views[0].record.stage, IncidentStage::Resolved);
}

/// A wall clock before the newest entry ends nothing, so what is over by it is not late.
#[tokio::test]
async fn a_question_that_the_wall_clock_may_not_end_yet_is_no_incident() {
    let journal = MemoryJournal::new();
    let person = principal(1);
    let mut run = SampleRun::new(session(person, 1), 1);
    let entries = [run.started("go"), run.requested(1), asked(&mut run, 1, 1, Some(Timestamp(1)))];
    journal.append(append(entries.into())).await.unwrap();
    let healed = Healed::start(&journal);
    healed.runs.is_clock_behind.store(true, Ordering::SeqCst);
    let marker = healed.runs.board.begin(RunId::from_parts(7, 7));
    let pass = async |minutes: usize| {
        for _ in 0..minutes {
            // A run that begins to move has each minute looked at.
            marker.show_phase(WAITS);
            marker.show_phase(RunPhase::Running);
            healed.pass(1).await;
        }
    };
    pass(9).await;
    assert_eq!(healed.incidents().await, 0);
    // The control: a clock that may end it.
    healed.runs.is_clock_behind.store(false, Ordering::SeqCst);
    pass(20).await;
    let [view] = &healed.views().await[..] else { panic!("one incident") };
    assert_eq!(view.record.opened.cause, IncidentCause::ApprovalExpiryMissed);
}

async fn of_approvals(healed: &Healed) -> Vec<IncidentView> {
    let mut views = healed.views().await;
    views.retain(|view| view.record.opened.cause == IncidentCause::ApproverUnreachable);
    views
}

#[tokio::test]
async fn incidents_of_an_earlier_version_for_each_question_become_one() {
    let (journal, _) = waiting(3).await;
    let opened = |number: u128| IncidentOpened {
        incident: IncidentId::from_parts(1, number),
        cause: IncidentCause::ApproverUnreachable,
        severity: palyra_types::incident::IncidentSeverity::Warning,
        subject: IncidentSubject([u8::try_from(number).unwrap(); 16]),
        evidence: palyra_types::incident::IncidentEvidence::default(),
        planned: None,
    };
    let entry = |number| NewEntry {
        time: palyra_types::Timestamp(1),
        principal: PrincipalId::NIL,
        session: None,
        run: None,
        event: IncidentEvent::Opened(opened(number)).into(),
    };
    journal.append(append((1..=3).map(entry).collect())).await.unwrap();
    let healed = Healed::start(&journal);
    healed.reaches_approver.store(false, Ordering::SeqCst);
    settle().await;
    let views = of_approvals(&healed).await;
    let open = views.iter().filter(|view| view.record.stage == IncidentStage::Open);
    let open: Vec<_> = open.map(|view| (view.record.opened.incident, view.evidence.measured)).collect();
    assert_eq!((views.len(), open), (3, vec![(IncidentId::from_parts(1, 1), 3)]));
}
