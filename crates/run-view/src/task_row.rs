//! Background tasks as rows of tables.

use std::time::Duration;

use palyra_screen_text::span;
use palyra_wire::v1::{BackgroundTask, BackgroundTaskState};

use crate::{age, date};

/// Returns the row of a background task.
pub fn task_row(task: BackgroundTask) -> [String; 6] {
    let state = match task.state() {
        BackgroundTaskState::Running => "running".to_owned(),
        BackgroundTaskState::Finished => "finished".to_owned(),
        BackgroundTaskState::Waiting if task.next_tick.is_some() => {
            format!("waits until {}", date(task.next_tick))
        }
        BackgroundTaskState::Waiting => "waits for work".to_owned(),
        BackgroundTaskState::Unspecified => String::new(),
    };
    let outcome = match (task.last_started, task.failures_in_a_row) {
        (None, _) => String::new(),
        (Some(_), 0) => "ok".to_owned(),
        (Some(_), 1) => format!("failed: {}", task.last_failure),
        (Some(_), times) => format!("failed {times} times: {}", task.last_failure),
    };
    let took = span(Duration::from_micros(task.last_duration_us));
    [task.name, state, age(task.last_started), took, task.ticks.to_string(), outcome]
}
