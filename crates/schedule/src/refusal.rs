//! Reasons of the occurrence check. Owns the list.

/// Why the occurrence check refuses an occurrence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OccurrenceRefusal {
    /// The person who made the schedule is gone or may not start runs any more.
    Creator,
    /// The agent is gone.
    AgentGone,
    /// The agent is not the one that was approved.
    AgentChanged,
    /// The prompt is not the one that was approved, or was erased.
    PromptChanged,
    /// The target is not the one that was approved.
    TargetChanged,
    /// The policy of now does not allow it.
    Policy,
}
