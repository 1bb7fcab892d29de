//! When to stop: a signal, a wish of the operator, or a long time with nothing to do.

use std::time::Duration;

use palyra_runtime::health::HealthHandle;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// Cancels `stop` on SIGTERM or SIGINT.
pub(crate) async fn on_signal(stop: CancellationToken) {
    let (Ok(mut term), Ok(mut interrupt)) =
        (signal(SignalKind::terminate()), signal(SignalKind::interrupt()))
    else {
        tracing::error!("signals cannot be received; stop the daemon with `palyra admin stop`");
        return;
    };
    tokio::select! {
        _ = term.recv() => {}
        _ = interrupt.recv() => {}
    }
    tracing::info!("told to stop");
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
