//! When to stop, and how: a signal, a wish of the operator, a lock that was taken away, or a long time with nothing
//! to do; then the work comes to rest, and only then the streams end.
//!
//! Two steps lead out. A *wish* begins the drain: no new work, what runs may finish. The *stop* ends everything.
//! Begin at [`StopRequests`], then [`drain`].

use std::sync::Arc;
use std::time::Duration;

use palyra_commands::Jobs;
use palyra_runtime::GatewayRuntimeState;
use palyra_runtime::session::SessionsHandle;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::config::Config;
use crate::lock_watch::{self, LockPlace};
use crate::service_notices::ServiceNotices;

/// The two steps on the way out.
#[derive(Debug, Clone, Default)]
pub(crate) struct StopRequests {
    /// Somebody wants the daemon to stop.
    pub(crate) requested: CancellationToken,
    /// It stops now.
    pub(crate) now: CancellationToken,
}

/// The signals that end the daemon, heard from the moment this is made.
pub(crate) struct StopSignals {
    term: Signal,
    interrupt: Signal,
}

impl StopSignals {
    /// Takes the signals over from the kernel, which would end the process at once.
    pub(crate) fn listen() -> std::io::Result<Self> {
        Ok(Self { term: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.term.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

/// Wishes for the stop on the first SIGTERM or SIGINT, and stops on the second.
pub(crate) async fn on_signals(stop: StopRequests, mut signals: StopSignals) {
    signals.next().await;
    tracing::info!("stopping");
    stop.requested.cancel();
    signals.next().await;
    tracing::info!("stopping at once");
    stop.now.cancel();
}

/// Stops once the lock file is removed or replaced, since another daemon may then come.
pub(crate) async fn on_lost_lock(stop: StopRequests, place: LockPlace) {
    lock_watch::until_gone(&place).await;
    tracing::error!("the lock file is no longer in its place; stopping, since another daemon may come");
    stop.now.cancel();
}

/// What a daemon goes on for that no client is connected to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeepCause {
    /// A browser is signed in to the console.
    PageSession,
    /// A command works in the background.
    Job,
    /// A run works.
    Run,
    /// A schedule is enabled, or a reminder is open.
    Schedule,
    /// A task of the background queue waits, or is worked at.
    QueuedTask,
}

impl KeepCause {
    fn words(self) -> &'static str {
        match self {
            Self::PageSession => "a browser is signed in to the console",
            Self::Job => "a job runs",
            Self::Run => "a run works",
            Self::Schedule => "a schedule is enabled, or a reminder is open",
            Self::QueuedTask => "a background task is queued",
        }
    }
}

/// Requests the stop once no client was connected, and nothing kept the daemon, for as long as the configuration says.
pub(crate) async fn on_idle(
    stop: StopRequests,
    mut connections: watch::Receiver<usize>,
    kept_by: impl AsyncFn() -> Option<KeepCause>,
    idle_stop: impl Fn() -> Duration,
) {
    let mut noted = None;
    loop {
        if connections.wait_for(|open| *open == 0).await.is_err() {
            return;
        }
        let connected = async { connections.wait_for(|open| *open > 0).await.map(drop) };
        let quiet = tokio::time::timeout(idle_stop(), connected).await.is_err();
        if !quiet {
            continue;
        }
        let Some(cause) = kept_by().await else {
            tracing::info!("nothing to do for a while");
            stop.requested.cancel();
            return;
        };
        if noted.replace(cause) != Some(cause) {
            tracing::info!(because = cause.words(), "no client for a while, and not stopping");
        }
    }
}

/// What is looked at before an idle daemon stops.
pub(crate) struct IdleWork {
    pub(crate) gateway: GatewayRuntimeState,
    pub(crate) jobs: Option<Jobs>,
}

impl IdleWork {
    /// Returns what keeps the daemon. A run that waits for a person does not: it is a row, and any client brings the daemon
    /// back. A schedule does, because no client comes when it is due. What cannot be read is taken for work.
    pub(crate) async fn kept_by(&self) -> Option<KeepCause> {
        // A person who reads a page may have no connection open, and would be signed out.
        if self.gateway.admin.access.has_page_sessions() {
            return Some(KeepCause::PageSession);
        }
        if self.jobs.as_ref().is_some_and(|jobs| jobs.running() > 0) {
            return Some(KeepCause::Job);
        }
        let health = &self.gateway.health;
        if health.working_runs().await.map_or(true, |runs| runs > 0) {
            return Some(KeepCause::Run);
        }
        if self.gateway.schedules.has_open_schedules().await.unwrap_or(true) {
            return Some(KeepCause::Schedule);
        }
        health.has_open_tasks().await.unwrap_or(true).then_some(KeepCause::QueuedTask)
    }
}

/// Waits for the wish, lets the work come to rest for as long as the configuration says, then stops. Streams are
/// ended after the last committed entry, whichever way the stop came.
pub(crate) async fn drain(
    stop: StopRequests,
    sessions: SessionsHandle,
    config: watch::Receiver<Arc<Config>>,
    notices: ServiceNotices,
) {
    let draining = async {
        stop.requested.cancelled().await;
        let span = config.borrow().drain_span();
        notices.stopping(span);
        come_to_rest(&sessions, span).await;
    };
    tokio::select! {
        () = draining => {}
        () = stop.now.cancelled() => {
            notices.stopping(Duration::ZERO);
            sessions.close();
        }
    }
    sessions.end_followers();
    stop.now.cancel();
}

async fn come_to_rest(sessions: &SessionsHandle, span: Duration) {
    match tokio::time::timeout(span, sessions.drain()).await {
        Ok(()) => tracing::info!("nothing runs any more"),
        Err(_) => tracing::info!(
            seconds = span.as_secs(),
            "some runs did not stop in time; they continue at the next start"
        ),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// Looks at each end of a quiet span, of which the first few find work.
    #[tokio::test(start_paused = true)]
    async fn an_idle_daemon_stops_once_nothing_is_at_work() {
        let span = Duration::from_secs(900);
        for busy in [0, 1, 3] {
            let (stop, looks) = (StopRequests::default(), AtomicUsize::new(0));
            let (_connections, open) = watch::channel(0);
            let begun = tokio::time::Instant::now();
            let kept_by =
                async || (looks.fetch_add(1, Ordering::Relaxed) < busy).then_some(KeepCause::Schedule);
            on_idle(stop.clone(), open, kept_by, || span).await;
            assert!(stop.requested.is_cancelled());
            assert_eq!(begun.elapsed(), span * u32::try_from(busy + 1).expect("few"), "{busy}");
        }
    }
}
