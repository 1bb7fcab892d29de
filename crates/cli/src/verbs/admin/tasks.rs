//! `palyra admin tasks`: what the daemon does by itself, with the last outcome of each task.

use clap::Args;
use palyra_wire::v1::ListBackgroundTasksRequest;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use palyra_run_view::task_row;

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
    context.list(args.json.into(), tasks, "no background tasks", head, task_row)
}
