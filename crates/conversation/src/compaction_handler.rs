//! Sums up a session as a task of the background queue.
//!
//! A repeated attempt finds a shorter older part or none, so nothing is summed up twice.

use futures::future::BoxFuture;
use palyra_admin::AdminError;
use palyra_background::queue::{NewTask, TaskEnd, TaskHandler, TaskWork};
use palyra_context::session_history::SUMMARY_RUNS_MIN;
use palyra_journal_core::families::runs;
use palyra_journal_core::family::QueryFamilies;
use palyra_ports::read_records::{RECORD_PAGE_ROWS_MAX, RunFilter, RunQuery};
use palyra_types::Content;
use palyra_types::compaction::CompactionCause;
use palyra_types::queued_task::{TaskKey, TaskKind};
use palyra_types::session::SessionRef;

use crate::conversations::{ConversationsHandle, NewCompaction};

/// Sums up sessions.
pub struct CompactionHandler {
    conversations: ConversationsHandle,
}

impl CompactionHandler {
    /// Makes a handler.
    #[must_use]
    pub fn new(conversations: ConversationsHandle) -> Self {
        Self { conversations }
    }
}

impl TaskHandler for CompactionHandler {
    fn kind(&self) -> TaskKind {
        TaskKind::Compaction
    }

    fn run(&self, work: TaskWork) -> BoxFuture<'static, TaskEnd> {
        let conversations = self.conversations.clone();
        Box::pin(async move {
            let (Some(id), Some(cause)) = (work.session, cause_of(work.payload.expose())) else {
                return TaskEnd::Failed(Content::from("the task names no session or no cause"));
            };
            let session = SessionRef { principal: work.principal, id };
            tokio::select! {
                biased;
                () = work.lease.stop_requested() => TaskEnd::Stopped,
                made = compact(&conversations, session, cause) => match made {
                    Ok(()) => TaskEnd::Completed,
                    Err(error) => TaskEnd::Failed(Content::new(error.to_string())),
                },
            }
        })
    }
}

/// Returns the task that sums up a session. One for each session is open at a time.
pub(crate) fn compaction_task(session: SessionRef, cause: CompactionCause) -> NewTask {
    NewTask {
        kind: TaskKind::Compaction,
        principal: session.principal,
        session: Some(session.id),
        key: Some(TaskKey(session.id.to_bytes())),
        due: None,
        payload: word(cause).into(),
    }
}

/// Returns how many finished runs of a session its summary does not cover, as far as they are on one page.
pub(crate) async fn runs_without_summary(
    conversations: &ConversationsHandle,
    session: SessionRef,
) -> Result<usize, AdminError> {
    let upto = match conversations.in_force(session).await {
        Ok(record) => record.map(|record| record.made.upto()),
        Err(AdminError::SessionNotFound) => return Ok(0),
        Err(error) => return Err(error),
    };
    let query = RunQuery {
        principal: session.principal,
        session: Some(session.id),
        only: RunFilter::Finished,
        before: None,
        limit: RECORD_PAGE_ROWS_MAX,
    };
    let page = conversations.ports().families.query(move |rows, _| runs::records(rows, &query)).await?;
    Ok(page.iter().filter(|run| upto.is_none_or(|upto| run.first_seq > upto)).count())
}

/// Sums up, if there is something to gain.
async fn compact(
    conversations: &ConversationsHandle,
    session: SessionRef,
    cause: CompactionCause,
) -> Result<(), AdminError> {
    // Another summary may have been made since the task was put into the queue.
    if cause == CompactionCause::Idle
        && runs_without_summary(conversations, session).await? < SUMMARY_RUNS_MIN
    {
        return Ok(());
    }
    match conversations.compact(NewCompaction { session, cause, actor: None, run: None }).await {
        Ok(_)
        | Err(
            AdminError::InvalidArgument { .. }
            | AdminError::SessionTooShort { .. }
            | AdminError::SessionNotFound,
        ) => Ok(()),
        Err(error) => Err(error),
    }
}

const CAUSES: [CompactionCause; 3] =
    [CompactionCause::Window, CompactionCause::Refused, CompactionCause::Idle];

fn word(cause: CompactionCause) -> &'static str {
    match cause {
        CompactionCause::Person => "person",
        CompactionCause::Window => "window",
        CompactionCause::Refused => "refused",
        CompactionCause::Idle => "idle",
    }
}

fn cause_of(payload: &str) -> Option<CompactionCause> {
    CAUSES.into_iter().find(|cause| word(*cause) == payload)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_payload_says_the_cause() {
        for cause in CAUSES {
            assert_eq!(cause_of(word(cause)), Some(cause));
        }
        for unknown in ["", "person", "Window"] {
            assert_eq!(cause_of(unknown), None, "{unknown}");
        }
    }
}
