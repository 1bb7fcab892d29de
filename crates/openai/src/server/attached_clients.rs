//! Which runs have a client, and what happens to one that has none any more.
//!
//! A client that leaves takes its run with it, unless it runs in the background, waits for a person, or another client
//! comes back within the grace. Begin at [`AttachedClients::attach`].

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use palyra_ports::{AnsweredGateways, Clock};
use palyra_runtime::Caller;
use palyra_runtime::runs::RunsHandle;
use palyra_types::RunId;
use palyra_types::run::RunPhase;

/// Counts the clients of each run.
#[derive(Clone)]
pub(crate) struct AttachedClients {
    runs: RunsHandle,
    clock: Arc<dyn Clock>,
    grace: Duration,
    counts: Arc<Mutex<BTreeMap<RunId, ClientCount>>>,
}

/// Clients of a run, and how often one came: whether another one came since is seen by that.
#[derive(Debug, Clone, Copy, Default)]
struct ClientCount {
    attached: usize,
    arrivals: u64,
}

/// What becomes of a run when its client leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LeavePolicy {
    /// It is cancelled after the grace.
    Cancel,
    /// It goes on.
    Continue,
}

impl AttachedClients {
    pub(crate) fn new(runs: RunsHandle, clock: Arc<dyn Clock>, grace: Duration) -> Self {
        Self { runs, clock, grace, counts: Arc::default() }
    }

    /// Counts a client until the guard is dropped.
    pub(crate) fn attach(&self, caller: Caller, run: RunId, policy: LeavePolicy) -> ClientGuard {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(run).or_default();
        count.attached += 1;
        count.arrivals += 1;
        ClientGuard { clients: self.clone(), caller, run, policy, answered: None }
    }

    /// Takes a client away; returns the arrivals so far where it was the last one.
    fn leave(&self, run: RunId) -> Option<u64> {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.get_mut(&run)?;
        count.attached = count.attached.saturating_sub(1);
        (count.attached == 0).then_some(count.arrivals)
    }

    /// Returns whether no client came since, and forgets the run if so.
    fn is_abandoned(&self, run: RunId, arrivals: u64) -> bool {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let alone = counts.get(&run).is_some_and(|count| count.attached == 0 && count.arrivals == arrivals);
        if alone {
            counts.remove(&run);
        }
        alone
    }

    async fn cancel_abandoned(self, caller: Caller, run: RunId, arrivals: u64) {
        self.clock.sleep_until(self.clock.boot().after(self.grace)).await;
        if !self.is_abandoned(run, arrivals) {
            return;
        }
        let Ok(record) = self.runs.get(caller, run).await else { return };
        match record.phase {
            RunPhase::Waiting(_) | RunPhase::Finished => {}
            RunPhase::Queued | RunPhase::Running => {
                if let Err(error) = self.runs.cancel(caller, run).await {
                    tracing::warn!(%run, %error, "the run of a client that left could not be cancelled");
                }
            }
        }
    }
}

/// A client of a run; dropped when it leaves or has its answer.
pub(crate) struct ClientGuard {
    clients: AttachedClients,
    caller: Caller,
    run: RunId,
    policy: LeavePolicy,
    /// The gateways that the client asks for.
    answered: Option<AnsweredGateways>,
}

impl ClientGuard {
    /// Keeps the gateways of a request noted for as long as its client is there.
    pub(crate) fn with_gateways(mut self, answered: AnsweredGateways) -> Self {
        self.answered = Some(answered);
        self
    }

    /// Lets the run go on, even if a client leaves: it is over, or waits for a person.
    pub(crate) fn keep_run(&mut self) {
        self.policy = LeavePolicy::Continue;
    }
}

impl Drop for ClientGuard {
    fn drop(&mut self) {
        let Some(arrivals) = self.clients.leave(self.run) else { return };
        match self.policy {
            LeavePolicy::Continue => {
                self.clients.is_abandoned(self.run, arrivals);
            }
            LeavePolicy::Cancel => {
                // Without a runtime the daemon is about to end, and the run is taken up at the next start.
                if let Ok(runtime) = tokio::runtime::Handle::try_current() {
                    let clients = self.clients.clone();
                    runtime.spawn(clients.cancel_abandoned(self.caller, self.run, arrivals));
                }
            }
        }
    }
}
