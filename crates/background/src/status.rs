//! The last status of each background task, for `doctor`, metrics and the console.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use palyra_types::Timestamp;

/// The state of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskState {
    /// A tick runs.
    Running,
    /// It waits for its signal, and for this time at the latest.
    Waiting {
        /// When its next tick is due; `None` when only its signal starts one.
        until: Option<Timestamp>,
    },
    /// It has nothing more to do until the daemon starts again.
    Finished,
}

/// The last tick that ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinishedTick {
    /// When it began, by the wall clock.
    pub started: Timestamp,
    /// How long it ran.
    pub duration: Duration,
    /// Why it failed; `None` when it did what was due.
    pub failure: Option<String>,
}

/// What is known about a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskStatus {
    /// Its name: lower case with underscores, unique.
    pub name: &'static str,
    /// Its state.
    pub state: TaskState,
    /// Ticks that ended since the daemon started.
    pub ticks: u64,
    /// How many of the newest ticks failed one after the other; 0 after one that did not fail.
    pub failures_in_a_row: u64,
    /// The newest tick that ended.
    pub last: Option<FinishedTick>,
}

/// The status of every task; clones share it. Bounded by the number of tasks, whose names are literals.
#[derive(Debug, Clone, Default)]
pub struct BackgroundStatus {
    tasks: Arc<Mutex<BTreeMap<&'static str, TaskStatus>>>,
}

impl BackgroundStatus {
    /// Returns the status of every task, by name.
    #[must_use]
    pub fn all(&self) -> Vec<TaskStatus> {
        self.tasks().values().cloned().collect()
    }

    /// Records that a tick begins; returns false when one of the same name runs already.
    pub(crate) fn begin(&self, name: &'static str) -> bool {
        let mut tasks = self.tasks();
        let new = || TaskStatus {
            name,
            state: TaskState::Waiting { until: None },
            ticks: 0,
            failures_in_a_row: 0,
            last: None,
        };
        let task = tasks.entry(name).or_insert_with(new);
        task.state != TaskState::Running && {
            task.state = TaskState::Running;
            true
        }
    }

    /// Records how a tick ended, and what the task does next.
    pub(crate) fn end(&self, name: &'static str, tick: FinishedTick, next: TaskState) {
        if let Some(task) = self.tasks().get_mut(name) {
            task.ticks += 1;
            task.failures_in_a_row = if tick.failure.is_some() { task.failures_in_a_row + 1 } else { 0 };
            task.last = Some(tick);
            task.state = next;
        }
    }

    /// Records that a task is not ticked again.
    pub(crate) fn finish(&self, name: &'static str) {
        if let Some(task) = self.tasks().get_mut(name) {
            task.state = TaskState::Finished;
        }
    }

    fn tasks(&self) -> MutexGuard<'_, BTreeMap<&'static str, TaskStatus>> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
