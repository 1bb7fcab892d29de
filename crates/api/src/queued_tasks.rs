//! Tasks of the background queue, for the owner.

use palyra_background::queue::{PersonAct, TaskQuery};
use palyra_runtime::Caller;
use palyra_types::PrincipalId;
use palyra_types::queued_task::{AttemptEnd, OrchestratorBackgroundTaskRecord, TaskKind, TaskStage};
use palyra_wire::short_names::must_be;
use palyra_wire::v1;

use crate::api_error::ApiError;
use crate::known_value::known;
use crate::operations::OperationHandlers;
use crate::translate;

/// The field that says what is done with a task.
const CHANGE: &str = "change";

const KINDS: [(TaskKind, v1::QueuedTaskKind); 8] = [
    (TaskKind::Compaction, v1::QueuedTaskKind::Compaction),
    (TaskKind::Reflection, v1::QueuedTaskKind::Reflection),
    (TaskKind::SessionCleanup, v1::QueuedTaskKind::SessionCleanup),
    (TaskKind::JournalCare, v1::QueuedTaskKind::JournalCare),
    (TaskKind::Backup, v1::QueuedTaskKind::Backup),
    (TaskKind::ScheduledRun, v1::QueuedTaskKind::ScheduledRun),
    (TaskKind::OutboxSend, v1::QueuedTaskKind::OutboxSend),
    (TaskKind::Notify, v1::QueuedTaskKind::Notify),
];

const STAGES: [(TaskStage, v1::QueuedTaskStage); 7] = [
    (TaskStage::Waiting, v1::QueuedTaskStage::Waiting),
    (TaskStage::Leased, v1::QueuedTaskStage::Leased),
    (TaskStage::Done, v1::QueuedTaskStage::Done),
    (TaskStage::DeadLetter, v1::QueuedTaskStage::DeadLetter),
    (TaskStage::OutcomeUnknown, v1::QueuedTaskStage::OutcomeUnknown),
    (TaskStage::Cancelled, v1::QueuedTaskStage::Cancelled),
    (TaskStage::Dropped, v1::QueuedTaskStage::Dropped),
];

impl OperationHandlers {
    /// Answers `ListQueuedTasks`.
    pub async fn list_queued_tasks(
        &self,
        _caller: Caller,
        message: v1::ListQueuedTasksRequest,
    ) -> Result<v1::ListQueuedTasksResponse, ApiError> {
        let limit = translate::page_rows(message.page_size);
        let below = match message.page_token.as_str() {
            "" => None,
            token => Some(translate::id("page_token", token)?),
        };
        let query = TaskQuery {
            stage: named(&STAGES, known(message.stage, "stage", v1::QueuedTaskStage::SHORT_NAMES)?),
            kind: named(&KINDS, known(message.kind, "kind", v1::QueuedTaskKind::SHORT_NAMES)?),
            below,
            limit,
        };
        let records = self.state.health.queued_tasks(query).await?;
        let last = records.last().filter(|_| records.len() >= limit);
        let next_page_token = last.map(|record| record.task.to_string()).unwrap_or_default();
        Ok(v1::ListQueuedTasksResponse {
            tasks: records.into_iter().map(queued_task).collect(),
            next_page_token,
        })
    }

    /// Answers `ChangeQueuedTask`.
    pub async fn change_queued_task(
        &self,
        caller: Caller,
        message: v1::ChangeQueuedTaskRequest,
    ) -> Result<v1::ChangeQueuedTaskResponse, ApiError> {
        let task = translate::id("task_id", &message.task_id)?;
        let act = match known(message.change, CHANGE, v1::QueuedTaskChange::SHORT_NAMES)? {
            v1::QueuedTaskChange::Cancel => PersonAct::Cancel,
            v1::QueuedTaskChange::RunNow => PersonAct::RunNow,
            v1::QueuedTaskChange::Retry => PersonAct::Retry,
            v1::QueuedTaskChange::Drop => PersonAct::Drop,
            v1::QueuedTaskChange::Unspecified => {
                return Err(ApiError::invalid_argument(&must_be(CHANGE, v1::QueuedTaskChange::SHORT_NAMES)));
            }
        };
        self.state.health.act_on_task(caller.actor, act, task).await?;
        Ok(v1::ChangeQueuedTaskResponse {})
    }
}

/// Returns the value of a filter; `None` where there is no filter.
fn named<T: Copy, W: Copy + PartialEq>(table: &[(T, W)], wanted: W) -> Option<T> {
    table.iter().find(|(_, wire)| *wire == wanted).map(|(value, _)| *value)
}

fn queued_task(record: OrchestratorBackgroundTaskRecord) -> v1::QueuedTask {
    let kind = KINDS.iter().find(|(kind, _)| *kind == record.kind).map(|(_, wire)| *wire);
    let stage = STAGES.iter().find(|(stage, _)| *stage == record.stage).map(|(_, wire)| *wire);
    let principal = Some(record.principal).filter(|principal| *principal != PrincipalId::NIL);
    v1::QueuedTask {
        task_id: record.task.to_string(),
        kind: kind.unwrap_or_default().into(),
        stage: stage.unwrap_or_default().into(),
        principal_id: principal.map(|principal| principal.to_string()).unwrap_or_default(),
        session_id: record.session.map(|session| session.to_string()).unwrap_or_default(),
        created: translate::timestamp(record.created),
        changed: translate::timestamp(record.changed),
        due: translate::timestamp(record.due),
        attempts: record.attempts,
        progress: record.progress,
        cancel_requested: record.is_cancel_requested,
        last_end: attempt_end(record.last_end).into(),
        explanation: record.explanation.into_exposed(),
    }
}

fn attempt_end(end: Option<AttemptEnd>) -> v1::QueuedTaskAttemptEnd {
    match end {
        None => v1::QueuedTaskAttemptEnd::Unspecified,
        Some(AttemptEnd::Completed) => v1::QueuedTaskAttemptEnd::Completed,
        Some(AttemptEnd::Stopped) => v1::QueuedTaskAttemptEnd::Stopped,
        Some(AttemptEnd::Failed) => v1::QueuedTaskAttemptEnd::Failed,
        Some(AttemptEnd::InDoubt) => v1::QueuedTaskAttemptEnd::InDoubt,
        Some(AttemptEnd::Panicked) => v1::QueuedTaskAttemptEnd::Panicked,
        Some(AttemptEnd::NoHeartbeat) => v1::QueuedTaskAttemptEnd::NoHeartbeat,
        Some(AttemptEnd::ProcessEnded) => v1::QueuedTaskAttemptEnd::ProcessEnded,
    }
}
