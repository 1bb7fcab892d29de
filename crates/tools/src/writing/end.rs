//! The ends of a call that did not do what it should.

use crate::failure::ToolFailure;

/// How a call ended that did not do what it should.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum WriteEnd {
    /// Nothing was done, and why.
    Failed(ToolFailure),
    /// Nobody can tell what was done.
    Lost,
    /// It was ended at a step, as by a crash.
    Halted,
}

impl From<ToolFailure> for WriteEnd {
    fn from(failure: ToolFailure) -> Self {
        Self::Failed(failure)
    }
}
