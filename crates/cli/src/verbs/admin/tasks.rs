//! `palyra admin tasks`: what the daemon does by itself, with the last outcome of each task.

use std::time::Duration;

use clap::Args;
use palyra_wire::v1::{BackgroundTask, BackgroundTaskState, ListBackgroundTasksRequest};

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use palyra_run_view::{age, date};
use palyra_screen_text::span;

/// Lists background tasks.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  palyra admin tasks --json")]
pub(crate) struct TasksArgs {
    /// One line of JSON each
    #[arg(long)]
    json: bool,
}

/// Runs the verb.
pub(crate) async fn run(context: &Context, args: TasksArgs) -> Result<Exit, Failure> {
    let client = context.connect_to_inspect().await?;
    let tasks = client.call(ListBackgroundTasksRequest {}).await?.tasks;
    let head = ["TASK", "STATE", "LAST", "TOOK", "TICKS", "OUTCOME"];
    context.list(args.json.into(), tasks, "no background tasks", head, row)
}

fn row(task: BackgroundTask) -> [String; 6] {
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
