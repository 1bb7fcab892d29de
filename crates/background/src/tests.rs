//! The driver on a fake clock: when tasks are ticked, what their status says, and how they end.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_testkit::FakeClock;
use tokio::sync::{Notify, mpsc};

use super::*;

/// A task that does what the test wrote down, one line a tick, and reports each tick.
struct Scripted {
    ticks: mpsc::UnboundedReceiver<ScriptedTick>,
    done: mpsc::UnboundedSender<&'static str>,
    signal: Arc<Notify>,
    started: Arc<AtomicU64>,
}

enum ScriptedTick {
    Next(NextTick),
    Fails,
    Panics,
}

impl BackgroundTask for Scripted {
    fn name(&self) -> &'static str {
        "scripted"
    }

    fn tick(&mut self) -> BoxFuture<'_, Result<NextTick, TickFailure>> {
        async move {
            self.started.fetch_add(1, Ordering::SeqCst);
            match self.ticks.recv().await.expect("the script goes on") {
                ScriptedTick::Next(next) => Ok(next),
                ScriptedTick::Fails => Err(TickFailure::new("no disk")),
                ScriptedTick::Panics => panic!("a fault"),
            }
        }
        .boxed()
    }

    fn signal(&self) -> BoxFuture<'static, ()> {
        let signal = Arc::clone(&self.signal);
        async move { signal.notified().await }.boxed()
    }

    fn drained(&mut self) -> BoxFuture<'_, ()> {
        async move { self.done.send("drained").expect("the test listens") }.boxed()
    }
}

struct Bench {
    clock: Arc<FakeClock>,
    drain: Drain,
    driver: BackgroundDriver,
    script: mpsc::UnboundedSender<ScriptedTick>,
    done: mpsc::UnboundedReceiver<&'static str>,
    signal: Arc<Notify>,
    started: Arc<AtomicU64>,
}

impl Bench {
    fn start() -> Self {
        let (clock, drain) = (Arc::new(FakeClock::default()), Drain::default());
        let driver = BackgroundDriver::new(Arc::clone(&clock) as Arc<_>, drain.clone());
        let (script, ticks) = mpsc::unbounded_channel();
        let (reports, done) = mpsc::unbounded_channel();
        let (signal, started) = (Arc::new(Notify::new()), Arc::new(AtomicU64::new(0)));
        let task =
            Scripted { ticks, done: reports, signal: Arc::clone(&signal), started: Arc::clone(&started) };
        driver.spawn(task);
        Self { clock, drain, driver, script, done, signal, started }
    }

    /// Lets the next tick end so, and waits until the driver has seen it.
    async fn tick(&self, tick: ScriptedTick) -> TaskStatus {
        let before = self.status().map_or(0, |status| status.ticks);
        self.script.send(tick).expect("the task listens");
        loop {
            tokio::task::yield_now().await;
            if let Some(status) = self.status().filter(|status| status.ticks > before) {
                return status;
            }
        }
    }

    fn status(&self) -> Option<TaskStatus> {
        self.driver.status().all().into_iter().find(|status| status.name == "scripted")
    }

    async fn started(&self) -> u64 {
        for _ in 0..16 {
            tokio::task::yield_now().await;
        }
        self.started.load(Ordering::SeqCst)
    }
}

#[tokio::test]
async fn a_task_is_ticked_at_once_then_by_its_signal_or_its_time_and_not_before() {
    let bench = Bench::start();
    let status = bench.tick(ScriptedTick::Next(NextTick::OnSignal)).await;
    assert_eq!((status.state, status.ticks), (TaskState::Waiting { until: None }, 1));
    bench.clock.advance(Duration::from_secs(3_600));
    assert_eq!(bench.started().await, 1, "no time starts it");
    bench.signal.notify_one();
    assert_eq!(bench.started().await, 2);
    let status = bench.tick(ScriptedTick::Next(NextTick::After(Duration::from_secs(5)))).await;
    assert!(matches!(status.state, TaskState::Waiting { until: Some(_) }), "{status:?}");
    bench.clock.advance(Duration::from_secs(4));
    assert_eq!(bench.started().await, 2, "not before its time");
    bench.clock.advance(Duration::from_secs(1));
    assert_eq!(bench.started().await, 3);
    bench.tick(ScriptedTick::Next(NextTick::AtOnce)).await;
    assert_eq!(bench.started().await, 4, "at once");
}

#[tokio::test]
async fn a_signal_given_while_a_tick_runs_is_not_lost() {
    let bench = Bench::start();
    assert_eq!(bench.started().await, 1);
    bench.signal.notify_one();
    bench.tick(ScriptedTick::Next(NextTick::OnSignal)).await;
    assert_eq!(bench.started().await, 2);
}

#[tokio::test]
async fn a_failure_or_a_panic_is_in_the_status_and_tried_again_after_a_growing_pause() {
    let bench = Bench::start();
    let status = bench.tick(ScriptedTick::Fails).await;
    assert_eq!(status.last.and_then(|tick| tick.failure).as_deref(), Some("no disk"));
    bench.clock.advance(Duration::from_millis(500));
    assert_eq!(bench.started().await, 2);
    let status = bench.tick(ScriptedTick::Panics).await;
    assert_eq!(status.failures_in_a_row, 2);
    assert_eq!(status.last.and_then(|tick| tick.failure).as_deref(), Some("panicked: a fault"));
    bench.clock.advance(Duration::from_millis(999));
    assert_eq!(bench.started().await, 2, "the pause has doubled");
    bench.clock.advance(Duration::from_millis(1));
    assert_eq!(bench.started().await, 3);
    let status = bench.tick(ScriptedTick::Next(NextTick::OnSignal)).await;
    assert_eq!((status.failures_in_a_row, status.ticks), (0, 3));
    assert_eq!(status.last.and_then(|tick| tick.failure), None);
}

#[tokio::test]
async fn a_drain_lets_the_task_do_what_must_not_wait_and_ends_it() {
    let mut bench = Bench::start();
    bench.tick(ScriptedTick::Next(NextTick::OnSignal)).await;
    bench.drain.begin();
    assert_eq!(bench.done.recv().await, Some("drained"));
    assert_eq!(bench.done.recv().await, None, "it ended");
    assert_eq!(bench.status().map(|status| status.state), Some(TaskState::Finished));
    assert_eq!(bench.started().await, 1, "it is not ticked again");
}

#[tokio::test]
async fn a_task_of_the_start_is_done_once_and_its_failure_stays_to_be_read() {
    let driver = BackgroundDriver::new(Arc::new(FakeClock::default()), Drain::default());
    driver.at_start("good", async { Ok(()) }).await;
    driver.at_start("bad", async { Err(TickFailure::new("no room")) }).await;
    driver.at_start("worse", async { panic!("a fault") }).await;
    let failures: Vec<_> = driver
        .status()
        .all()
        .into_iter()
        .map(|task| (task.name, task.state, task.last.and_then(|tick| tick.failure)))
        .collect();
    let done = TaskState::Finished;
    let expected = [
        ("bad", done, Some("no room".to_owned())),
        ("good", done, None),
        ("worse", done, Some("panicked: a fault".to_owned())),
    ];
    assert_eq!(failures, expected);
}
