//! Background tasks with their last status, for the owner of the socket.

use palyra_background::{TaskState, TaskStatus};
use palyra_runtime::Caller;
use palyra_wire::v1::{
    BackgroundTask, BackgroundTaskState, ListBackgroundTasksRequest, ListBackgroundTasksResponse,
};

use crate::api_error::ApiError;
use crate::operations::OperationHandlers;
use crate::translate;

impl OperationHandlers {
    /// Answers `ListBackgroundTasks`.
    pub async fn list_background_tasks(
        &self,
        _caller: Caller,
        _message: ListBackgroundTasksRequest,
    ) -> Result<ListBackgroundTasksResponse, ApiError> {
        let tasks = self.state.health.background_tasks().into_iter().map(background_task).collect();
        Ok(ListBackgroundTasksResponse { tasks })
    }
}

fn background_task(status: TaskStatus) -> BackgroundTask {
    let (state, next_tick) = match status.state {
        TaskState::Running => (BackgroundTaskState::Running, None),
        TaskState::Waiting { until } => (BackgroundTaskState::Waiting, until),
        TaskState::Finished => (BackgroundTaskState::Finished, None),
    };
    let mut task = BackgroundTask {
        name: status.name.to_owned(),
        state: state.into(),
        next_tick: next_tick.and_then(translate::timestamp),
        ticks: status.ticks,
        failures_in_a_row: status.failures_in_a_row,
        ..BackgroundTask::default()
    };
    if let Some(last) = status.last {
        task.last_started = translate::timestamp(last.started);
        task.last_duration_us = u64::try_from(last.duration.as_micros()).unwrap_or(u64::MAX);
        task.last_failure = last.failure.unwrap_or_default();
    }
    task
}
