//! The two times of the queue.

use std::sync::Arc;

use palyra_ports::Clock;
use palyra_queue::QueueTime;
use palyra_types::{BootTime, Timestamp};

/// Tells the time of the queue: the wall clock, and one that began as the wall clock and follows the boot clock.
pub(super) struct SteadyClock {
    pub(super) clock: Arc<dyn Clock>,
    wall: Timestamp,
    boot: BootTime,
}

impl SteadyClock {
    pub(super) fn new(clock: Arc<dyn Clock>) -> Self {
        let wall = clock.wall();
        let boot = clock.boot();
        Self { clock, wall, boot }
    }

    pub(super) fn now(&self) -> QueueTime {
        self.at(self.clock.boot())
    }

    /// Returns the time of the queue at a boot time; the wall clock is that of now.
    pub(super) fn at(&self, boot: BootTime) -> QueueTime {
        QueueTime { wall: self.clock.wall(), steady: self.wall.after(boot.since(self.boot)) }
    }
}
