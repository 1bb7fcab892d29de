//! What is known of open questions while the daemon runs: how many wait for whom, when the next one is due, and who
//! wants to hear of changes.
//!
//! Owns counts and wake-ups, never a question: those are rows. Learns of each from the commit that changed it.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use palyra_ports::read_approvals::{ApprovalFilter, ApprovalQuery};
use palyra_ports::read_records::RECORD_PAGE_ROWS_MAX;
use palyra_ports::{ReadApprovals, ReadError};
use palyra_types::event::TapeEvent;
use palyra_types::tape::OrchestratorTapeRecord;
use palyra_types::{ApprovalId, PrincipalId, RunId, Seq, Timestamp};
use tokio::sync::{Notify, broadcast};

/// Approvals of one run that may wait at once; a further call that would ask is denied.
pub const OPEN_APPROVALS_RUN_MAX: usize = 32;
/// Approvals of one principal that may wait at once.
pub const OPEN_APPROVALS_PRINCIPAL_MAX: usize = 20_000;

/// Changes kept for a slow watcher; beyond it, it begins anew.
const CHANGES_MAX: usize = 1_024;

/// An approval that changed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Change {
    pub(crate) approval: ApprovalId,
    pub(crate) run: RunId,
}

/// Shared by the runs that ask and by those who wait for answers.
pub(crate) struct Asking {
    changes: broadcast::Sender<Change>,
    waiting: Mutex<BTreeMap<PrincipalId, usize>>,
    /// The time for which the expiry driver has set its timer.
    timer: Mutex<Option<Timestamp>>,
    sooner: Notify,
}

impl Default for Asking {
    fn default() -> Self {
        let changes = broadcast::Sender::new(CHANGES_MAX);
        Self { changes, waiting: Mutex::default(), timer: Mutex::default(), sooner: Notify::new() }
    }
}

impl Asking {
    /// Takes note of a committed entry.
    pub(crate) fn committed(&self, record: &OrchestratorTapeRecord) {
        let approval = match &record.event {
            TapeEvent::ApprovalRequested(asked) => {
                *lock(&self.waiting).entry(record.principal).or_default() += 1;
                let timer = *lock(&self.timer);
                if asked.expires.is_some_and(|expires| timer.is_none_or(|timer| expires < timer)) {
                    self.sooner.notify_one();
                }
                asked.approval
            }
            TapeEvent::ApprovalVoted(voted) => voted.approval,
            TapeEvent::ApprovalResolved(resolved) => {
                if let Some(waiting) = lock(&self.waiting).get_mut(&record.principal) {
                    *waiting = waiting.saturating_sub(1);
                }
                resolved.approval
            }
            TapeEvent::RunStarted(_)
            | TapeEvent::InputReceived { .. }
            | TapeEvent::ModelRequested(_)
            | TapeEvent::ModelText { .. }
            | TapeEvent::ModelReasoning { .. }
            | TapeEvent::ModelMessage(_)
            | TapeEvent::ModelAttemptAbandoned { .. }
            | TapeEvent::ToolProposed(_)
            | TapeEvent::ToolDecided(_)
            | TapeEvent::ToolStarted(_)
            | TapeEvent::ToolFinished(_)
            | TapeEvent::ToolOutcomeUnknown { .. }
            | TapeEvent::EffectResolved { .. }
            | TapeEvent::GrantStored(_)
            | TapeEvent::LoopDetected { .. }
            | TapeEvent::RunHeld { .. }
            | TapeEvent::CancelRequested { .. }
            | TapeEvent::RunFinished(_)
            | TapeEvent::Unknown { .. } => return,
        };
        // Nobody may be watching.
        let _ = self.changes.send(Change { approval, run: record.run });
    }

    /// Returns how many approvals wait for a principal.
    pub(crate) fn waiting_of(&self, principal: PrincipalId) -> usize {
        lock(&self.waiting).get(&principal).copied().unwrap_or_default()
    }

    /// Adds those that were asked before this process began, up to and including `upto`.
    pub(crate) async fn count_earlier(
        &self,
        approvals: &dyn ReadApprovals,
        upto: Seq,
    ) -> Result<(), ReadError> {
        let mut earlier: BTreeMap<PrincipalId, usize> = BTreeMap::new();
        let mut before = Some(upto.next());
        loop {
            let query = ApprovalQuery {
                only: ApprovalFilter::Pending,
                before,
                limit: RECORD_PAGE_ROWS_MAX,
                ..ApprovalQuery::default()
            };
            let page = approvals.approvals(query).await?;
            before = page.last().map(|record| record.seq);
            page.iter().for_each(|record| *earlier.entry(record.principal).or_default() += 1);
            if page.len() < RECORD_PAGE_ROWS_MAX {
                break;
            }
        }
        let mut waiting = lock(&self.waiting);
        earlier.into_iter().for_each(|(principal, count)| *waiting.entry(principal).or_default() += count);
        Ok(())
    }

    /// Follows changes from now on.
    pub(crate) fn changes(&self) -> broadcast::Receiver<Change> {
        self.changes.subscribe()
    }

    /// Says for when the expiry driver has set its timer.
    pub(crate) fn set_timer(&self, timer: Option<Timestamp>) {
        *lock(&self.timer) = timer;
    }

    /// Returns once an approval was asked that is due before the timer.
    pub(crate) async fn sooner(&self) {
        self.sooner.notified().await;
    }
}

fn lock<T>(what: &Mutex<T>) -> MutexGuard<'_, T> {
    what.lock().unwrap_or_else(PoisonError::into_inner)
}
