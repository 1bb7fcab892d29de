//! What is known of open questions while the daemon runs: how many wait for whom, when the next one is due, and who
//! wants to hear of changes.
//!
//! Owns counts and wake-ups, never a question: those are rows. Learns of each from the commit that changed it.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use palyra_journal_core::families::approvals;
use palyra_journal_core::family::{QueryFamilies, ReadFamilies};
use palyra_ports::ReadError;
use palyra_types::event::{ApprovalEvent, RunEvent, TapeEvent};
use palyra_types::tape::OrchestratorTapeRecord;
use palyra_types::{ApprovalId, PrincipalId, RunId, Timestamp};
use tokio::sync::{Notify, broadcast};

/// Approvals of one run that may wait at once; a further call that would ask is denied.
pub const OPEN_APPROVALS_RUN_MAX: usize = 32;
/// Approvals of one principal that may wait at once.
pub const OPEN_APPROVALS_PRINCIPAL_MAX: usize = 20_000;

/// Changes kept for a slow watcher; beyond it, it begins again.
const CHANGES_MAX: usize = 1_024;

/// An approval that changed.
#[derive(Debug, Clone, Copy)]
pub struct ApprovalChange {
    /// The approval.
    pub approval: ApprovalId,
    /// The run that asks.
    pub run: RunId,
}

/// Shared by the runs that ask and by those who wait for answers.
pub struct PendingApprovals {
    changes: broadcast::Sender<ApprovalChange>,
    waiting: Mutex<BTreeMap<PrincipalId, usize>>,
    /// The time for which the expiry driver has set its timer.
    timer: Mutex<Option<Timestamp>>,
    sooner: Notify,
}

impl PendingApprovals {
    /// Counts those that wait, in one moment in which nothing is asked or answered: before any run is taken up.
    ///
    /// # Errors
    /// [`ReadError`].
    pub async fn load(families: &dyn ReadFamilies) -> Result<Self, ReadError> {
        let waiting = families.query(|rows, _| approvals::waiting(rows)).await?.into_iter().collect();
        Ok(Self {
            changes: broadcast::Sender::new(CHANGES_MAX),
            waiting: Mutex::new(waiting),
            timer: Mutex::default(),
            sooner: Notify::new(),
        })
    }

    /// Takes note of a committed entry.
    pub fn committed(&self, record: &OrchestratorTapeRecord) {
        let approval = match &record.event {
            TapeEvent::Approval(ApprovalEvent::Requested(asked)) => {
                *lock(&self.waiting).entry(record.principal).or_default() += 1;
                asked.expires.into_iter().for_each(|expires| self.wake_for(expires));
                asked.approval
            }
            TapeEvent::Approval(ApprovalEvent::Voted(voted)) => voted.approval,
            TapeEvent::Approval(ApprovalEvent::Resolved(resolved)) => {
                if let Some(waiting) = lock(&self.waiting).get_mut(&record.principal) {
                    *waiting = waiting.saturating_sub(1);
                }
                resolved.approval
            }
            TapeEvent::Run(RunEvent::ClientToolsCalled(called)) => {
                self.wake_for(called.expires);
                return;
            }
            TapeEvent::Run(_)
            | TapeEvent::Model(_)
            | TapeEvent::Tool(_)
            | TapeEvent::Approval(ApprovalEvent::GrantStored(_))
            | TapeEvent::Unknown { .. } => return,
        };
        // There may be no watcher.
        let _ = self.changes.send(ApprovalChange { approval, run: record.run });
    }

    /// Wakes the expiry driver for a wait that is due before its timer.
    fn wake_for(&self, expires: Timestamp) {
        let timer = *lock(&self.timer);
        if timer.is_none_or(|timer| expires < timer) {
            self.sooner.notify_one();
        }
    }

    /// Returns how many approvals wait for a principal.
    pub fn waiting_of(&self, principal: PrincipalId) -> usize {
        lock(&self.waiting).get(&principal).copied().unwrap_or_default()
    }

    /// Follows changes from now on.
    pub fn changes(&self) -> broadcast::Receiver<ApprovalChange> {
        self.changes.subscribe()
    }

    /// Says for when the expiry driver has set its timer.
    pub fn set_timer(&self, timer: Option<Timestamp>) {
        *lock(&self.timer) = timer;
    }

    /// Makes the expiry driver look at what is due.
    pub fn look_again(&self) {
        self.sooner.notify_one();
    }

    /// Returns once something waits that is due before the timer.
    pub async fn sooner(&self) {
        self.sooner.notified().await;
    }
}

fn lock<T>(what: &Mutex<T>) -> MutexGuard<'_, T> {
    what.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use palyra_ports::{AppendTape, ReadTape};
    use palyra_testkit::MemoryJournal;
    use palyra_testkit::journal_suite::approval_entries::{asked, resolved};
    use palyra_testkit::journal_suite::samples::{self, SampleRun};
    use palyra_types::TapeSeq;
    use palyra_types::approval::ApprovalState;

    use super::*;

    #[tokio::test]
    async fn what_waited_before_the_start_is_counted_out_when_it_is_answered() {
        let journal = MemoryJournal::new();
        let principal = samples::principal(0);
        let mut run = SampleRun::new(samples::session(principal, 0), 0);
        let mut entries = vec![run.started("go"), run.requested(1)];
        entries.extend([asked(&mut run, 0, 1, None), asked(&mut run, 1, 2, None)]);
        journal.append(samples::append(entries)).await.expect("it takes them");
        let asking = PendingApprovals::load(&journal).await.expect("it can be read");
        assert_eq!(asking.waiting_of(principal), 2);
        let last = run.tape_seq;
        let answers = [0, 1].map(|n| resolved(&mut run, n, 1, ApprovalState::Denied));
        journal.append(samples::append(answers.into())).await.expect("it takes them");
        let page = journal.tape(run.run, last, 10).await.expect("it can be read");
        for (record, left) in page.entries.iter().zip([1, 0]) {
            asking.committed(record);
            assert_eq!(asking.waiting_of(principal), left);
        }
        assert_eq!((page.entries.len(), last), (2, TapeSeq(4)));
        assert_eq!(asking.waiting_of(samples::principal(1)), 0);
    }
}
