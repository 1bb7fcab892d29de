//! The time of the queue.

use palyra_types::Timestamp;

/// A moment as the queue needs it. Both are times of the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueueTime {
    /// The wall clock, which may jump: when tasks are due.
    pub wall: Timestamp,
    /// A clock that began as the wall clock and never jumps: when leases are over. Otherwise a corrected wall clock would
    /// end every lease at once.
    pub steady: Timestamp,
}

impl QueueTime {
    /// Makes a moment in which both clocks agree.
    #[must_use]
    pub fn agreed(time: Timestamp) -> Self {
        Self { wall: time, steady: time }
    }
}
