//! Tasks of the background queue: lists of them, what a person does with them, and the check that finds failed ones.

use palyra_background::queue::PersonAct;
use palyra_journal_core::families::queued_tasks::TaskQuery;
use palyra_types::QueuedTaskId;
use palyra_types::access::ActorIdentity;
use palyra_types::queued_task::{OrchestratorBackgroundTaskRecord, TaskStage};

use crate::error::AdminError;
use crate::health::{CheckLevel, HealthCheck, HealthHandle};

/// Failed tasks that a check counts, at most.
const FAILED_COUNTED_MAX: usize = 100;

impl HealthHandle {
    /// Lists a page of tasks, the newest first.
    ///
    /// # Errors
    /// [`AdminError::Read`].
    pub async fn queued_tasks(
        &self,
        query: TaskQuery,
    ) -> Result<Vec<OrchestratorBackgroundTaskRecord>, AdminError> {
        Ok(self.queue.list(query).await?)
    }

    /// Does what a person asks with a task.
    ///
    /// # Errors
    /// [`AdminError::Queue`].
    pub async fn act_on_task(
        &self,
        actor: ActorIdentity,
        act: PersonAct,
        task: QueuedTaskId,
    ) -> Result<(), AdminError> {
        Ok(self.queue.act(actor, act, task).await?)
    }

    /// Counts tasks that wait for a person.
    pub(crate) async fn failed_tasks(&self) -> Option<HealthCheck> {
        let mut counts = [0; 2];
        for (count, stage) in counts.iter_mut().zip([TaskStage::DeadLetter, TaskStage::OutcomeUnknown]) {
            let query = TaskQuery { stage: Some(stage), limit: FAILED_COUNTED_MAX, ..TaskQuery::default() };
            *count = self.queue.list(query).await.ok()?.len();
        }
        let [dead, unknown] = counts;
        (dead + unknown > 0).then(|| HealthCheck {
            name: "failed_tasks",
            level: CheckLevel::Warning,
            found: format!(
                "{}, {}",
                counted(dead, "background tasks that failed too often"),
                counted(unknown, "whose outcome is not known")
            ),
            mend: "`palyra admin tasks list --failed` lists them; run each again or drop it",
        })
    }
}

fn counted(number: usize, of: &str) -> String {
    let more = if number == FAILED_COUNTED_MAX { " or more" } else { "" };
    format!("{number}{more} {of}")
}
