//! A write-ahead log that has grown is cut, also where readers hold it up for a while.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use palyra_background::queue::{QueuePorts, TaskQuery, spawn_background_queue_loop};
use palyra_background::{BackgroundDriver, Drain};
use palyra_ports::maintain_journal::{JournalStatus, RebuildError, VerifyReport};
use palyra_ports::{AppendError, ReadError, Recorder};
use palyra_testkit::{FakeClock, FixedEntropy, MemoryJournal, PassThrough};
use palyra_types::Seq;
use palyra_types::queued_task::{AttemptEnd, OrchestratorBackgroundTaskRecord, TaskStage};
use palyra_types::tape::JournalEventRecord;

use super::super::upkeep_rules::UpkeepRules;
use super::*;

const MIB: u64 = 1024 * 1024;

struct Config;

impl HasUpkeepRules for Config {
    fn upkeep(&self) -> UpkeepRules {
        UpkeepRules { journal: Some(JournalCareRules::USUAL), ..UpkeepRules::default() }
    }
}

/// A journal with a write-ahead log of some size, which readers hold up so many times.
struct GrownJournal {
    inner: MemoryJournal,
    wal_bytes: AtomicU64,
    held_up: AtomicU32,
}

impl MaintainJournal for GrownJournal {
    fn status(&self) -> JournalStatus {
        JournalStatus { wal_bytes: self.wal_bytes.load(Ordering::SeqCst), ..self.inner.status() }
    }

    fn verify(&self, progress: ProgressCallback) -> BoxFuture<'static, Result<VerifyReport, ReadError>> {
        self.inner.verify(progress)
    }

    fn rebuild(&self, progress: ProgressCallback) -> BoxFuture<'static, Result<u64, RebuildError>> {
        self.inner.rebuild(progress)
    }

    fn shrink_wal(&self) -> BoxFuture<'static, Result<WalShrink, AppendError>> {
        let left = self.held_up.load(Ordering::SeqCst);
        self.held_up.store(left.saturating_sub(1), Ordering::SeqCst);
        if left > 0 {
            return Box::pin(std::future::ready(Ok(WalShrink::HeldUp)));
        }
        self.wal_bytes.store(8 * MIB, Ordering::SeqCst);
        Box::pin(std::future::ready(Ok(WalShrink::Done)))
    }

    fn entries(
        &self,
        from: Seq,
        limit: usize,
    ) -> BoxFuture<'static, Result<Vec<JournalEventRecord>, ReadError>> {
        self.inner.entries(from, limit)
    }
}

/// Lets a journal be looked at, and time pass until its task has ended. Returns the task, if there is one.
async fn cared(wal_bytes: u64, held_up: u32) -> (Arc<GrownJournal>, Vec<OrchestratorBackgroundTaskRecord>) {
    let inner = MemoryJournal::new();
    let fake = FakeClock::new();
    let journal = Arc::new(GrownJournal {
        inner: inner.clone(),
        wal_bytes: AtomicU64::new(wal_bytes),
        held_up: AtomicU32::new(held_up),
    });
    let clock: Arc<dyn Clock> = Arc::new(fake.clone());
    let store = Arc::new(inner);
    let redactor = Arc::new(PassThrough);
    let ports = QueuePorts {
        recorder: Recorder::new(store.clone(), redactor.clone(), Arc::clone(&clock)),
        families: store,
        redactor,
        clock: Arc::clone(&clock),
        entropy: Arc::new(FixedEntropy::new(5)),
    };
    let driver = BackgroundDriver::new(Arc::clone(&clock), Drain::default());
    let (_keep, config) = watch::channel(Arc::new(Config));
    let maintain: Arc<dyn MaintainJournal> = journal.clone();
    let handler = JournalCareHandler::new(Arc::clone(&maintain), config.clone());
    let queue = spawn_background_queue_loop(&driver, ports, vec![Arc::new(handler)]);
    driver.spawn(JournalCareTimer::new(maintain, clock, queue.clone(), config));
    let query = TaskQuery { limit: 9, ..TaskQuery::default() };
    for _ in 0..50 {
        for _ in 0..64 {
            tokio::task::yield_now().await;
        }
        let tasks = queue.list(query).await.expect("a list");
        if tasks.iter().any(|task| !task.stage.is_open()) {
            return (journal, tasks);
        }
        fake.advance(Duration::from_secs(30));
    }
    (journal, queue.list(query).await.expect("a list"))
}

#[tokio::test]
async fn a_log_that_has_grown_is_cut_and_a_small_one_is_left_alone() {
    let (journal, tasks) = cared(64 * MIB, 0).await;
    assert_eq!(journal.status().wal_bytes, 8 * MIB);
    assert_eq!((tasks.len(), tasks[0].stage, tasks[0].attempts), (1, TaskStage::Done, 1));
    assert_eq!(tasks[0].explanation.expose(), "a write-ahead log of 67108864 bytes was cut");
    let (_, tasks) = cared(16 * MIB, 0).await;
    assert_eq!(tasks, []);
}

#[tokio::test]
async fn readers_hold_a_cut_up_and_make_no_dead_letter_of_it() {
    let (journal, tasks) = cared(64 * MIB, 2).await;
    assert_eq!((tasks[0].stage, tasks[0].attempts), (TaskStage::Done, 3));
    assert_eq!(journal.status().wal_bytes, 8 * MIB);
    let (journal, tasks) = cared(64 * MIB, 99).await;
    assert_eq!((tasks[0].stage, tasks[0].attempts), (TaskStage::Done, HELD_UP_ATTEMPTS_MAX));
    assert_eq!(tasks[0].last_end, Some(AttemptEnd::Completed));
    assert_eq!(journal.status().wal_bytes, 64 * MIB);
    assert!(tasks[0].explanation.expose().contains("cut later"), "{tasks:?}");
}
