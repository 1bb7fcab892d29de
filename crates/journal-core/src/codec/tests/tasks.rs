//! One event of each kind about tasks of the background queue.

use palyra_types::event::JournalEvent;
use palyra_types::queued_task::{
    AttemptEnd, TaskAttemptEnded, TaskEnqueued, TaskEvent, TaskFollowUp, TaskKey, TaskKind,
};
use palyra_types::{LeaseFence, QueuedTaskId, Timestamp};

pub(super) fn task_events() -> Vec<JournalEvent> {
    let (task, fence) = (QueuedTaskId::from_parts(13, 1), LeaseFence(2));
    let until = Timestamp(1_735_776_000_000_000);
    let enqueued = TaskEnqueued {
        task,
        kind: TaskKind::Compaction,
        key: Some(TaskKey([9; 16])),
        due: Timestamp(1_735_775_000_000_000),
        payload_bytes: 6,
        payload: "window".into(),
    };
    let ended = TaskAttemptEnded {
        task,
        fence,
        end: AttemptEnd::Failed,
        next: TaskFollowUp::Again { due: until },
        explanation: "the model gave no answer".into(),
    };
    let events = [
        TaskEvent::Enqueued(enqueued),
        TaskEvent::Leased { task, fence, until },
        TaskEvent::Progressed { task, fence, marker: 700, until },
        TaskEvent::AttemptEnded(ended),
        TaskEvent::CancelRequested { task },
        TaskEvent::RunNowRequested { task },
        TaskEvent::RetryRequested { task },
        TaskEvent::Dropped { task },
    ];
    events.map(JournalEvent::from).into()
}
