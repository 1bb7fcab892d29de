//! What a call wants of the workspace.

use super::change::FileChange;
use super::plan::WritePlan;
use super::task::{Rule, Task};

/// What a call wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WriteOrder {
    tool: &'static str,
    version: u32,
    tasks: Vec<Task>,
    purpose: WritePurpose,
}

/// Whether it is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WritePurpose {
    /// It is.
    Change,
    /// It only asks whether it would work.
    Rehearse,
}

impl WriteOrder {
    /// Makes an order; a file is removed only after every other one is in place.
    pub(crate) fn new(tool: &'static str, version: u32, mut tasks: Vec<Task>, purpose: WritePurpose) -> Self {
        tasks.sort_by_key(|task| matches!(task.rule, Rule::Remove(_)));
        Self { tool, version, tasks, purpose }
    }

    /// Returns whether it is meant.
    pub(super) fn purpose(&self) -> WritePurpose {
        self.purpose
    }

    /// Returns the tasks.
    pub(super) fn tasks(&self) -> &[Task] {
        &self.tasks
    }

    /// Returns the record of some changes of this order.
    pub(super) fn plan_of(&self, changes: &[FileChange]) -> WritePlan {
        WritePlan::of(self.tool, self.version, changes)
    }
}
