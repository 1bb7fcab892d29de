//! The process ends at each write in turn, before or after its commit; afterwards each task is done once, or its outcome is
//! known to be unknown.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_ports::{AppendError, AppendTape, Clock, CommitReceipt, JournalAppendRequest, MaintainJournal};
use palyra_testkit::{FakeClock, MemoryJournal};
use palyra_types::queued_task::{AttemptEnd, OrchestratorBackgroundTaskRecord, TaskKind, TaskStage};
use tokio::sync::Notify;

use super::super::*;
use super::rig::{KINDS, Script, World, handlers, locked, new_task, ports};
use crate::drain::Drain;
use crate::driver::BackgroundDriver;

/// Where a life ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kill {
    Before(usize),
    After(usize),
    Never,
}

/// A journal whose process ends at a write.
struct MortalJournal {
    journal: MemoryJournal,
    kill: Kill,
    writes: AtomicUsize,
    dead: Arc<Notify>,
}

impl AppendTape for MortalJournal {
    fn append(
        &self,
        request: JournalAppendRequest,
    ) -> BoxFuture<'static, Result<CommitReceipt, AppendError>> {
        let write = self.writes.fetch_add(1, Ordering::SeqCst);
        let dies = self.kill == Kill::Before(write) || self.kill == Kill::After(write);
        if !dies {
            return self.journal.append(request);
        }
        let commits = (self.kill == Kill::After(write)).then(|| self.journal.append(request));
        let dead = Arc::clone(&self.dead);
        async move {
            if let Some(commits) = commits {
                commits.await.unwrap();
            }
            dead.notify_one();
            std::future::pending().await
        }
        .boxed()
    }
}

/// Everything that outlives a process.
struct Outside {
    journal: MemoryJournal,
    clock: FakeClock,
    world: Arc<Mutex<World>>,
}

impl Outside {
    fn new() -> Self {
        let world: Arc<Mutex<World>> = Arc::default();
        for (kind, script) in [
            (TaskKind::Backup, Script::Fail),
            (TaskKind::JournalCare, Script::Slow),
            (TaskKind::OutboxSend, Script::Slow),
        ] {
            locked(&world).script(kind, [script]);
        }
        Self { journal: MemoryJournal::new(), clock: FakeClock::new(), world }
    }

    /// Lives until the kill, or until every task has ended. Returns how many writes there were and the tasks.
    fn live(&self, kill: Kill) -> (usize, Vec<OrchestratorBackgroundTaskRecord>) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        // The runtime is dropped with all of its tasks, as a process is.
        runtime.block_on(self.life(kill))
    }

    async fn life(&self, kill: Kill) -> (usize, Vec<OrchestratorBackgroundTaskRecord>) {
        let journal = self.journal.restarted();
        let dead = Arc::new(Notify::new());
        let mortal = Arc::new(MortalJournal {
            journal: journal.clone(),
            kill,
            writes: AtomicUsize::new(0),
            dead: Arc::clone(&dead),
        });
        let driver = BackgroundDriver::new(Arc::new(self.clock.clone()), Drain::default());
        let seed = journal.status().entries;
        let ports = ports(Arc::clone(&mortal) as Arc<_>, Arc::new(journal), &self.clock, seed);
        let queue = spawn_background_queue_loop(&driver, ports, handlers(&self.world, &self.clock));
        let read = queue.clone();
        let ends = tokio::select! {
            biased;
            () = dead.notified() => false,
            () = self.until_all_ended(&queue) => true,
        };
        assert!(ends || kill != Kill::Never);
        let query =
            palyra_journal_core::families::queued_tasks::TaskQuery { limit: 99, ..Default::default() };
        (mortal.writes.load(Ordering::SeqCst), read.list(query).await.unwrap())
    }

    async fn until_all_ended(&self, queue: &BackgroundQueue) {
        let query =
            palyra_journal_core::families::queued_tasks::TaskQuery { limit: 99, ..Default::default() };
        let known = queue.list(query).await.unwrap();
        for kind in KINDS {
            if known.iter().all(|record| record.kind != kind) {
                queue.enqueue(new_task(kind, 1)).await.unwrap();
            }
        }
        loop {
            for _ in 0..32 {
                tokio::task::yield_now().await;
            }
            let open = queue.list(query).await.unwrap().iter().any(|record| record.stage.is_open());
            if !open {
                return;
            }
            let next = self.clock.next_deadline().map(|deadline| deadline.since(self.clock.boot()));
            self.clock.advance(next.unwrap_or(Duration::from_secs(1)).max(Duration::from_millis(1)));
        }
    }

    fn check(&self, tasks: &[OrchestratorBackgroundTaskRecord], kills: &[Kill]) -> usize {
        assert_eq!(tasks.len(), KINDS.len(), "{kills:?}: {tasks:?}");
        let mut unknown = 0;
        for task in tasks {
            let effects = locked(&self.world).effects.get(&task.task).copied().unwrap_or(0);
            match (task.kind, task.stage) {
                (TaskKind::OutboxSend, TaskStage::OutcomeUnknown) => {
                    assert!(effects <= 1, "{kills:?}: {effects} times {task:?}");
                    assert_eq!(task.last_end, Some(AttemptEnd::ProcessEnded));
                    unknown += 1;
                }
                (TaskKind::OutboxSend, TaskStage::Done) => assert_eq!(effects, 1, "{kills:?}: {task:?}"),
                (_, TaskStage::Done) => assert!(effects >= 1, "{kills:?}: {task:?}"),
                (_, _) => panic!("{kills:?}: {task:?}"),
            }
        }
        unknown
    }
}

#[test]
fn after_an_end_of_the_process_at_any_write_each_task_is_done_once_or_its_outcome_is_unknown() {
    let (writes, tasks) = {
        let outside = Outside::new();
        let life = outside.live(Kill::Never);
        assert_eq!(outside.check(&life.1, &[]), 0);
        life
    };
    assert!(writes >= 8, "{writes} writes");
    assert!(tasks.iter().any(|task| task.progress > 0), "a heartbeat is among them: {tasks:?}");
    let mut unknown = 0;
    for write in 0..writes {
        for kill in [Kill::Before(write), Kill::After(write)] {
            let outside = Outside::new();
            outside.live(kill);
            let (_, tasks) = outside.live(Kill::Never);
            unknown += outside.check(&tasks, &[kill]);
        }
    }
    assert!(unknown > 0, "some kill met a worker of an opaque task");
}

#[test]
fn a_second_end_of_the_process_during_the_recovery_changes_nothing_of_that() {
    for first in 0..12 {
        for second in 0..6 {
            let kills = [Kill::After(first), Kill::Before(second)];
            let outside = Outside::new();
            for kill in kills {
                outside.live(kill);
            }
            let (_, tasks) = outside.live(Kill::Never);
            outside.check(&tasks, &kills);
        }
    }
}
