//! When to stop, and how: a signal, a wish of the operator, a lock that was taken away, or a long time with nothing
//! to do; then the work comes to rest, and only then the streams end.
//!
//! Two steps lead out. A *wish* begins the drain: no new work, what runs may finish. The *stop* ends everything.
//! Begin at [`Stop`], then [`drain`].

use std::sync::Arc;
use std::time::Duration;

use palyra_runtime::health::HealthHandle;
use palyra_runtime::session::SessionsHandle;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::config::Config;
use crate::lock_watch::{self, LockPlace};
use crate::service_notices::ServiceNotices;

/// The two steps on the way out.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stop {
    /// Somebody wants the daemon to stop.
    pub(crate) wish: CancellationToken,
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
pub(crate) async fn on_signals(stop: Stop, mut signals: StopSignals) {
    signals.next().await;
    tracing::info!("told to stop");
    stop.wish.cancel();
    signals.next().await;
    tracing::info!("told to stop at once");
    stop.now.cancel();
}

/// Stops once the lock file is removed or replaced, since another daemon may then come.
pub(crate) async fn on_lost_lock(stop: Stop, place: LockPlace) {
    lock_watch::until_gone(&place).await;
    tracing::error!("the lock file is no longer in its place; stopping, since another daemon may come");
    stop.now.cancel();
}

/// Wishes for the stop once nobody was connected and no run was open for as long as the configuration says.
pub(crate) async fn on_idle(
    stop: Stop,
    mut connections: watch::Receiver<usize>,
    health: HealthHandle,
    config: watch::Receiver<Arc<Config>>,
) {
    loop {
        if connections.wait_for(|open| *open == 0).await.is_err() {
            return;
        }
        let span = config.borrow().idle_stop();
        let busy = async { connections.wait_for(|open| *open > 0).await.map(drop) };
        let quiet = tokio::time::timeout(span, busy).await.is_err();
        // A run that works is work; one that waits for a person is a row, and any client brings the daemon back.
        let working = health.working_runs().await.unwrap_or(1);
        if quiet && working == 0 {
            tracing::info!("nothing to do for a while");
            stop.wish.cancel();
            return;
        }
    }
}

/// Waits for the wish, lets the work come to rest for as long as the configuration says, then stops. Streams are
/// ended after the last committed entry, whichever way the stop came.
pub(crate) async fn drain(
    stop: Stop,
    sessions: SessionsHandle,
    config: watch::Receiver<Arc<Config>>,
    notices: ServiceNotices,
) {
    let draining = async {
        stop.wish.cancelled().await;
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
            "some runs did not come to rest in time; they go on at the next start"
        ),
    }
}
