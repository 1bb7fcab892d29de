//! Ten thousand tasks drain, and what is in memory stays small.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use futures::future::{BoxFuture, join_all};
use palyra_journal_core::families::queued_tasks;
use palyra_journal_core::family::{QueryFamilies, ReadFamilies, Snapshot, SnapshotQuery};
use palyra_ports::ReadError;
use palyra_queue::WORKERS_MAX;
use palyra_testkit::{FakeClock, MemoryJournal, RowCounter};
use palyra_types::queued_task::{TaskKind, TaskStage};

use super::super::*;
use super::rig::{World, handlers, locked, new_task, ports};
use crate::drain::Drain;
use crate::driver::BackgroundDriver;

const TASKS: usize = 10_000;
const CALLERS: usize = 500;
/// Rows that one look at the journal may return: a page of leases and counts, or what a batch of commands names.
const ROWS_MAX: usize = 300;

/// A journal that counts the rows of each query.
struct CountedRows {
    journal: MemoryJournal,
    rows_max: Arc<AtomicUsize>,
}

impl ReadFamilies for CountedRows {
    fn run_query(&self, query: SnapshotQuery) -> BoxFuture<'static, Result<(), ReadError>> {
        let rows_max = Arc::clone(&self.rows_max);
        self.journal.run_query(Box::new(move |snapshot| {
            let mut counter = RowCounter::new(snapshot.rows);
            let done = query(Snapshot { rows: &mut counter, log: snapshot.log });
            rows_max.fetch_max(counter.seen(), Ordering::SeqCst);
            done
        }))
    }
}

#[tokio::test]
async fn ten_thousand_tasks_drain_with_few_rows_and_workers_at_a_time() {
    let (journal, clock) = (MemoryJournal::new(), FakeClock::new());
    let (rows_max, world): (Arc<AtomicUsize>, Arc<Mutex<World>>) = (Arc::default(), Arc::default());
    let counted = CountedRows { journal: journal.clone(), rows_max: Arc::clone(&rows_max) };
    let driver = BackgroundDriver::new(Arc::new(clock.clone()), Drain::default());
    let ports = ports(Arc::new(journal.clone()), Arc::new(counted), &clock, 3);
    let queue = spawn_background_queue_loop(&driver, ports, handlers(&world, &clock));
    let kinds = [TaskKind::OutboxSend, TaskKind::SessionCleanup];
    for first in (0..TASKS).step_by(CALLERS) {
        let calls = (first..first + CALLERS)
            .map(|number| queue.enqueue(NewTask { key: None, ..new_task(kinds[number % 2], 0) }));
        assert!(join_all(calls).await.into_iter().all(|receipt| receipt.unwrap().is_new));
    }
    let mut rounds = 0;
    while locked(&world).effects.len() < TASKS {
        rounds += 1;
        assert!(rounds < 3 * TASKS, "{} tasks are done", locked(&world).effects.len());
        for _ in 0..64 {
            tokio::task::yield_now().await;
        }
    }
    let counts = journal.query(|rows, _| queued_tasks::open_counts(rows)).await.unwrap();
    assert_eq!(kinds.map(|kind| counts.of(kind)), [0, 0]);
    {
        let world = locked(&world);
        assert_eq!(world.effects.len(), TASKS);
        assert!(world.effects.values().all(|count| *count == 1), "each once");
        assert!(world.at_work_max <= WORKERS_MAX, "{} workers", world.at_work_max);
    }
    let rows = rows_max.load(Ordering::SeqCst);
    assert!(rows > 0 && rows <= ROWS_MAX, "{rows} rows at a time");
    let done = queued_tasks::TaskQuery { stage: Some(TaskStage::Done), limit: 5, ..Default::default() };
    assert_eq!(queue.list(done).await.unwrap().len(), 5);
}
