//! When to stop, and how: a signal, a wish of the operator, a lock that was taken away, or a long time with nothing
//! to do; then the work comes to rest, and only then the streams end.
//!
//! Two steps lead out. A *wish* begins the drain: no new work, what runs may finish. The *stop* ends everything.
//! Begin at [`StopRequests`], then [`drain`].

use std::sync::Arc;
use std::time::Duration;

use palyra_admin::health::HealthHandle;
use palyra_commands::Jobs;
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

/// Wishes for the stop once nobody was connected, and nothing was at work, for as long as the configuration says.
pub(crate) async fn on_idle(
    stop: StopRequests,
    mut connections: watch::Receiver<usize>,
    at_work: impl AsyncFn() -> bool,
    idle_stop: impl Fn() -> Duration,
) {
    loop {
        if connections.wait_for(|open| *open == 0).await.is_err() {
            return;
        }
        let connected = async { connections.wait_for(|open| *open > 0).await.map(drop) };
        let quiet = tokio::time::timeout(idle_stop(), connected).await.is_err();
        if quiet && !at_work().await {
            tracing::info!("nothing to do for a while");
            stop.requested.cancel();
            return;
        }
    }
}

/// Returns whether a run works, or a job, which would end with the daemon. A run that waits for a person is a row, and
/// any client brings the daemon back.
pub(crate) async fn is_at_work(health: &HealthHandle, jobs: Option<&Jobs>) -> bool {
    jobs.is_some_and(|jobs| jobs.running() > 0) || health.working_runs().await.map_or(true, |runs| runs > 0)
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
            let at_work = async || looks.fetch_add(1, Ordering::Relaxed) < busy;
            on_idle(stop.clone(), open, at_work, || span).await;
            assert!(stop.requested.is_cancelled());
            assert_eq!(begun.elapsed(), span * u32::try_from(busy + 1).expect("few"), "{busy}");
        }
    }
}
