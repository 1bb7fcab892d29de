//! Policies that are tried out: every decision that was recorded is put to them, and what differs is counted.
//!
//! Owns a bounded queue that a background task empties, so that no run waits for it and nothing it does reaches a run: a
//! decision enters after its commit, and the counts go into the journal once in a while, as an entry that may be
//! skipped. The decisions themselves are there already, word for word. Begin at [`Shadow::committed`].

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_background::{BackgroundTask, NextTick, TickFailure};
use palyra_background::{Drain, Working};
use palyra_journal_core::families::shadows;
use palyra_journal_core::family::QueryFamilies;
use palyra_policy::{CandidatePolicies, PolicyDiff, RecordedDecision};
use palyra_ports::{AppendClass, NewEntry};
use palyra_types::event::{DecidedBy, JournalEvent, PolicyEvent, TapeEvent, ToolDecided, ToolEvent};
use palyra_types::shadow::{SHADOW_EXAMPLES_MAX, ShadowCounts, ShadowExample};
use palyra_types::tape::OrchestratorTapeRecord;
use palyra_types::{BootTime, PrincipalId, RunId};
use tokio::sync::{Mutex as AsyncMutex, Notify};

use crate::parts::AdminPorts;
use crate::policy::PolicyInForce;

/// Decisions that wait to be compared; beyond it they are only counted as missed.
const QUEUED_MAX: usize = 1_024;
/// How long a count may be ahead of the journal.
const RECORD_SPAN: Duration = Duration::from_secs(10);

/// The policies that are tried out, and what was counted of them.
pub struct Shadow {
    queue: Mutex<VecDeque<CommittedDecision>>,
    /// Decisions that the queue had no room for.
    missed: AtomicU64,
    /// Given when the queue has something.
    queued: Notify,
    drain: Drain,
    comparing: AsyncMutex<ShadowComparison>,
}

/// A decision that was recorded, and the policies to put it to.
struct CommittedDecision {
    run: RunId,
    decided: Box<ToolDecided>,
    candidate: Arc<CandidatePolicies>,
    /// A drain waits until it is counted.
    _working: Working,
}

impl Shadow {
    pub(crate) fn new(ports: Arc<AdminPorts>, drain: Drain) -> Self {
        let comparing = ShadowComparison { ports, drain: drain.clone(), current: None, unrecorded: None };
        Self {
            queue: Mutex::default(),
            missed: AtomicU64::new(0),
            queued: Notify::new(),
            drain,
            comparing: AsyncMutex::new(comparing),
        }
    }

    /// Queues committed decisions; never waits.
    pub fn committed(&self, policy: &PolicyInForce, records: &[OrchestratorTapeRecord]) {
        let decided = |record: &OrchestratorTapeRecord| {
            if let TapeEvent::Tool(ToolEvent::Decided(decided)) = &record.event
                && by_policy(decided).is_some()
            {
                Some((record.run, Box::new(decided.clone())))
            } else {
                None
            }
        };
        if !records.iter().any(|record| matches!(record.event, TapeEvent::Tool(ToolEvent::Decided(_)))) {
            return;
        }
        let snapshot = policy.snapshot();
        let Some(candidate) = snapshot.candidate() else { return };
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        for (run, decided) in records.iter().filter_map(decided) {
            if queue.len() >= QUEUED_MAX {
                self.missed.fetch_add(1, Ordering::Relaxed);
                continue;
            }
            let (candidate, working) = (Arc::clone(candidate), self.drain.work());
            queue.push_back(CommittedDecision { run, decided, candidate, _working: working });
        }
        self.queued.notify_one();
    }

    /// Returns what was counted of a candidate, all that was committed before this call included; where there is none,
    /// of the one that was tried out last.
    pub(crate) async fn counts(&self, candidate: Option<Arc<CandidatePolicies>>) -> Option<ShadowCounts> {
        let mut comparing = self.comparing.lock().await;
        self.compare_queued(&mut comparing).await;
        comparing.counts(candidate).await
    }

    async fn compare_queued(&self, comparing: &mut ShadowComparison) {
        let next = || self.queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        while let Some(decision) = next() {
            let missed = self.missed.swap(0, Ordering::Relaxed);
            comparing.compare(decision.run, &decision.decided, &decision.candidate, missed).await;
        }
    }
}

/// Compares what is queued, and records the counts when they have been ahead of the journal for long enough.
pub struct ShadowCounting(Arc<Shadow>);

impl ShadowCounting {
    /// Makes the task.
    #[must_use]
    pub fn new(shadow: Arc<Shadow>) -> Self {
        Self(shadow)
    }

    async fn count(&self) -> Result<NextTick, TickFailure> {
        let mut comparing = self.0.comparing.lock().await;
        self.0.compare_queued(&mut comparing).await;
        let Some((due, _)) = &comparing.unrecorded else { return Ok(NextTick::OnSignal) };
        let left = due.since(comparing.ports.clock.boot());
        if left > Duration::ZERO {
            return Ok(NextTick::After(left));
        }
        comparing.record().await?;
        Ok(NextTick::OnSignal)
    }

    /// Records at once what runs that come to rest still decide.
    async fn record_to_the_end(&self) {
        loop {
            let mut comparing = self.0.comparing.lock().await;
            self.0.compare_queued(&mut comparing).await;
            if let Err(failure) = comparing.record().await {
                tracing::warn!("{failure}");
            }
            drop(comparing);
            self.0.queued.notified().await;
        }
    }
}

impl BackgroundTask for ShadowCounting {
    fn name(&self) -> &'static str {
        "shadow_counting"
    }

    fn tick(&mut self) -> BoxFuture<'_, Result<NextTick, TickFailure>> {
        self.count().boxed()
    }

    fn signal(&self) -> BoxFuture<'static, ()> {
        let shadow = Arc::clone(&self.0);
        async move { shadow.queued.notified().await }.boxed()
    }

    fn drained(&mut self) -> BoxFuture<'_, ()> {
        self.record_to_the_end().boxed()
    }
}

/// What is counted, and how far the journal has it.
struct ShadowComparison {
    ports: Arc<AdminPorts>,
    drain: Drain,
    current: Option<ShadowCounts>,
    /// Until when the count is recorded, if it is ahead of the journal; a drain waits for it.
    unrecorded: Option<(BootTime, Working)>,
}

impl ShadowComparison {
    async fn compare(
        &mut self,
        run: RunId,
        decided: &ToolDecided,
        candidate: &CandidatePolicies,
        missed: u64,
    ) {
        let Some(recorded) = by_policy(decided) else { return };
        let mut counts = self.take(candidate.digest()).await;
        let judged = catch_unwind(AssertUnwindSafe(|| {
            let mut diff = PolicyDiff::new(candidate.policies());
            (diff.take(recorded), diff.counts())
        }));
        counts.missed += missed;
        if let Ok((change, judged)) = judged {
            counts.judged += judged.judged;
            counts.same += judged.same;
            counts.newly_allowed += judged.newly_allowed;
            counts.newly_asked += judged.newly_asked;
            counts.newly_denied += judged.newly_denied;
            if let Some(change) = change {
                let (was, would_be) = (change.was, change.would_be);
                counts.examples.insert(0, ShadowExample { run, effect: decided.effect, was, would_be });
                counts.examples.truncate(SHADOW_EXAMPLES_MAX);
            }
        } else {
            counts.missed += 1;
        }
        self.current = Some(counts);
        if self.unrecorded.is_none() {
            self.unrecorded = Some((self.ports.clock.boot().after(RECORD_SPAN), self.drain.work()));
        }
    }

    /// Returns what was counted of a candidate so far, in this process or before it.
    async fn take(&mut self, candidate: [u8; 32]) -> ShadowCounts {
        if let Some(current) = self.current.take_if(|current| current.candidate == candidate) {
            return current;
        }
        if let Err(failure) = self.record().await {
            tracing::warn!("{failure}");
        }
        let before =
            self.ports.families.query(move |rows, log| shadows::newest(rows, log, Some(candidate))).await;
        let since = self.ports.clock.wall();
        match before {
            Ok(Some(counts)) => counts,
            Ok(None) => ShadowCounts { candidate, since, ..ShadowCounts::default() },
            Err(error) => {
                tracing::warn!(%error, "the counts of the candidate policies cannot be read; counting starts again");
                ShadowCounts { candidate, since, ..ShadowCounts::default() }
            }
        }
    }

    async fn counts(&mut self, candidate: Option<Arc<CandidatePolicies>>) -> Option<ShadowCounts> {
        match candidate {
            Some(candidate) => {
                let counts = self.take(candidate.digest()).await;
                self.current = Some(counts.clone());
                Some(counts)
            }
            None => match &self.current {
                Some(current) => Some(current.clone()),
                None => self
                    .ports
                    .families
                    .query(move |rows, log| shadows::newest(rows, log, None))
                    .await
                    .ok()
                    .flatten(),
            },
        }
    }

    /// Puts the count into the journal. One that does not get there is tried again with the next.
    async fn record(&mut self) -> Result<(), TickFailure> {
        let Some((_, working)) = self.unrecorded.take() else { return Ok(()) };
        let Some(counts) = &self.current else { return Ok(()) };
        let entry = NewEntry {
            time: self.ports.clock.wall(),
            principal: PrincipalId::NIL,
            session: None,
            run: None,
            event: JournalEvent::Policy(PolicyEvent::ShadowCounted(counts.clone())),
        };
        let recorded = self.ports.recorder.record(vec![entry], AppendClass::Normal, Vec::new()).await;
        drop(working);
        recorded.map(|_| ()).map_err(|error| {
            TickFailure::new(format_args!("counts of the candidate policies are not recorded: {error}"))
        })
    }
}

/// Returns what policy decided of a call; what a person or a budget decided is not policy's.
pub(crate) fn by_policy(decided: &ToolDecided) -> Option<RecordedDecision<'_>> {
    let ToolDecided { verdict, reason, request, .. } = decided;
    match decided.decided_by {
        DecidedBy::Policy | DecidedBy::Grant(_) => {
            Some(RecordedDecision { verdict: *verdict, reason: *reason, request: request.expose() })
        }
        DecidedBy::Budget | DecidedBy::Approval(_) => None,
    }
}
