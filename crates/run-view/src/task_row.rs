//! Background tasks as rows of tables.

use std::time::Duration;

use palyra_screen_text::{clean_line, span};
use palyra_wire::v1::{BackgroundTask, BackgroundTaskState, QueuedTask, QueuedTaskStage};

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

/// Characters of an explanation that a row shows.
const EXPLANATION_CHARS_MAX: usize = 60;

/// Returns the row of a task of the background queue.
pub fn queued_task_row(task: QueuedTask) -> [String; 6] {
    let stage = match task.stage() {
        QueuedTaskStage::Waiting => format!("waiting until {}", date(task.due)),
        QueuedTaskStage::Leased if task.cancel_requested => "stopping".to_owned(),
        _ => task.stage_name().into_owned(),
    };
    let outcome = if task.explanation.is_empty() {
        task.last_end_name().into_owned()
    } else {
        clean_line(&task.explanation, EXPLANATION_CHARS_MAX)
    };
    let kind = task.kind_name().into_owned();
    [task.task_id, kind, stage, age(task.changed), task.attempts.to_string(), outcome]
}
