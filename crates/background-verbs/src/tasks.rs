//! `palyra admin tasks`: what the daemon does by itself, and the tasks of its queue.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use palyra_client::Client;
use palyra_run_view::{queued_task_row, task_row};
use palyra_terminal::{NoteKind, Output};
use palyra_types::QueuedTaskId;
use palyra_wire::json::to_json;
use palyra_wire::v1::{self, ListBackgroundTasksRequest, QueuedTaskChange, QueuedTaskKind, QueuedTaskStage};
use serde_json::json;

use crate::answers::ListForm;
use crate::verb_end::{BackgroundVerbEnd, BackgroundVerbError};

const TASKS: ListForm<v1::BackgroundTask, 6> = ListForm {
    none: "no background tasks",
    head: ["TASK", "STATE", "LAST", "TOOK", "TICKS", "OUTCOME"],
    row: task_row,
    json: to_json,
};
const QUEUED: ListForm<v1::QueuedTask, 6> = ListForm {
    none: "no such tasks",
    head: ["TASK", "KIND", "STAGE", "CHANGED", "ATTEMPTS", "OUTCOME"],
    row: queued_task_row,
    json: to_json,
};

/// Lists background tasks.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:\n  palyra admin tasks --json\n  palyra admin tasks list --failed"
)]
pub struct TasksArgs {
    #[command(subcommand)]
    verb: Option<TasksVerb>,
    /// One line of JSON each
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum TasksVerb {
    /// List the tasks of the queue, the newest first
    #[command(
        after_help = "Examples:\n  palyra admin tasks list --kind compaction\n  palyra admin tasks list --failed"
    )]
    List {
        /// Only those in this stage
        #[arg(long, value_parser = stages(), conflicts_with = "failed")]
        stage: Option<QueuedTaskStage>,
        /// Only those that failed too often, or whose outcome is unknown
        #[arg(long)]
        failed: bool,
        /// Only those of this kind
        #[arg(long, value_parser = kinds())]
        kind: Option<QueuedTaskKind>,
        /// At most so many
        #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=500))]
        limit: u32,
        /// One line of JSON each
        #[arg(long)]
        json: bool,
    },
    /// Cancel a task; a worker that is at it is asked to stop
    #[command(after_help = "Example:\n  palyra admin tasks cancel 01JGFJJZ00FE6VV7Z4V1SP3JT5")]
    Cancel(ChangeArgs),
    /// Run a task that waits before others of its kind, at once
    #[command(after_help = "Example:\n  palyra admin tasks run-now 01JGFJJZ00FE6VV7Z4V1SP3JT5")]
    RunNow(ChangeArgs),
    /// Run a failed task again
    #[command(after_help = "Example:\n  palyra admin tasks retry 01JGFJJZ00FE6VV7Z4V1SP3JT5")]
    Retry(ChangeArgs),
    /// Drop a failed task
    #[command(after_help = "Example:\n  palyra admin tasks drop 01JGFJJZ00FE6VV7Z4V1SP3JT5")]
    Drop(ChangeArgs),
}

#[derive(Debug, Args)]
struct ChangeArgs {
    /// Its id, as the list shows it
    task: QueuedTaskId,
    /// The outcome as JSON
    #[arg(long)]
    json: bool,
}

impl TasksArgs {
    pub(crate) fn is_inspection(&self) -> bool {
        self.verb.is_none()
    }
}

/// Runs the verb.
pub(crate) async fn run(
    output: &Output,
    client: &Client,
    args: TasksArgs,
) -> Result<BackgroundVerbEnd, BackgroundVerbError> {
    let Some(verb) = args.verb else {
        let tasks = client.call(ListBackgroundTasksRequest {}).await?.tasks;
        return TASKS.print(output, args.json.into(), tasks);
    };
    let change = match verb {
        TasksVerb::List { stage, failed, kind, limit, json } => {
            let kind = kind.unwrap_or_default().into();
            let stages = match stage {
                Some(stage) => vec![stage],
                None if failed => vec![QueuedTaskStage::DeadLetter, QueuedTaskStage::OutcomeUnknown],
                None => vec![QueuedTaskStage::Unspecified],
            };
            let mut tasks = Vec::new();
            for stage in stages {
                let page_token = String::new();
                let request =
                    v1::ListQueuedTasksRequest { stage: stage.into(), kind, page_size: limit, page_token };
                tasks.extend(client.call(request).await?.tasks);
            }
            return QUEUED.print(output, json.into(), tasks);
        }
        TasksVerb::Cancel(args) => args.requested(QueuedTaskChange::Cancel),
        TasksVerb::RunNow(args) => args.requested(QueuedTaskChange::RunNow),
        TasksVerb::Retry(args) => args.requested(QueuedTaskChange::Retry),
        TasksVerb::Drop(args) => args.requested(QueuedTaskChange::Drop),
    };
    let task_id = change.request.task_id.clone();
    client.call(change.request).await?;
    if change.json {
        output.json(&json!({ "task_id": task_id, "recorded": true }))?;
    } else {
        output.note(NoteKind::Good, "recorded; `palyra admin tasks list` shows what follows");
    }
    Ok(BackgroundVerbEnd::Done)
}

/// A change of a task, and how its outcome is shown.
struct RequestedChange {
    request: v1::ChangeQueuedTaskRequest,
    json: bool,
}

impl ChangeArgs {
    fn requested(self, change: QueuedTaskChange) -> RequestedChange {
        let request = v1::ChangeQueuedTaskRequest { task_id: self.task.to_string(), change: change.into() };
        RequestedChange { request, json: self.json }
    }
}

fn stages() -> impl TypedValueParser<Value = QueuedTaskStage> {
    let words = PossibleValuesParser::new(QueuedTaskStage::SHORT_NAMES);
    words.map(|word| QueuedTaskStage::from_short_name(&word).unwrap_or_default())
}

fn kinds() -> impl TypedValueParser<Value = QueuedTaskKind> {
    let words = PossibleValuesParser::new(QueuedTaskKind::SHORT_NAMES);
    words.map(|word| QueuedTaskKind::from_short_name(&word).unwrap_or_default())
}
