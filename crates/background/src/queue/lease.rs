//! The claim of one worker on one task.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use palyra_ports::Clock;
use palyra_types::{BootTime, LeaseFence};
use tokio_util::sync::CancellationToken;

/// The claim of one worker on one task. Clones share it.
#[derive(Clone)]
pub struct TaskLease {
    fence: LeaseFence,
    clock: Arc<dyn Clock>,
    beat: Arc<LeaseBeat>,
}

/// What a worker shows of itself, and whether it is to stop.
#[derive(Debug, Default)]
pub(super) struct LeaseBeat {
    marker: AtomicU64,
    /// Microseconds of boot time at the latest heartbeat.
    at: AtomicU64,
    stop: CancellationToken,
    over: CancellationToken,
}

impl LeaseBeat {
    /// Returns the marker and the time of the latest heartbeat.
    pub(super) fn latest(&self) -> (u64, BootTime) {
        (self.marker.load(Ordering::Acquire), BootTime(self.at.load(Ordering::Acquire)))
    }

    /// Asks the worker to stop.
    pub(super) fn stop(&self) {
        self.stop.cancel();
    }

    /// Ends the lease: the worker is asked to stop, and its heartbeats count no longer.
    pub(super) fn end(&self) {
        self.over.cancel();
        self.stop.cancel();
    }
}

impl TaskLease {
    /// Makes a lease that begins now.
    pub(super) fn begin(fence: LeaseFence, clock: Arc<dyn Clock>) -> Self {
        let beat = Arc::new(LeaseBeat { at: AtomicU64::new(clock.boot().0), ..LeaseBeat::default() });
        Self { fence, clock, beat }
    }

    /// Returns the queue's side of it.
    pub(super) fn beat(&self) -> Arc<LeaseBeat> {
        Arc::clone(&self.beat)
    }

    /// Returns its number, which grows with each lease of the task.
    #[must_use]
    pub fn fence(&self) -> LeaseFence {
        self.fence
    }

    /// Shows a sign of life and how far the worker is; a lower marker than before changes nothing about the latter. Returns
    /// false when the lease is over, and the worker has to stop. It sends no signal, so it may be called often.
    #[must_use]
    pub fn heartbeat(&self, marker: u64) -> bool {
        self.beat.marker.fetch_max(marker, Ordering::AcqRel);
        self.beat.at.fetch_max(self.clock.boot().0, Ordering::AcqRel);
        !self.beat.over.is_cancelled()
    }

    /// Returns whether the worker is to stop.
    #[must_use]
    pub fn is_stop_requested(&self) -> bool {
        self.beat.stop.is_cancelled()
    }

    /// Returns once the worker is to stop.
    pub async fn stop_requested(&self) {
        self.beat.stop.cancelled().await;
    }
}

impl std::fmt::Debug for TaskLease {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TaskLease").field("fence", &self.fence).finish_non_exhaustive()
    }
}
