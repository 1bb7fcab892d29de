//! Tasks of the background queue: one row for each, made by the entry that put it into the queue and folded by the task's
//! own rules.
//!
//! Invariant: a row is what [`QueuedTask::evolve`] makes of the task's entries, and nothing else writes it.

mod queries;

use palyra_queue::{QueuedTask, TaskState};
use palyra_types::event::JournalEvent;
use palyra_types::queued_task::{TaskEvent, TaskKey, TaskKind, TaskStage};
use palyra_types::{LeaseFence, PrincipalId, QueuedTaskId, Seq, Timestamp};

use crate::codec::task_entries::{
    attempt_end_from_number, attempt_end_number, kind_from_number, kind_number,
};
use crate::family::{
    Family, FamilyCache, FamilyIndex, FamilyTable, FoldedEntry, IndexKey, RowsPerKey, StoreFault, StoredRow,
};

pub use queries::{
    EnqueuedTask, TaskQuery, enqueued, leased, open_counts, open_with_key, records, task, waiting,
};

/// The family.
pub struct QueuedTaskFamily;

/// A task, and what of it the queue does not decide by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueuedTaskRow {
    /// The task.
    pub task: QueuedTask,
    /// On whose behalf.
    pub principal: PrincipalId,
    /// When it changed last.
    pub changed: Timestamp,
    /// The entry that ended its latest attempt which did not complete it.
    pub explained: Option<Seq>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct TaskFacts {
    #[prost(bytes = "vec", tag = "1")]
    task: Vec<u8>,
    #[prost(uint32, tag = "2")]
    kind: u32,
    #[prost(bytes = "vec", tag = "3")]
    key: Vec<u8>,
    #[prost(uint32, tag = "4")]
    stage: u32,
    #[prost(int64, tag = "5")]
    due: i64,
    #[prost(bool, tag = "6")]
    is_urgent: bool,
    #[prost(uint32, tag = "7")]
    fence: u32,
    #[prost(int64, tag = "8")]
    until: i64,
    #[prost(uint32, tag = "9")]
    attempts: u32,
    #[prost(uint64, tag = "10")]
    progress: u64,
    #[prost(bool, tag = "11")]
    is_cancel_requested: bool,
    #[prost(uint32, optional, tag = "12")]
    last_end: Option<u32>,
    #[prost(bytes = "vec", tag = "13")]
    principal: Vec<u8>,
    #[prost(int64, tag = "14")]
    changed: i64,
    #[prost(uint64, optional, tag = "15")]
    explained: Option<u64>,
}

const BY_TASK: usize = 0;
const BY_STAGE: usize = 1;
const WAITING: usize = 2;

fn key(task: QueuedTaskId) -> IndexKey {
    IndexKey::new().bytes(&task.to_bytes())
}

fn in_stage(stage: TaskStage) -> IndexKey {
    IndexKey::new().byte(stage_number(stage))
}

fn waiting_of_kind(kind: TaskKind) -> IndexKey {
    IndexKey::new().byte(kind_number(kind))
}

fn with_key(kind: TaskKind, principal: PrincipalId, key: TaskKey) -> IndexKey {
    IndexKey::new().byte(kind_number(kind)).bytes(&principal.to_bytes()).bytes(&key.0)
}

impl Family for QueuedTaskFamily {
    const TABLE: &'static FamilyTable = &FamilyTable {
        name: "queued_task",
        version: 2,
        indexes: &[
            FamilyIndex { name: "by_task", rows_per_key: RowsPerKey::One },
            FamilyIndex { name: "by_stage", rows_per_key: RowsPerKey::Many },
            FamilyIndex { name: "waiting", rows_per_key: RowsPerKey::Many },
            FamilyIndex { name: "open_by_key", rows_per_key: RowsPerKey::Many },
        ],
        content: &[],
    };

    const HAS_FIXED_KEYS: bool = true;

    type Row = QueuedTaskRow;

    fn facts(row: &QueuedTaskRow) -> Vec<u8> {
        let state = row.task.state();
        prost::Message::encode_to_vec(&TaskFacts {
            task: state.task.to_bytes().to_vec(),
            kind: kind_number(state.kind).into(),
            key: state.key.map_or_else(Vec::new, |key| key.0.to_vec()),
            stage: stage_number(state.stage).into(),
            due: state.due.0,
            is_urgent: state.is_urgent,
            fence: state.fence.0,
            until: state.until.0,
            attempts: state.attempts,
            progress: state.progress,
            is_cancel_requested: state.is_cancel_requested,
            last_end: state.last_end.map(|end| attempt_end_number(end).into()),
            principal: row.principal.to_bytes().to_vec(),
            changed: row.changed.0,
            explained: row.explained.map(|seq| seq.0),
        })
    }

    fn load(stored: &StoredRow) -> Option<QueuedTaskRow> {
        let facts = <TaskFacts as prost::Message>::decode(stored.facts.as_slice()).ok()?;
        let task_key = match facts.key.as_slice() {
            [] => None,
            key => Some(TaskKey(key.try_into().ok()?)),
        };
        let state = TaskState {
            task: QueuedTaskId::from_bytes(facts.task.try_into().ok()?),
            kind: kind_from_number(facts.kind)?,
            key: task_key,
            stage: stage_from_number(facts.stage)?,
            due: Timestamp(facts.due),
            is_urgent: facts.is_urgent,
            fence: LeaseFence(facts.fence),
            until: Timestamp(facts.until),
            attempts: facts.attempts,
            progress: facts.progress,
            is_cancel_requested: facts.is_cancel_requested,
            last_end: match facts.last_end {
                None => None,
                Some(number) => Some(attempt_end_from_number(number)?),
            },
        };
        Some(QueuedTaskRow {
            task: QueuedTask::restored(state),
            principal: PrincipalId::from_bytes(facts.principal.try_into().ok()?),
            changed: Timestamp(facts.changed),
            explained: facts.explained.map(Seq),
        })
    }

    fn index(row: &QueuedTaskRow, index: usize) -> Option<IndexKey> {
        let state = row.task.state();
        match index {
            BY_TASK => Some(key(state.task)),
            BY_STAGE => Some(in_stage(state.stage).bytes(&state.task.to_bytes())),
            WAITING => {
                let is_waiting = state.stage == TaskStage::Waiting;
                let key = waiting_of_kind(state.kind).byte(u8::from(!state.is_urgent)).signed(state.due.0);
                is_waiting.then_some(key)
            }
            _ => {
                let task_key = state.key.filter(|_| state.stage.is_open())?;
                Some(with_key(state.kind, row.principal, task_key))
            }
        }
    }

    fn fold(rows: &mut FamilyCache<'_, Self>, entry: &FoldedEntry<'_>) -> Result<(), StoreFault> {
        let JournalEvent::Task(event) = entry.event else { return Ok(()) };
        let key = key(event.task());
        if let TaskEvent::Enqueued(enqueued) = event {
            // The first entry with an id counts, so that a repeated one changes nothing.
            if rows.find(BY_TASK, &key)?.is_some() {
                return Ok(());
            }
            let task = QueuedTask::enqueued(enqueued);
            let row =
                QueuedTaskRow { task, principal: entry.principal, changed: entry.time, explained: None };
            return rows.insert(entry, row);
        }
        rows.change_by(BY_TASK, &key, |row| change(row, entry, event))
    }
}

fn change(row: &mut QueuedTaskRow, entry: &FoldedEntry<'_>, event: &TaskEvent) {
    let before = row.task;
    row.task.evolve(event);
    if row.task == before {
        return;
    }
    row.changed = entry.time;
    if let TaskEvent::AttemptEnded(_) = event {
        // Whether there is an explanation is content, so every end that may have one is named.
        row.explained = Some(entry.seq);
    }
}

fn stage_number(stage: TaskStage) -> u8 {
    match stage {
        TaskStage::Waiting => 1,
        TaskStage::Leased => 2,
        TaskStage::Done => 3,
        TaskStage::DeadLetter => 4,
        TaskStage::OutcomeUnknown => 5,
        TaskStage::Cancelled => 6,
        TaskStage::Dropped => 7,
    }
}

fn stage_from_number(number: u32) -> Option<TaskStage> {
    TaskStage::ALL.iter().map(|(stage, _)| *stage).find(|stage| u32::from(stage_number(*stage)) == number)
}
