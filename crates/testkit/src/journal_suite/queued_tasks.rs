//! Tasks of the background queue.

use palyra_journal_core::families::queued_tasks::{self, TaskQuery};
use palyra_journal_core::family::QueryFamilies;
use palyra_ports::{AppendTape, NewEntry};
use palyra_types::queued_task::{
    AttemptEnd, OrchestratorBackgroundTaskRecord, TaskAttemptEnded, TaskEnqueued, TaskEvent, TaskFollowUp,
    TaskKey, TaskKind, TaskStage,
};
use palyra_types::{LeaseFence, QueuedTaskId, Seq, Timestamp};

use super::JournalFactory;
use super::samples::{self, append};

fn id(number: u128) -> QueuedTaskId {
    QueuedTaskId::from_parts(13, number)
}

fn enqueued(number: u128, kind: TaskKind, due: i64) -> TaskEnqueued {
    TaskEnqueued {
        task: id(number),
        kind,
        key: Some(TaskKey([7; 16])),
        due: Timestamp(due),
        payload_bytes: 4,
        payload: "idle".into(),
    }
}

async fn record<F: JournalFactory>(journal: &F::Journal, time: i64, event: TaskEvent) -> Seq {
    let session = samples::session(samples::principal(0), 1);
    let entry = NewEntry {
        time: Timestamp(time),
        principal: session.principal,
        session: Some(session.id),
        run: None,
        event: event.into(),
    };
    journal.append(append(vec![entry])).await.unwrap().first_seq
}

async fn listed<F: JournalFactory>(
    journal: &F::Journal,
    query: TaskQuery,
) -> Vec<OrchestratorBackgroundTaskRecord> {
    journal.query(move |rows, log| queued_tasks::records(rows, log, &query)).await.unwrap()
}

async fn waiting<F: JournalFactory>(journal: &F::Journal, kind: TaskKind) -> Vec<QueuedTaskId> {
    let found = journal.query(move |rows, _| queued_tasks::waiting(rows, kind, 9)).await.unwrap();
    found.into_iter().map(|(_, task)| task.state().task).collect()
}

fn ended(number: u128, fence: u32, end: AttemptEnd, next: TaskFollowUp) -> TaskEvent {
    let explanation = "the disk is full".into();
    TaskEvent::AttemptEnded(TaskAttemptEnded {
        task: id(number),
        fence: LeaseFence(fence),
        end,
        next,
        explanation,
    })
}

async fn keyed<F: JournalFactory>(
    journal: &F::Journal,
    principal: u128,
    key: [u8; 16],
) -> Option<QueuedTaskId> {
    let principal = samples::principal(principal);
    let kind = TaskKind::Reflection;
    let found =
        journal.query(move |rows, _| queued_tasks::open_with_key(rows, kind, principal, TaskKey(key)));
    found.await.unwrap()
}

fn ids(found: &[OrchestratorBackgroundTaskRecord]) -> Vec<QueuedTaskId> {
    found.iter().map(|one| one.task).collect()
}

/// A task is what its entries say, and an end of a lease that is over changes nothing.
pub async fn a_task_is_folded_from_its_entries<F: JournalFactory>(factory: &F) {
    let journal = factory.make();
    let born = record::<F>(&journal, 5, TaskEvent::Enqueued(enqueued(1, TaskKind::Backup, 9))).await;
    record::<F>(&journal, 6, TaskEvent::Enqueued(enqueued(1, TaskKind::Compaction, 1))).await;
    let lease = |fence| TaskEvent::Leased { task: id(1), fence: LeaseFence(fence), until: Timestamp(90) };
    record::<F>(&journal, 7, lease(1)).await;
    let again = TaskFollowUp::Again { due: Timestamp(50) };
    let failed = record::<F>(&journal, 8, ended(1, 1, AttemptEnd::Failed, again)).await;
    record::<F>(&journal, 9, ended(1, 1, AttemptEnd::Completed, TaskFollowUp::Done)).await;
    let found = listed::<F>(&journal, TaskQuery { limit: 9, ..TaskQuery::default() }).await;
    let one = &found[0];
    assert_eq!(found.len(), 1);
    assert_eq!((one.stage, one.due, one.attempts), (TaskStage::Waiting, Timestamp(50), 1));
    assert_eq!((one.seq, one.created, one.changed), (born, Timestamp(5), Timestamp(8)));
    assert_eq!(
        (one.session, one.kind),
        (Some(samples::session(samples::principal(0), 1).id), TaskKind::Backup)
    );
    assert_eq!(
        (one.last_end, one.explanation.expose().as_str()),
        (Some(AttemptEnd::Failed), "the disk is full")
    );
    factory.erase(&journal, failed);
    factory.erase(&journal, born);
    let found = listed::<F>(&journal, TaskQuery { limit: 9, ..TaskQuery::default() }).await;
    assert_eq!((found[0].explanation.expose().as_str(), found[0].stage), ("", TaskStage::Waiting));
    let payload = journal.query(move |_, log| queued_tasks::enqueued(log, born)).await.unwrap();
    assert!(payload.enqueued.is_erased());
}

/// Workers find the first tasks of a kind, and lists are filtered by stage and kind.
pub async fn tasks_are_found_by_what_they_wait_for<F: JournalFactory>(factory: &F) {
    let journal = factory.make();
    let backup = TaskKind::Backup;
    let other = TaskKind::Reflection;
    for (number, kind, due) in [(1, backup, 30), (2, backup, 10), (3, other, 5), (4, backup, 20)] {
        record::<F>(&journal, 5, TaskEvent::Enqueued(enqueued(number, kind, due))).await;
    }
    assert_eq!(waiting::<F>(&journal, backup).await, [id(2), id(4), id(1)]);
    record::<F>(&journal, 6, TaskEvent::RunNowRequested { task: id(1) }).await;
    assert_eq!(waiting::<F>(&journal, backup).await, [id(1), id(2), id(4)]);
    let until = Timestamp(90);
    record::<F>(&journal, 7, TaskEvent::Leased { task: id(1), fence: LeaseFence(1), until }).await;
    record::<F>(&journal, 7, TaskEvent::CancelRequested { task: id(2) }).await;
    assert_eq!(waiting::<F>(&journal, backup).await, [id(4)]);
    let leased = journal.query(|rows, _| queued_tasks::leased(rows)).await.unwrap();
    assert_eq!(leased.iter().map(|row| row.task.state().task).collect::<Vec<_>>(), [id(1)]);
    let open = journal.query(|rows, _| queued_tasks::open_counts(rows)).await.unwrap();
    assert_eq!((open.of(backup), open.of(other)), (2, 1));
    assert_eq!(keyed::<F>(&journal, 0, [7; 16]).await, Some(id(3)));
    assert_eq!(
        (keyed::<F>(&journal, 1, [7; 16]).await, keyed::<F>(&journal, 0, [8; 16]).await),
        (None, None)
    );
    record::<F>(&journal, 8, TaskEvent::CancelRequested { task: id(3) }).await;
    assert_eq!(keyed::<F>(&journal, 0, [7; 16]).await, None, "not open any more");
    let all = TaskQuery { limit: 3, ..TaskQuery::default() };
    assert_eq!(ids(&listed::<F>(&journal, all).await), [id(4), id(3), id(2)]);
    assert_eq!(ids(&listed::<F>(&journal, TaskQuery { below: Some(id(2)), ..all }).await), [id(1)]);
    let cancelled = TaskQuery { stage: Some(TaskStage::Cancelled), ..all };
    assert_eq!(ids(&listed::<F>(&journal, cancelled).await), [id(3), id(2)]);
    assert_eq!(ids(&listed::<F>(&journal, TaskQuery { kind: Some(backup), ..cancelled }).await), [id(2)]);
    assert_eq!(ids(&listed::<F>(&journal, TaskQuery { below: Some(id(3)), ..cancelled }).await), [id(2)]);
}
