//! Where an input to a run may go.

/// Where an input may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputReach {
    /// Into the run, or into a new run of its session.
    RunOrNew,
    /// Into the run only; one that takes no input refuses.
    RunOnly,
}
