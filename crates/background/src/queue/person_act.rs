//! What a person may do with a task.

/// What a person may do with a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PersonAct {
    /// Cancel it; a worker that is at it is asked to stop.
    Cancel,
    /// Let it run before others of its kind, at once.
    RunNow,
    /// Let a dead letter, or a task whose outcome is unknown, run again.
    Retry,
    /// Drop a dead letter, or a task whose outcome is unknown.
    Drop,
}
