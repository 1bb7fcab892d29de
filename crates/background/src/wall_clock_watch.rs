//! Notices when the wall clock is set, so that work that is due at a time of it looks again.

use std::sync::Arc;

use palyra_ports::Clock;
use tokio::sync::Notify;
use tokio::task::AbortHandle;

/// Gives a signal each time the wall clock is set, until it is dropped.
pub struct WallClockWatch {
    watch: AbortHandle,
}

impl WallClockWatch {
    /// Begins to watch.
    #[must_use]
    pub fn begin(clock: Arc<dyn Clock>, signal: Arc<Notify>) -> Self {
        // Armed before this returns, so a change before the first look is seen.
        let mut changed = clock.wall_set();
        let watch = tokio::spawn(async move {
            loop {
                changed.await;
                // Armed again before the signal: a change after the look that follows gives another one.
                changed = clock.wall_set();
                signal.notify_one();
            }
        });
        Self { watch: watch.abort_handle() }
    }
}

impl Drop for WallClockWatch {
    fn drop(&mut self) {
        self.watch.abort();
    }
}
