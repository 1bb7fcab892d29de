//! When to stop: a signal, a wish of the operator, a lock that was taken away, or a long time with nothing to do.

use std::time::Duration;

use palyra_runtime::health::HealthHandle;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::lock_watch::{self, LockPlace};

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
}

/// Cancels `stop` on SIGTERM or SIGINT.
pub(crate) async fn on_signal(stop: CancellationToken, mut signals: StopSignals) {
    tokio::select! {
        _ = signals.term.recv() => {}
        _ = signals.interrupt.recv() => {}
    }
    tracing::info!("told to stop");
    stop.cancel();
}

/// Cancels `stop` once the lock file is removed or replaced, since another daemon may then come.
pub(crate) async fn on_lost_lock(stop: CancellationToken, place: LockPlace) {
    lock_watch::until_gone(&place).await;
    tracing::error!("the lock file is no longer in its place; stopping, since another daemon may come");
    stop.cancel();
}

/// Cancels `stop` once nobody was connected and no run was open for `span`.
pub(crate) async fn on_idle(
    stop: CancellationToken,
    mut connections: watch::Receiver<usize>,
    health: HealthHandle,
    span: Duration,
) {
    loop {
        if connections.wait_for(|open| *open == 0).await.is_err() {
            return;
        }
        let busy = async { connections.wait_for(|open| *open > 0).await.map(drop) };
        let quiet = tokio::time::timeout(span, busy).await.is_err();
        // A run that works is work; one that waits for a person is a row, and any client brings the daemon back.
        let working = health.working_runs().await.unwrap_or(1);
        if quiet && working == 0 {
            tracing::info!("nothing to do for a while");
            stop.cancel();
            return;
        }
    }
}
