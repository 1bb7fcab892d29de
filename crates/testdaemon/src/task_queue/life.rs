//! One life: tasks are put into the queue where they are missing, and time passes until all of them have ended.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use palyra_background::queue::{
    BackgroundQueue, NewTask, QueuePorts, TaskQuery, spawn_background_queue_loop,
};
use palyra_background::{BackgroundDriver, Drain};
use palyra_journal::{JournalStore, OpenOptions};
use palyra_ports::{Clock, MaintainJournal, Recorder};
use palyra_testkit::{FakeClock, FixedEntropy, PassThrough};
use palyra_types::PrincipalId;
use palyra_types::queued_task::{OrchestratorBackgroundTaskRecord, TaskKey, TaskKind};
use serde::{Deserialize, Serialize};

use super::handlers::{TASKS, handlers};
use super::killed_journal::{KilledJournal, OpenRequests, QueueKill, QueueMistake};

/// Time between the beginnings of two lives, which is longer than any of them.
const LIFE_SPAN: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// Turns that other tasks get before the clock moves.
const TURNS: usize = 64;
/// Moves of the clock in one life, at most.
const MOVES_MAX: usize = 5_000;
const TASKS_LISTED: usize = 99;

/// The settings of a life.
#[derive(Debug, Clone)]
pub struct QueueLife {
    /// Where the journal is.
    pub state_dir: PathBuf,
    /// The file of effects.
    pub effects: PathBuf,
    /// Its number, from 0.
    pub number: u64,
    /// Where it is killed.
    pub kill: QueueKill,
    /// The mistake on purpose.
    pub mistake: QueueMistake,
}

/// The report of a life that was not killed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LifeReport {
    /// Writes of the queue.
    pub writes: usize,
    /// The result of the check of every entry.
    pub fault: Option<String>,
    /// The tasks.
    pub tasks: Vec<TaskReport>,
}

/// The end of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskReport {
    /// Its id.
    pub task: String,
    /// Its kind.
    pub kind: String,
    /// Its stage.
    pub stage: String,
    /// The marker of its latest heartbeat that was recorded.
    pub progress: u64,
}

/// Lives until every task has ended, or until the kill.
///
/// # Errors
/// When the journal cannot be opened, or a task does not end.
pub async fn live(life: QueueLife) -> Result<LifeReport> {
    let clock = FakeClock::new();
    clock.advance(LIFE_SPAN * u32::try_from(life.number).context("a life has a small number")?);
    // Ids of different lives differ.
    let entropy = Arc::new(FixedEntropy::new(1 + life.number));
    let shared: Arc<dyn Clock> = Arc::new(clock.clone());
    let options =
        OpenOptions::new(life.state_dir.clone(), Arc::clone(&shared), Arc::clone(&entropy) as Arc<_>);
    let journal = JournalStore::open(&options).context("could not open the journal")?;
    let killed = Arc::new(KilledJournal {
        journal: journal.clone(),
        kill: life.kill,
        mistake: life.mistake,
        requests: Arc::new(OpenRequests::default()),
        writes: Arc::default(),
    });
    let redactor = Arc::new(PassThrough);
    let ports = QueuePorts {
        recorder: Recorder::new(Arc::clone(&killed) as Arc<_>, redactor.clone(), Arc::clone(&shared)),
        families: Arc::clone(&killed) as Arc<_>,
        redactor,
        clock: Arc::clone(&shared),
        entropy,
    };
    let driver = BackgroundDriver::new(shared, Drain::default());
    let queue = spawn_background_queue_loop(&driver, ports, handlers(&life.effects, &clock));
    enqueue_missing(&queue).await?;
    let tasks = until_all_ended(&queue, &killed.requests, &clock).await?;
    let verified = journal.verify(Arc::new(|_, _| ())).await.context("could not check the journal")?;
    Ok(LifeReport {
        writes: killed.writes.load(Ordering::SeqCst),
        fault: verified.fault.map(|(seq, what)| format!("entry {}: {what}", seq.0)),
        tasks: tasks.iter().map(report).collect(),
    })
}

fn report(record: &OrchestratorBackgroundTaskRecord) -> TaskReport {
    TaskReport {
        task: record.task.to_string(),
        kind: record.kind.as_str().to_owned(),
        stage: record.stage.as_str().to_owned(),
        progress: record.progress,
    }
}

async fn all(queue: &BackgroundQueue) -> Result<Vec<OrchestratorBackgroundTaskRecord>> {
    let query = TaskQuery { limit: TASKS_LISTED, ..TaskQuery::default() };
    queue.list(query).await.context("could not list the tasks")
}

async fn enqueue_missing(queue: &BackgroundQueue) -> Result<()> {
    let mut known: Vec<TaskKind> = all(queue).await?.iter().map(|record| record.kind).collect();
    for ((kind, payload), number) in TASKS.into_iter().zip(0..) {
        // Those of a kind are put into the queue in their order.
        match known.iter().position(|other| *other == kind) {
            Some(at) => drop(known.swap_remove(at)),
            None => {
                let new = new_task(kind, payload, number);
                queue.enqueue(new).await.context("could not put a task into the queue")?;
            }
        }
    }
    Ok(())
}

fn new_task(kind: TaskKind, payload: &'static str, subject: u8) -> NewTask {
    NewTask {
        kind,
        principal: PrincipalId::NIL,
        session: None,
        key: Some(TaskKey([subject; 16])),
        due: None,
        payload: payload.into(),
    }
}

async fn until_all_ended(
    queue: &BackgroundQueue,
    requests: &OpenRequests,
    clock: &FakeClock,
) -> Result<Vec<OrchestratorBackgroundTaskRecord>> {
    for _ in 0..MOVES_MAX {
        // On one thread nothing is under way afterwards but what waits for the journal or for the clock.
        loop {
            for _ in 0..TURNS {
                tokio::task::yield_now().await;
            }
            if !requests.wait().await {
                break;
            }
        }
        let tasks = all(queue).await?;
        if tasks.iter().all(|task| !task.stage.is_open()) {
            return Ok(tasks);
        }
        let next = clock.next_deadline().map(|deadline| deadline.since(clock.boot()));
        clock.advance(next.unwrap_or(Duration::from_secs(1)).max(Duration::from_millis(1)));
    }
    let tasks = all(queue).await?;
    ensure!(tasks.iter().all(|task| !task.stage.is_open()), "a task is never over: {tasks:?}");
    Ok(tasks)
}
