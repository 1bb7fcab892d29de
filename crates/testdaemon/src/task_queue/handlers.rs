//! Handlers whose effects are lines of a file, which outlive a kill.

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_background::queue::{TaskEnd, TaskHandler, TaskWork};
use palyra_ports::Clock;
use palyra_testkit::FakeClock;
use palyra_types::Content;
use palyra_types::queued_task::TaskKind;

/// Heartbeats of a slow worker, and the time between them: so long that progress is recorded.
const SLOW_STEPS: u64 = 4;
const SLOW_SPAN: Duration = Duration::from_secs(40);

/// Completes at once.
const QUICK: &str = "quick";
/// Fails at the first attempt.
const FAILING: &str = "failing";
/// Shows heartbeats for a while.
const SLOW: &str = "slow";

/// The tasks of a life with their payloads: two of a kind whose lost attempts are not repeated, and one each of others.
pub(super) const TASKS: [(TaskKind, &str); 5] = [
    (TaskKind::OutboxSend, SLOW),
    (TaskKind::OutboxSend, QUICK),
    (TaskKind::JournalCare, SLOW),
    (TaskKind::Backup, FAILING),
    (TaskKind::SessionCleanup, QUICK),
];

/// Returns a handler of each kind.
pub(super) fn handlers(effects: &std::path::Path, clock: &FakeClock) -> Vec<Arc<dyn TaskHandler>> {
    let handler = |(kind, _)| {
        let handler = LineHandler { kind, effects: effects.to_owned(), clock: clock.clone() };
        Arc::new(handler) as Arc<dyn TaskHandler>
    };
    TASKS.map(handler).into()
}

#[derive(Clone)]
struct LineHandler {
    kind: TaskKind,
    effects: PathBuf,
    clock: FakeClock,
}

impl LineHandler {
    async fn perform(self, work: TaskWork) -> TaskEnd {
        tokio::task::yield_now().await;
        let script = work.payload.expose().as_str();
        if script == FAILING && work.attempt == 1 {
            return TaskEnd::Failed(Content::from("no room"));
        }
        let steps = if script == SLOW { SLOW_STEPS } else { 0 };
        for marker in 1..=steps {
            self.clock.sleep_until(self.clock.boot().after(SLOW_SPAN)).await;
            if !work.lease.heartbeat(marker) {
                return TaskEnd::Stopped;
            }
        }
        match self.act(&work) {
            Ok(()) => TaskEnd::Completed,
            Err(error) => TaskEnd::InDoubt(Content::new(format!("{error:#}"))),
        }
    }

    fn act(&self, work: &TaskWork) -> anyhow::Result<()> {
        let file = std::fs::OpenOptions::new().create(true).append(true).open(&self.effects);
        let mut file = file.context("could not open the file of effects")?;
        file.write_all(format!("{}\n", work.task).as_bytes()).context("could not leave an effect")
    }
}

impl TaskHandler for LineHandler {
    fn kind(&self) -> TaskKind {
        self.kind
    }

    fn run(&self, work: TaskWork) -> BoxFuture<'static, TaskEnd> {
        self.clone().perform(work).boxed()
    }
}
