//! Policies that are tried out: every decision that was recorded is put to them, and what differs is counted.
//!
//! Owns a task of its own behind a bounded queue, so that nothing waits for it and nothing it does reaches a run: it is
//! told of a decision after the commit, and what it finds goes into the journal as a count, once in a while, as an entry
//! that may be skipped. The decisions themselves are there already, word for word. Begin at [`Shadow::committed`].

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use palyra_policy::{CandidatePolicies, PolicyDiff, RecordedDecision};
use palyra_ports::{JournalAppendRequest, NewEntry};
use palyra_types::event::{DecidedBy, JournalEvent, PolicyEvent, TapeEvent, ToolDecided, ToolEvent};
use palyra_types::shadow::{SHADOW_EXAMPLES_MAX, ShadowCounts, ShadowExample};
use palyra_types::tape::OrchestratorTapeRecord;
use palyra_types::{BootTime, PrincipalId, RunId};
use tokio::sync::{mpsc, oneshot};

use crate::drain::{Drain, Working};
use crate::parts::RuntimePorts;
use crate::policy::PolicyInForce;

/// Decisions that wait to be compared; beyond it they are only counted as missed.
const QUEUED_MAX: usize = 1_024;
/// How long a count may be ahead of the journal.
const RECORD_SPAN: Duration = Duration::from_secs(10);

/// The way to the task that compares.
pub(crate) struct Shadow {
    to: mpsc::Sender<Heard>,
    missed: Arc<AtomicU64>,
}

/// What the task is told.
enum Heard {
    /// A decision that was recorded.
    Decided(RunId, Box<ToolDecided>, Arc<CandidatePolicies>),
    /// Somebody wants to know what was counted of a candidate.
    Asked(Option<Arc<CandidatePolicies>>, oneshot::Sender<Option<ShadowCounts>>),
}

impl Shadow {
    /// Starts the task; it ends with the last handle.
    pub(crate) fn start(ports: Arc<RuntimePorts>, drain: Drain) -> Self {
        let (to, heard) = mpsc::channel(QUEUED_MAX);
        let missed = Arc::new(AtomicU64::new(0));
        let comparing =
            Comparing { ports, drain, missed: Arc::clone(&missed), current: None, unrecorded: None };
        tokio::spawn(comparing.run(heard));
        Self { to, missed }
    }

    /// Takes note of committed entries; never waits.
    pub(crate) fn committed(&self, policy: &PolicyInForce, records: &[OrchestratorTapeRecord]) {
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
        for (run, decided) in records.iter().filter_map(decided) {
            if self.to.try_send(Heard::Decided(run, decided, Arc::clone(candidate))).is_err() {
                self.missed.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// Returns what was counted of a candidate, all that was committed before this call included; where there is none,
    /// of the one that was tried out last.
    pub(crate) async fn counts(&self, candidate: Option<Arc<CandidatePolicies>>) -> Option<ShadowCounts> {
        let (reply, counts) = oneshot::channel();
        self.to.send(Heard::Asked(candidate, reply)).await.ok()?;
        counts.await.ok().flatten()
    }
}

/// The task.
struct Comparing {
    ports: Arc<RuntimePorts>,
    drain: Drain,
    missed: Arc<AtomicU64>,
    current: Option<ShadowCounts>,
    /// Until when the count is recorded, if it is ahead of the journal; a drain waits for it.
    unrecorded: Option<(BootTime, Working)>,
}

impl Comparing {
    async fn run(mut self, mut heard: mpsc::Receiver<Heard>) {
        loop {
            let clock = Arc::clone(&self.ports.clock);
            let due = self.unrecorded.as_ref().map(|(due, _)| *due);
            let drain = self.drain.clone();
            let timer = async {
                match due {
                    Some(due) => tokio::select! {
                        () = clock.sleep_until(due) => {}
                        () = drain.begun() => {}
                    },
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                next = heard.recv() => match next {
                    Some(Heard::Decided(run, decided, candidate)) => self.compare(run, &decided, &candidate).await,
                    Some(Heard::Asked(candidate, reply)) => {
                        // Who asked may have left.
                        let _ = reply.send(self.counts(candidate).await);
                    }
                    None => return self.record().await,
                },
                () = timer => self.record().await,
            }
        }
    }

    async fn compare(&mut self, run: RunId, decided: &ToolDecided, candidate: &CandidatePolicies) {
        let Some(recorded) = by_policy(decided) else { return };
        let mut counts = self.take(candidate.digest()).await;
        let judged = catch_unwind(AssertUnwindSafe(|| {
            let mut diff = PolicyDiff::new(candidate.policies());
            (diff.take(recorded), diff.counts())
        }));
        counts.missed += self.missed.swap(0, Ordering::Relaxed);
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
        self.record().await;
        let before = self.ports.records.shadow(Some(candidate)).await;
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
                None => self.ports.records.shadow(None).await.ok().flatten(),
            },
        }
    }

    /// Puts the count into the journal. One that does not get there is tried again with the next.
    async fn record(&mut self) {
        let Some((_, working)) = self.unrecorded.take() else { return };
        let Some(counts) = &self.current else { return };
        let entry = NewEntry {
            time: self.ports.clock.wall(),
            principal: PrincipalId::NIL,
            session: None,
            run: None,
            event: JournalEvent::Policy(PolicyEvent::ShadowCounted(counts.clone())),
        };
        let request = JournalAppendRequest { entries: vec![entry], ..JournalAppendRequest::default() };
        if let Err(error) = self.ports.append.append(request).await {
            tracing::warn!(%error, "what was counted of the candidate policies is not recorded");
        }
        drop(working);
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
