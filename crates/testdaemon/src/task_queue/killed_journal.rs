//! The journal as the queue sees it: a write may be the last that its process lives to see.

use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, bail};
use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_journal::JournalStore;
use palyra_journal_core::family::{ReadFamilies, SnapshotQuery};
use palyra_ports::{
    AppendError, AppendTape, CommitReceipt, JournalAppendRequest, MaintainJournal, NewEntry, ReadError,
};
use palyra_types::event::JournalEvent;
use palyra_types::queued_task::{AttemptEnd, TaskAttemptEnded, TaskEvent, TaskFollowUp};
use palyra_types::{LeaseFence, Redacted, Seq};
use rustix::process::{Signal, getpid, kill_process};
use tokio::sync::Notify;

/// Where a process is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueueKill {
    /// Never.
    Never,
    /// Right before a write, counted from 0.
    Before(usize),
    /// Right after its commit.
    After(usize),
}

impl FromStr for QueueKill {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self, anyhow::Error> {
        let (word, number) = text.split_once(' ').unwrap_or((text, "0"));
        let number = number.parse().context("a write is a number")?;
        Ok(match word {
            "never" => Self::Never,
            "before" => Self::Before(number),
            "after" => Self::After(number),
            other => bail!("a kill is never, before or after a write, and not {other}"),
        })
    }
}

impl std::fmt::Display for QueueKill {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Never => write!(f, "never"),
            Self::Before(write) => write!(f, "before {write}"),
            Self::After(write) => write!(f, "after {write}"),
        }
    }
}

/// A mistake on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueueMistake {
    /// None.
    None,
    /// A worker begins before its lease is recorded.
    LeaseAfterStart,
    /// An end that an earlier lease reports counts for the present one.
    FenceIgnored,
}

impl QueueMistake {
    /// All of them, with the words by which a process is started.
    pub const ALL: [(Self, &'static str); 3] = [
        (Self::None, "none"),
        (Self::LeaseAfterStart, "lease-after-start"),
        (Self::FenceIgnored, "fence-ignored"),
    ];
}

impl FromStr for QueueMistake {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self, anyhow::Error> {
        let found = Self::ALL.iter().find(|(_, word)| *word == text);
        found.map(|(mistake, _)| *mistake).with_context(|| format!("no mistake is called {text}"))
    }
}

/// Appends and reads of the queue that have no answer yet.
#[derive(Default)]
pub(super) struct OpenRequests {
    open: AtomicUsize,
    answered: Notify,
}

impl OpenRequests {
    /// Waits for an answer, unless there are all of them. Returns whether it waited.
    pub(super) async fn wait(&self) -> bool {
        if self.open.load(Ordering::SeqCst) == 0 {
            return false;
        }
        self.answered.notified().await;
        true
    }

    fn count<T: Send + 'static>(self: &Arc<Self>, answer: BoxFuture<'static, T>) -> BoxFuture<'static, T> {
        self.open.fetch_add(1, Ordering::SeqCst);
        let requests = Arc::clone(self);
        async move {
            let answer = answer.await;
            requests.open.fetch_sub(1, Ordering::SeqCst);
            requests.answered.notify_one();
            answer
        }
        .boxed()
    }
}

/// The journal of a process that may be killed.
#[derive(Clone)]
pub(super) struct KilledJournal {
    pub(super) journal: JournalStore,
    pub(super) kill: QueueKill,
    pub(super) mistake: QueueMistake,
    pub(super) requests: Arc<OpenRequests>,
    pub(super) writes: Arc<AtomicUsize>,
}

impl KilledJournal {
    async fn write(self, request: JournalAppendRequest, number: usize) -> Result<CommitReceipt, AppendError> {
        let leases: Vec<_> = request.entries.iter().filter(|entry| is_lease(entry)).cloned().collect();
        if self.kill == QueueKill::Before(number) {
            if self.mistake == QueueMistake::LeaseAfterStart && !leases.is_empty() {
                return Ok(self.pretend());
            }
            kill_itself();
        }
        let receipt = self.journal.append(request).await;
        if self.kill == QueueKill::After(number) {
            kill_itself();
        }
        for lease in &leases {
            self.report_late(lease).await?;
        }
        receipt
    }

    /// Says that a lease is recorded, which is not so. The kill follows once its worker has left an effect.
    fn pretend(&self) -> CommitReceipt {
        tokio::spawn(async {
            for _ in 0..64 {
                tokio::task::yield_now().await;
            }
            kill_itself();
        });
        CommitReceipt { first_seq: Seq(self.journal.status().entries) }
    }

    /// Records an end that a worker of an earlier lease reports once the task has another worker.
    async fn report_late(&self, entry: &NewEntry) -> Result<(), AppendError> {
        let JournalEvent::Task(TaskEvent::Leased { task, fence, .. }) = &entry.event else { return Ok(()) };
        let earlier = match self.mistake {
            QueueMistake::FenceIgnored => *fence,
            QueueMistake::None | QueueMistake::LeaseAfterStart => LeaseFence(fence.0.saturating_sub(1)),
        };
        if fence.0 < 2 {
            return Ok(());
        }
        let ended = TaskAttemptEnded {
            task: *task,
            fence: earlier,
            end: AttemptEnd::Completed,
            next: TaskFollowUp::Done,
            explanation: Redacted::default(),
        };
        let late = NewEntry { event: TaskEvent::AttemptEnded(ended).into(), ..entry.clone() };
        let request = JournalAppendRequest { entries: vec![late], ..JournalAppendRequest::default() };
        self.journal.append(request).await.map(|_| ())
    }
}

fn is_lease(entry: &NewEntry) -> bool {
    matches!(entry.event, JournalEvent::Task(TaskEvent::Leased { .. }))
}

fn kill_itself() -> ! {
    let _ = kill_process(getpid(), Signal::KILL);
    unreachable!("a process goes on after SIGKILL")
}

impl AppendTape for KilledJournal {
    fn append(
        &self,
        request: JournalAppendRequest,
    ) -> BoxFuture<'static, Result<CommitReceipt, AppendError>> {
        let number = self.writes.fetch_add(1, Ordering::SeqCst);
        self.requests.count(self.clone().write(request, number).boxed())
    }
}

impl ReadFamilies for KilledJournal {
    fn run_query(&self, query: SnapshotQuery) -> BoxFuture<'static, Result<(), ReadError>> {
        self.requests.count(self.journal.run_query(query))
    }
}
