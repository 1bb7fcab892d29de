//! Queries over tasks of the background queue.

use palyra_ports::read_records::RECORD_PAGE_ROWS_MAX;
use palyra_queue::{OpenTasks, QueuedTask};
use palyra_types::event::JournalEvent;
use palyra_types::queued_task::{
    OrchestratorBackgroundTaskRecord, TaskEnqueued, TaskEvent, TaskKey, TaskKind, TaskStage,
};
use palyra_types::{PrincipalId, QueuedTaskId, Redacted, Seq, SessionId, Timestamp};

use super::{
    BY_STAGE, BY_TASK, QueuedTaskFamily, QueuedTaskRow, WAITING, in_stage, key, waiting_of_kind, with_key,
};
use crate::family::{
    IndexKey, KeyRange, LogView, RowId, RowScan, RowStore, ScanOrder, StoreFault, find_row, scan_rows,
    scan_wanted, visit_rows,
};

const OPEN_BY_KEY: usize = 3;

/// Which tasks to list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TaskQuery {
    /// Only those in this stage.
    pub stage: Option<TaskStage>,
    /// Only those of this kind.
    pub kind: Option<TaskKind>,
    /// Keyset cursor: tasks below this one.
    pub below: Option<QueuedTaskId>,
    /// At most so many, capped at [`RECORD_PAGE_ROWS_MAX`].
    pub limit: usize,
}

/// A task as it was put into the queue, with whom it works for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnqueuedTask {
    /// On whose behalf; nil for the daemon itself.
    pub principal: PrincipalId,
    /// The session that it works for.
    pub session: Option<SessionId>,
    /// When it was put into the queue.
    pub created: Timestamp,
    /// The task.
    pub enqueued: TaskEnqueued,
}

/// Returns a task with the entry that put it into the queue.
///
/// # Errors
/// [`StoreFault`] when the store fails; so for every query.
pub fn task(rows: &mut dyn RowStore, task: QueuedTaskId) -> Result<Option<(Seq, QueuedTaskRow)>, StoreFault> {
    let found = find_row::<QueuedTaskFamily>(rows, BY_TASK, &key(task))?;
    Ok(found.map(|(id, row)| (id.into(), row)))
}

/// Returns the first tasks of a kind that wait, by urgency and then by the time at which they are due, each with the entry
/// that put it into the queue.
///
/// # Errors
/// See [`task`].
pub fn waiting(
    rows: &mut dyn RowStore,
    kind: TaskKind,
    limit: usize,
) -> Result<Vec<(Seq, QueuedTask)>, StoreFault> {
    let range = KeyRange::of_prefix(waiting_of_kind(kind));
    let found = scan_rows::<QueuedTaskFamily>(rows, WAITING, range, ScanOrder::Ascending, limit)?;
    Ok(found.into_iter().map(|(id, row)| (id.into(), row.task)).collect())
}

/// Returns the tasks that a worker is at.
///
/// # Errors
/// See [`task`].
pub fn leased(rows: &mut dyn RowStore) -> Result<Vec<QueuedTaskRow>, StoreFault> {
    let range = KeyRange::of_prefix(in_stage(TaskStage::Leased));
    let order = ScanOrder::Ascending;
    let found = scan_rows::<QueuedTaskFamily>(rows, BY_STAGE, range, order, usize::MAX)?;
    Ok(found.into_iter().map(|(_, row)| row).collect())
}

/// Counts the open tasks of each kind, page by page.
///
/// # Errors
/// See [`task`].
pub fn open_counts(rows: &mut dyn RowStore) -> Result<OpenTasks, StoreFault> {
    let mut open = OpenTasks::default();
    for stage in [TaskStage::Waiting, TaskStage::Leased] {
        let range = KeyRange::of_prefix(in_stage(stage));
        visit_rows::<QueuedTaskFamily>(rows, BY_STAGE, range, |row| open.opened(row.task.state().kind))?;
    }
    Ok(open)
}

/// Returns the open task of a kind and principal with this subject.
///
/// # Errors
/// See [`task`].
pub fn open_with_key(
    rows: &mut dyn RowStore,
    kind: TaskKind,
    principal: PrincipalId,
    task_key: TaskKey,
) -> Result<Option<QueuedTaskId>, StoreFault> {
    let range = KeyRange::of_prefix(with_key(kind, principal, task_key));
    let found = scan_rows::<QueuedTaskFamily>(rows, OPEN_BY_KEY, range, ScanOrder::Ascending, 1)?;
    Ok(found.first().map(|(_, row)| row.task.state().task))
}

/// Returns what the entry says that put a task into the queue.
///
/// # Errors
/// [`StoreFault`] when the store fails, or the entry put no task into the queue.
pub fn enqueued(log: &mut dyn LogView, seq: Seq) -> Result<EnqueuedTask, StoreFault> {
    let entry = log.entry(seq)?;
    match entry.event {
        JournalEvent::Task(TaskEvent::Enqueued(enqueued)) => Ok(EnqueuedTask {
            principal: entry.principal,
            session: entry.session,
            created: entry.time,
            enqueued,
        }),
        _ => Err(StoreFault::Contradiction { seq }),
    }
}

/// Returns a page of tasks, those with the highest ids first, which are the newest.
///
/// # Errors
/// [`StoreFault`] when the store fails, or a row contradicts its entry.
pub fn records(
    rows: &mut dyn RowStore,
    log: &mut dyn LogView,
    query: &TaskQuery,
) -> Result<Vec<OrchestratorBackgroundTaskRecord>, StoreFault> {
    let (index, prefix) = match query.stage {
        Some(stage) => (BY_STAGE, in_stage(stage)),
        None => (BY_TASK, IndexKey::new()),
    };
    let mut range = KeyRange::of_prefix(prefix.clone());
    if let Some(below) = query.below {
        range.until = prefix.bytes(&below.to_bytes());
    }
    let limit = query.limit.clamp(1, RECORD_PAGE_ROWS_MAX);
    let scan = RowScan { index, range, after: None, order: ScanOrder::Descending, limit };
    let is_of_kind = |row: &QueuedTaskRow| query.kind.is_none_or(|kind| row.task.state().kind == kind);
    let found = scan_wanted::<QueuedTaskFamily>(rows, scan, is_of_kind)?;
    found.into_iter().map(|(id, row)| record(log, id, &row)).collect()
}

fn record(
    log: &mut dyn LogView,
    id: RowId,
    row: &QueuedTaskRow,
) -> Result<OrchestratorBackgroundTaskRecord, StoreFault> {
    let seq = Seq::from(id);
    let EnqueuedTask { principal, session, created, .. } = enqueued(log, seq)?;
    let state = row.task.state();
    Ok(OrchestratorBackgroundTaskRecord {
        task: state.task,
        kind: state.kind,
        principal,
        session,
        seq,
        created,
        changed: row.changed,
        stage: state.stage,
        due: state.due,
        fence: state.fence,
        attempts: state.attempts,
        progress: state.progress,
        is_cancel_requested: state.is_cancel_requested,
        last_end: state.last_end,
        explanation: explanation(log, row.explained)?,
    })
}

fn explanation(log: &mut dyn LogView, ended: Option<Seq>) -> Result<Redacted<String>, StoreFault> {
    let Some(seq) = ended else { return Ok(Redacted::default()) };
    match log.entry(seq)?.event {
        JournalEvent::Task(TaskEvent::AttemptEnded(ended)) => Ok(ended.explanation),
        _ => Err(StoreFault::Contradiction { seq }),
    }
}
