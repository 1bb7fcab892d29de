//! Lets runs that wait for a budget try again: when the windows in their way are over, and when there is more room. Records
//! the ends of requests beside runs whose callers left.
//!
//! Owns no list: that is of the budgets. After a start each waiting run looks once. Begin at [`BudgetWaits`].

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt};
use palyra_background::{BackgroundTask, NextTick, TickFailure};
use palyra_journal_core::families::runs;
use palyra_journal_core::family::QueryFamilies;
use palyra_ports::MaintainJournal;
use palyra_ports::maintain_journal::JournalHealth;
use palyra_types::RunId;
use palyra_types::run::{RunPhase, WaitReason};
use palyra_types::session::SessionRef;

use super::BudgetBook;
use crate::memories::ZoneOf;

/// Lets a run that waits for a budget try again.
pub trait BudgetWaker: Send + Sync {
    /// Wakes the run; one that does not wait any more is left alone.
    fn look_again(&self, session: SessionRef, run: RunId) -> BoxFuture<'_, Result<(), TickFailure>>;
}

/// Runs woken at once.
const WOKEN_MAX: usize = 8;
/// The longest sleep: a wall clock that was set forward is noticed by then.
const SLEEP_SPAN_MAX: Duration = Duration::from_secs(60 * 60);

/// Whether the waiting runs of the journal were looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WaitsRead {
    NotYet,
    Yes,
}

/// Wakes what may go on.
pub struct BudgetWaits {
    book: Arc<BudgetBook>,
    maintain: Arc<dyn MaintainJournal>,
    waker: Arc<dyn BudgetWaker>,
    zones: ZoneOf,
    read: WaitsRead,
}

impl BudgetWaits {
    /// Makes the task.
    #[must_use]
    pub fn new(
        book: Arc<BudgetBook>,
        maintain: Arc<dyn MaintainJournal>,
        waker: Arc<dyn BudgetWaker>,
        zones: ZoneOf,
    ) -> Self {
        Self { book, maintain, waker, zones, read: WaitsRead::NotYet }
    }

    async fn wake_due(&mut self) -> Result<NextTick, TickFailure> {
        if self.maintain.status().health == JournalHealth::Quarantined {
            return Ok(NextTick::OnSignal);
        }
        let settled = self.book.settle_doubt().await;
        settled
            .map_err(|error| TickFailure::new(format_args!("budgets could not be read again: {error}")))?;
        if self.read == WaitsRead::NotYet {
            let waiting = self.waiting_runs().await?;
            self.read = WaitsRead::Yes;
            self.wake(waiting).await?;
        }
        self.book.settle_left(&self.zones).await.map_err(|error| {
            TickFailure::new(format_args!("requests beside runs are still reserved: {error}"))
        })?;
        let (due, next) = self.book.due(&self.zones);
        self.wake(due).await?;
        let now = self.book.clock.wall();
        Ok(match next {
            Some(next) => NextTick::After(next.since(now).min(SLEEP_SPAN_MAX)),
            None => NextTick::OnSignal,
        })
    }

    async fn waiting_runs(&self) -> Result<Vec<(RunId, SessionRef)>, TickFailure> {
        let open = self.book.families.query(|rows, _| runs::open(rows));
        let open = open.await.map_err(|error| {
            TickFailure::new(format_args!("the runs that wait for a budget could not be read: {error}"))
        })?;
        let waits = open.into_iter().filter(|run| run.phase == RunPhase::Waiting(WaitReason::Budget));
        Ok(waits.map(|run| (run.run, SessionRef { principal: run.principal, id: run.session })).collect())
    }

    async fn wake(&mut self, due: Vec<(RunId, SessionRef)>) -> Result<(), TickFailure> {
        let waker = &self.waker;
        let woken = futures::stream::iter(due)
            .map(|(run, session)| async move { (run, waker.look_again(session, run).await) });
        let woken: Vec<_> = woken.buffer_unordered(WOKEN_MAX).collect().await;
        let mut failed = 0_usize;
        for (run, result) in woken {
            if let Err(error) = result {
                tracing::warn!(%run, %error, "a run that waits for a budget could not try again");
                failed += 1;
            }
        }
        if failed > 0 {
            // The journal still has them as waiting.
            self.read = WaitsRead::NotYet;
            return Err(TickFailure::new(format_args!(
                "{failed} runs that wait for a budget could not be woken"
            )));
        }
        Ok(())
    }
}

impl BackgroundTask for BudgetWaits {
    fn name(&self) -> &'static str {
        "budget_waits"
    }

    fn tick(&mut self) -> BoxFuture<'_, Result<NextTick, TickFailure>> {
        self.wake_due().boxed()
    }

    fn signal(&self) -> BoxFuture<'static, ()> {
        let book = Arc::clone(&self.book);
        async move { book.changed().await }.boxed()
    }
}
