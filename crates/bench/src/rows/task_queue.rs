//! Tasks of the background queue over the real journal, beside single appends to the same journal.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context;
use futures::FutureExt;
use futures::future::{BoxFuture, try_join_all};
use palyra_background::queue::{
    BackgroundQueue, NewTask, QueuePorts, TaskEnd, TaskHandler, TaskQuery, TaskWork,
    spawn_background_queue_loop,
};
use palyra_background::{BackgroundDriver, Drain};
use palyra_journal::JournalStore;
use palyra_ports::{AppendTape, Clock, Recorder};
use palyra_testkit::journal_suite::samples::{self, SampleRun};
use palyra_testkit::{FakeClock, FixedEntropy, PassThrough};
use palyra_types::PrincipalId;
use palyra_types::queued_task::{TaskKind, TaskStage};
use tokio::sync::mpsc;

use super::append::{as_f64, options};
use crate::lab::Lab;
use crate::measure::figure::{BenchFigure, FigureGoal, Unit};
use crate::measure::samples::{BetterDirection, SampleSet};

pub(super) const NAME: &str = "task-queue";

const CALLERS: usize = 16;
/// The pause before the queue is looked at again.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// Reports when each task began, and is done with it.
struct ReportingHandler {
    begun_tx: mpsc::UnboundedSender<Instant>,
}

impl TaskHandler for ReportingHandler {
    fn kind(&self) -> TaskKind {
        TaskKind::OutboxSend
    }

    fn run(&self, _work: TaskWork) -> BoxFuture<'static, TaskEnd> {
        // The row has ended where no one receives it.
        let _ = self.begun_tx.send(Instant::now());
        std::future::ready(TaskEnd::Completed).boxed()
    }
}

fn task() -> NewTask {
    NewTask {
        kind: TaskKind::OutboxSend,
        principal: PrincipalId::NIL,
        session: None,
        key: None,
        due: None,
        payload: "{\"message\":\"a short notice\"}".into(),
    }
}

pub(super) async fn measure(lab: &Lab) -> anyhow::Result<Vec<BenchFigure>> {
    let folder = lab.fresh()?;
    let journal = JournalStore::open(&options(&folder.path().join("state")))?;
    let (begun_tx, mut begun_rx) = mpsc::unbounded_channel();
    let drain = Drain::default();
    let clock = FakeClock::new();
    let driver = BackgroundDriver::new(Arc::new(clock.clone()), drain.clone());
    let queue = start(&journal, &driver, &clock, begun_tx);
    let mut run = SampleRun::new(samples::session(samples::principal(0), 0), 0);
    journal.append(samples::append(vec![run.started("Begin."), run.requested(1)])).await?;
    let figures = vec![
        start_delay(lab, &queue, &mut begun_rx, &journal, &mut run).await?,
        throughput(lab, &queue, &mut begun_rx, &journal, &mut run).await?,
        idle_wakeups(&queue, &driver, &clock).await?,
    ];
    drain.begin();
    drain.at_rest().await;
    journal.close().await;
    Ok(figures)
}

fn start(
    journal: &JournalStore,
    driver: &BackgroundDriver,
    clock: &FakeClock,
    begun_tx: mpsc::UnboundedSender<Instant>,
) -> BackgroundQueue {
    let clock: Arc<dyn Clock> = Arc::new(clock.clone());
    let store = Arc::new(journal.clone());
    let redactor = Arc::new(PassThrough);
    let ports = QueuePorts {
        recorder: Recorder::new(store.clone(), redactor.clone(), Arc::clone(&clock)),
        families: store,
        redactor,
        clock,
        entropy: Arc::new(FixedEntropy::new(11)),
    };
    spawn_background_queue_loop(driver, ports, vec![Arc::new(ReportingHandler { begun_tx })])
}

/// From the call that puts a task into an empty queue to the beginning of its worker.
async fn start_delay(
    lab: &Lab,
    queue: &BackgroundQueue,
    begun_rx: &mut mpsc::UnboundedReceiver<Instant>,
    journal: &JournalStore,
    run: &mut SampleRun,
) -> anyhow::Result<BenchFigure> {
    let mut ours = SampleSet::times();
    let mut appends = SampleSet::times();
    for _ in 0..lab.effort.of(3, 100, 1_000) {
        let asked = Instant::now();
        queue.enqueue(task()).await?;
        let begun = begun_rx.recv().await.context("the queue has ended")?;
        ours.push_time(begun.duration_since(asked));
        let asked = Instant::now();
        journal.append(samples::append(vec![run.text(1, "The gateway writes each entry down.")])).await?;
        appends.push_time(asked.elapsed());
    }
    Ok(BenchFigure::new(NAME, "a task of the queue: from the call to its worker", Unit::Ms, ours.summary())
        .beside("one append", appends.summary())
        .note("two appends: the task, and its lease with the end of the one before"))
}

/// Tasks that are put into the queue and done.
async fn throughput(
    lab: &Lab,
    queue: &BackgroundQueue,
    begun_rx: &mut mpsc::UnboundedReceiver<Instant>,
    journal: &JournalStore,
    run: &mut SampleRun,
) -> anyhow::Result<BenchFigure> {
    let each = lab.effort.of(2, 20, 100);
    let tasks = as_f64((CALLERS * each) as u64);
    let mut ours = SampleSet::new(BetterDirection::Higher);
    let mut appends = SampleSet::new(BetterDirection::Higher);
    for _ in 0..lab.effort.of(1, 3, 10) {
        let asked = Instant::now();
        try_join_all((0..CALLERS).map(|_| caller(queue, each))).await?;
        for _ in 0..CALLERS * each {
            begun_rx.recv().await.context("the queue has ended")?;
        }
        ours.push(tasks / asked.elapsed().as_secs_f64());
        let asked = Instant::now();
        for _ in 0..each {
            journal.append(samples::append(vec![run.text(1, "The gateway writes each entry down.")])).await?;
        }
        appends.push(as_f64(each as u64) / asked.elapsed().as_secs_f64());
    }
    let what = format!("tasks/s of the queue, {CALLERS} callers");
    Ok(BenchFigure::new(NAME, what, Unit::PerSecond, ours.summary())
        .beside("appends/s, one after the other", appends.summary()))
}

/// How often the loop of an empty queue wakes in a day. The clock is moved by hand, so this counts and measures no time.
async fn idle_wakeups(
    queue: &BackgroundQueue,
    driver: &BackgroundDriver,
    clock: &FakeClock,
) -> anyhow::Result<BenchFigure> {
    for stage in [TaskStage::Waiting, TaskStage::Leased] {
        let open = TaskQuery { stage: Some(stage), limit: 1, ..TaskQuery::default() };
        while !queue.list(open).await?.is_empty() {
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }
    let ticks = || driver.status().all().iter().map(|task| task.ticks).sum::<u64>();
    let mut before = ticks();
    loop {
        tokio::time::sleep(LOOK_AGAIN).await;
        let now = ticks();
        if now == before {
            break;
        }
        before = now;
    }
    for _ in 0..24 {
        clock.advance(Duration::from_secs(60 * 60));
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    tokio::time::sleep(LOOK_AGAIN).await;
    let mut wakeups = SampleSet::new(BetterDirection::Lower);
    wakeups.push(as_f64(ticks() - before));
    Ok(BenchFigure::new(NAME, "wake-ups of an empty queue in a day", Unit::Count, wakeups.summary())
        .goal(FigureGoal::AtMost(0.0)))
}

async fn caller(queue: &BackgroundQueue, each: usize) -> anyhow::Result<()> {
    for _ in 0..each {
        queue.enqueue(task()).await?;
    }
    Ok(())
}
