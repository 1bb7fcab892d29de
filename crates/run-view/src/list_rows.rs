//! Approvals and background tasks as rows of tables.

use std::time::Duration;

use palyra_screen_text::{clean_line, short_id, span};
use palyra_wire::v1::{self, BackgroundTask, BackgroundTaskState};

use crate::{ERASED_MARK, age, approval_state_name, date, decider, summary, time_left};

const SUMMARY_CHARS_MAX: usize = 72;
/// Characters of who decided, in a table.
const DECIDER_CHARS_MAX: usize = 20;

/// Returns the row of an approval.
pub fn approval_row(approval: &v1::Approval) -> [String; 5] {
    let state = match approval.state() {
        v1::ApprovalState::Pending => match time_left(approval.expires).as_str() {
            "" => "waits".to_owned(),
            left => format!("waits, {left}"),
        },
        state if approval.decided_by_name.is_empty() => approval_state_name(state).to_owned(),
        state => {
            let by = clean_line(&decider(approval), DECIDER_CHARS_MAX);
            format!("{} by {by}", approval_state_name(state))
        }
    };
    let call = match &approval.prompt {
        Some(prompt) if !prompt.tool.is_empty() => format!("{}: {}", prompt.tool, summary(prompt)),
        _ => ERASED_MARK.to_owned(),
    };
    let call = clean_line(&call, SUMMARY_CHARS_MAX);
    [short_id(&approval.approval_id), state, approval.risk_name().into_owned(), age(approval.created), call]
}

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
