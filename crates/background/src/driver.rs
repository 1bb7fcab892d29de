//! Ticks tasks: when their signal is given, when their time has come, and again after a failure.

use std::any::Any;
use std::fmt::Display;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_ports::Clock;
use tracing::Instrument;

use crate::drain::Drain;
use crate::status::{BackgroundStatus, FinishedTick, TaskState};

/// The pause after a failed tick; each further failure doubles it.
const RETRY_PAUSE_MIN: Duration = Duration::from_millis(500);
/// The longest such pause.
const RETRY_PAUSE_MAX: Duration = Duration::from_secs(30);

/// When a task is ticked next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextTick {
    /// At once: there is more to do.
    AtOnce,
    /// When its signal is given.
    OnSignal,
    /// After this time, or when its signal is given before.
    After(Duration),
}

/// Why a tick did not do what was due; the task is ticked again after a pause.
#[derive(Debug, thiserror::Error)]
#[error("{what}")]
pub struct TickFailure {
    what: String,
}

impl TickFailure {
    /// Takes the reason in words.
    #[must_use]
    pub fn new(what: impl Display) -> Self {
        Self { what: what.to_string() }
    }
}

/// A task of the driver.
pub trait BackgroundTask: Send + 'static {
    /// Returns the name: lower case with underscores, unique.
    fn name(&self) -> &'static str;

    /// Does what is due now; doing it twice is doing it once.
    ///
    /// # Errors
    /// [`TickFailure`]: it is ticked again after a pause.
    fn tick(&mut self) -> BoxFuture<'_, Result<NextTick, TickFailure>>;

    /// Completes when there may be something to do before the time that a tick gave. Cancel-safe: a signal that came
    /// while a tick ran completes the next wait.
    fn signal(&self) -> BoxFuture<'static, ()>;

    /// Does what must not wait until the next start; called once, when the daemon drains.
    fn drained(&mut self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

/// Ticks tasks and keeps their status. Clones share the status.
#[derive(Clone)]
pub struct BackgroundDriver {
    clock: Arc<dyn Clock>,
    drain: Drain,
    status: BackgroundStatus,
}

impl BackgroundDriver {
    /// Makes a driver that stops its tasks when the daemon drains.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>, drain: Drain) -> Self {
        Self { clock, drain, status: BackgroundStatus::default() }
    }

    /// Returns the status of its tasks.
    #[must_use]
    pub fn status(&self) -> BackgroundStatus {
        self.status.clone()
    }

    /// Returns the drain at which its tasks stop.
    pub(crate) fn drain(&self) -> Drain {
        self.drain.clone()
    }

    /// Does a task of the start, once, and returns when it ended. A failure is logged and stays in its status: the
    /// daemon serves all the same, and the next start does it again.
    pub async fn at_start(&self, name: &'static str, work: impl Future<Output = Result<(), TickFailure>>) {
        if self.status.begin(name) {
            let tick = self.measured(name, work).await.1;
            self.status.end(name, tick, TaskState::Finished);
        }
    }

    /// Ticks a task at once, and then whenever it is due, until the daemon drains.
    pub fn spawn(&self, task: impl BackgroundTask) {
        let span = tracing::info_span!("background", task = task.name());
        tokio::spawn(self.clone().drive(task).instrument(span));
    }

    async fn drive(self, mut task: impl BackgroundTask) {
        let name = task.name();
        let mut pause = RETRY_PAUSE_MIN;
        while !self.drain.has_begun() && self.status.begin(name) {
            let (next, tick) = self.measured(name, task.tick()).await;
            let wait = match next {
                Some(NextTick::AtOnce) => Some(Duration::ZERO),
                Some(NextTick::OnSignal) => None,
                Some(NextTick::After(span)) => Some(span),
                None => Some(pause),
            };
            pause = if next.is_some() { RETRY_PAUSE_MIN } else { (pause * 2).min(RETRY_PAUSE_MAX) };
            let until = wait.map(|wait| self.clock.wall().after(wait));
            self.status.end(name, tick, TaskState::Waiting { until });
            if wait != Some(Duration::ZERO) {
                self.wait(task.signal(), wait).await;
            }
        }
        task.drained().await;
        self.status.finish(name);
    }

    async fn wait(&self, signal: BoxFuture<'static, ()>, span: Option<Duration>) {
        let over = async {
            match span {
                Some(span) => self.clock.sleep_until(self.clock.boot().after(span)).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = self.drain.begun() => {}
            () = signal => {}
            () = over => {}
        }
    }

    /// Runs a tick to its end, and measures it; a panic is a failure.
    async fn measured<T>(
        &self,
        name: &'static str,
        tick: impl Future<Output = Result<T, TickFailure>>,
    ) -> (Option<T>, FinishedTick) {
        let (started, began) = (self.clock.wall(), self.clock.boot());
        let ended = AssertUnwindSafe(tick).catch_unwind().await;
        let (next, failure) = match ended {
            Ok(Ok(next)) => (Some(next), None),
            Ok(Err(failure)) => (None, Some(failure.to_string())),
            Err(panic) => (None, Some(format!("panicked: {}", panic_message(&*panic)))),
        };
        if let Some(failure) = &failure {
            tracing::error!(task = name, "a background task failed: {failure}");
        }
        let duration = self.clock.boot().since(began);
        (next, FinishedTick { started, duration, failure })
    }
}

fn panic_message(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message")
}
