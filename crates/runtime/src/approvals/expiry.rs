//! Ends approvals, and waits of runs for their clients, whose time is over: one timer for the earliest of them, and nobody
//! polls.
//!
//! Owns the next batch and no more. Time is the wall clock's, for it has to mean the same after a restart; a wall clock
//! that stands before the newest entry of the journal ends nothing. Begin at [`ApprovalExpiry`].

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt};
use palyra_background::{BackgroundTask, NextTick, TickFailure, WallClockWatch};
use palyra_journal_core::families::approvals::{self, ExpiringApproval};
use palyra_journal_core::families::runs::{self, ExpiringClientWait};
use palyra_journal_core::family::QueryFamilies;
use palyra_ports::maintain_journal::JournalHealth;
use palyra_run_core::RunInput;
use palyra_types::session::SessionRef;
use palyra_types::{ApprovalId, RunId, Timestamp};
use tokio::sync::Notify;

use crate::engine::Engine;
use crate::error::RequestError;
use crate::run::InputData;
use crate::session::SessionsHandle;

/// Waits known ahead of their time.
const BATCH_MAX: usize = 64;
/// Runs woken at once.
const WOKEN_MAX: usize = 8;
/// Waits that could not be ended and are tried again later, at most.
const STUCK_MAX: usize = 1_024;
/// The longest sleep: where no signal says that the wall clock was set forward, it is noticed by then.
const SLEEP_SPAN_MAX: Duration = Duration::from_secs(60 * 60);
/// Batches ended in one tick; what is due beyond it is ended in the next.
const BATCHES_MAX: usize = 1_000;

/// Something that waits with a limit of time.
#[derive(Debug, Clone, Copy)]
enum ExpiringWait {
    /// An approval.
    Approval(ExpiringApproval),
    /// A run that waits for the results of its client's functions.
    Client(ExpiringClientWait),
}

/// Names a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum WaitKey {
    Approval(ApprovalId),
    Client(RunId),
}

impl ExpiringWait {
    fn key(&self) -> WaitKey {
        match self {
            Self::Approval(expiring) => WaitKey::Approval(expiring.approval),
            Self::Client(expiring) => WaitKey::Client(expiring.run),
        }
    }

    fn expires(&self) -> Timestamp {
        match self {
            Self::Approval(expiring) => expiring.expires,
            Self::Client(expiring) => expiring.expires,
        }
    }
}

/// What one look brought.
enum ExpiryCheck {
    /// Some are ended.
    Ended,
    /// Nothing is due for so long.
    Sleep(Duration),
    /// Nothing will be due unless something is asked.
    Nothing,
}

/// Ends what is due.
pub(crate) struct ApprovalExpiry {
    engine: Arc<Engine>,
    sessions: SessionsHandle,
    /// Those that could not be ended in this tick.
    stuck: BTreeSet<WaitKey>,
    clock_set: Arc<Notify>,
    _watch: WallClockWatch,
}

impl ApprovalExpiry {
    pub(crate) fn new(engine: Arc<Engine>, sessions: SessionsHandle) -> Self {
        let clock_set = Arc::new(Notify::new());
        let watch = WallClockWatch::begin(Arc::clone(&engine.ports.clock), Arc::clone(&clock_set));
        Self { engine, sessions, stuck: BTreeSet::new(), clock_set, _watch: watch }
    }

    async fn end_due(&mut self) -> Result<NextTick, TickFailure> {
        // Those that could not be ended before are tried again.
        self.stuck.clear();
        for _ in 0..BATCHES_MAX {
            if self.engine.drain.has_begun() {
                return Ok(NextTick::AtOnce);
            }
            let next = match look(&self.engine, &self.sessions, &mut self.stuck).await? {
                ExpiryCheck::Ended => continue,
                ExpiryCheck::Sleep(span) => NextTick::After(span),
                ExpiryCheck::Nothing => NextTick::OnSignal,
            };
            return match self.stuck.len() {
                0 => Ok(next),
                stuck => Err(TickFailure::new(format_args!("{stuck} waits go on after they were ended"))),
            };
        }
        Ok(NextTick::AtOnce)
    }
}

impl BackgroundTask for ApprovalExpiry {
    fn name(&self) -> &'static str {
        "approval_expiry"
    }

    fn tick(&mut self) -> BoxFuture<'_, Result<NextTick, TickFailure>> {
        self.end_due().boxed()
    }

    fn signal(&self) -> BoxFuture<'static, ()> {
        let engine = Arc::clone(&self.engine);
        let clock_set = Arc::clone(&self.clock_set);
        async move {
            tokio::select! {
                biased;
                () = engine.asking.sooner() => {}
                () = clock_set.notified() => {}
            }
        }
        .boxed()
    }
}

async fn look(
    engine: &Engine,
    sessions: &SessionsHandle,
    stuck: &mut BTreeSet<WaitKey>,
) -> Result<ExpiryCheck, TickFailure> {
    if engine.ports.maintain.status().health == JournalHealth::Quarantined {
        return Ok(ExpiryCheck::Nothing);
    }
    // Before it is read: what is asked meanwhile wakes.
    engine.asking.set_timer(None);
    let mut next = next_to_expire(engine, stuck).await?;
    next.retain(|expiring| !stuck.contains(&expiring.key()));
    let now = engine.ports.clock.wall();
    let Some(earliest) = next.first().map(ExpiringWait::expires) else {
        return Ok(ExpiryCheck::Nothing);
    };
    if earliest > now || now < engine.runs.newest_entry() {
        engine.asking.set_timer(Some(earliest));
        let span = earliest.since(now).max(engine.runs.newest_entry().since(now)).min(SLEEP_SPAN_MAX);
        return Ok(ExpiryCheck::Sleep(span));
    }
    let due = next.into_iter().filter(|expiring| expiring.expires() <= now);
    let ended = futures::stream::iter(due)
        .map(|expiring| async move { (expiring.key(), end(engine, sessions, expiring).await) });
    let ended: Vec<_> = ended.buffer_unordered(WOKEN_MAX).collect().await;
    let mut failed = 0_usize;
    for (wait, result) in ended {
        if let Err(error) = result {
            tracing::warn!(?wait, %error, "a wait could not be ended in time");
            failed += 1;
        }
        // Whatever came of it: one that still waits afterwards is not tried again at once.
        if stuck.len() < STUCK_MAX {
            stuck.insert(wait);
        }
    }
    if failed > 0 {
        return Err(TickFailure::new(format_args!("{failed} waits could not be ended in time")));
    }
    // Keeps those that wait although they were ended: a row behind its tape, which only time can mend.
    let next = next_to_expire(engine, stuck).await?;
    stuck.retain(|wait| next.iter().any(|expiring| expiring.key() == *wait));
    Ok(ExpiryCheck::Ended)
}

async fn next_to_expire(
    engine: &Engine,
    stuck: &BTreeSet<WaitKey>,
) -> Result<Vec<ExpiringWait>, TickFailure> {
    let limit = BATCH_MAX + stuck.len();
    let next = engine.ports.families.query(move |rows, _| {
        let approvals = approvals::next_to_expire(rows, limit)?.into_iter().map(ExpiringWait::Approval);
        let waits = runs::next_client_waits(rows, limit)?.into_iter().map(ExpiringWait::Client);
        Ok(approvals.chain(waits).collect::<Vec<_>>())
    });
    let mut next = next
        .await
        .map_err(|error| TickFailure::new(format_args!("what waits could not be read: {error}")))?;
    next.sort_by_key(ExpiringWait::expires);
    next.truncate(limit);
    Ok(next)
}

async fn end(engine: &Engine, sessions: &SessionsHandle, expiring: ExpiringWait) -> Result<(), RequestError> {
    let (run, session, input) = match expiring {
        ExpiringWait::Approval(ExpiringApproval { approval, run, .. }) => {
            let record = engine.ports.run(run).await?.ok_or(RequestError::RunNotFound)?;
            let session = SessionRef { principal: record.principal, id: record.session };
            (run, session, RunInput::ApprovalExpired { approval })
        }
        ExpiringWait::Client(ExpiringClientWait { run, session, .. }) => {
            (run, session, RunInput::ClientWaitExpired)
        }
    };
    match sessions.deliver(session, run, input, InputData::default()).await {
        // Somebody answered, or the run ended, in the same moment.
        Ok(_)
        | Err(
            RequestError::ApprovalDecided { .. } | RequestError::RunFinished | RequestError::RunNotWaiting,
        ) => Ok(()),
        Err(error) => Err(error),
    }
}
