//! What a caller has of a backup while it is made: how far it is, and a way to stop it.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Stops work of this crate. Clones share the request.
#[derive(Debug, Clone, Default)]
pub struct StopSignal(Arc<StopState>);

#[derive(Debug, Default)]
struct StopState {
    requested: Mutex<bool>,
    changed: Condvar,
}

impl StopSignal {
    /// Asks the work to stop; it removes what it has begun.
    pub fn stop(&self) {
        *self.0.requested.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.0.changed.notify_all();
    }

    /// Returns whether the work is to stop.
    #[must_use]
    pub fn is_requested(&self) -> bool {
        *self.0.requested.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for this time, or until the work is to stop.
    pub(crate) fn pause(&self, span: Duration) {
        let until = Instant::now() + span;
        let mut requested = self.0.requested.lock().unwrap_or_else(PoisonError::into_inner);
        while !*requested {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            requested =
                self.0.changed.wait_timeout(requested, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// Receives how many bytes are done, of how many.
pub type ProgressFn = Arc<dyn Fn(u64, u64) + Send + Sync>;

/// How a caller watches the work.
#[derive(Clone)]
pub struct BackupWatch {
    /// Receives the progress.
    pub progress: ProgressFn,
    /// Stops the work.
    pub stop: StopSignal,
}

impl Default for BackupWatch {
    fn default() -> Self {
        Self { progress: Arc::new(|_, _| ()), stop: StopSignal::default() }
    }
}

impl std::fmt::Debug for BackupWatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BackupWatch").field("stop", &self.stop).finish_non_exhaustive()
    }
}
