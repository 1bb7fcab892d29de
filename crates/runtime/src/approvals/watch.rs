//! Following approvals: those that wait first, then each change.
//!
//! Invariant: bounded, whatever is asked meanwhile. A watcher that is too slow is not dropped and misses nothing that
//! waits: it begins anew with what waits now, and says so by the end of that list.

use std::collections::VecDeque;

use palyra_admin::Caller;
use palyra_ports::read_approvals::{ApprovalFilter, ApprovalQuery};
use palyra_ports::read_records::RECORD_PAGE_ROWS_MAX;
use palyra_types::approval::ApprovalRecord;
use palyra_types::{RunId, Seq};
use tokio::sync::broadcast::{self, error::RecvError};

use crate::approvals::ApprovalsHandle;
use crate::error::RequestError;
use palyra_admin::pending_approvals::ApprovalChange;

/// What a watcher sees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApprovalUpdate {
    /// An approval as it is now.
    Approval(Box<ApprovalRecord>),
    /// All that wait were shown since the watch began, or since this was last said: what a client holds beside them
    /// waits no longer.
    CaughtUp {
        /// How many wait.
        pending: usize,
    },
}

/// A caller's view of approvals, from now on.
pub struct ApprovalWatcher {
    approvals: ApprovalsHandle,
    caller: Caller,
    run: Option<RunId>,
    changes: broadcast::Receiver<ApprovalChange>,
    listing: Option<PendingListing>,
}

/// The part of a watch that shows what waits.
#[derive(Default)]
struct PendingListing {
    page: VecDeque<ApprovalRecord>,
    before: Option<Seq>,
    pending: usize,
    last: LastPage,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum LastPage {
    #[default]
    NotYet,
    Read,
}

impl ApprovalWatcher {
    pub(super) fn new(approvals: ApprovalsHandle, caller: Caller, run: Option<RunId>) -> Self {
        // Before the first list is read, so that nothing falls in between.
        let changes = approvals.changes();
        Self { approvals, caller, run, changes, listing: Some(PendingListing::default()) }
    }

    /// Waits for what comes next; `None` when the runtime is gone. Cancel-safe.
    ///
    /// # Errors
    /// [`RequestError::Read`].
    pub async fn next(&mut self) -> Result<Option<ApprovalUpdate>, RequestError> {
        loop {
            if let Some(shown) = self.next_of_listing().await? {
                return Ok(Some(shown));
            }
            let change = match self.changes.recv().await {
                Ok(change) => change,
                Err(RecvError::Lagged(_)) => {
                    self.listing = Some(PendingListing::default());
                    continue;
                }
                Err(RecvError::Closed) => return Ok(None),
            };
            if self.run.is_some_and(|run| run != change.run) {
                continue;
            }
            match self.approvals.get(self.caller, change.approval).await {
                Ok(record) => return Ok(Some(ApprovalUpdate::Approval(Box::new(record)))),
                Err(RequestError::ApprovalNotFound) => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Returns the next of those that wait, then that these were all, then nothing.
    async fn next_of_listing(&mut self) -> Result<Option<ApprovalUpdate>, RequestError> {
        let Some(listing) = &mut self.listing else { return Ok(None) };
        if listing.page.is_empty() && listing.last == LastPage::NotYet {
            let query = ApprovalQuery {
                run: self.run,
                only: ApprovalFilter::Pending,
                before: listing.before,
                limit: RECORD_PAGE_ROWS_MAX,
                ..ApprovalQuery::default()
            };
            let page = self.approvals.list(self.caller, query).await?;
            listing.before = page.next;
            if page.next.is_none() {
                listing.last = LastPage::Read;
            }
            listing.page = page.records.into();
        }
        match listing.page.pop_front() {
            Some(record) => {
                listing.pending += 1;
                Ok(Some(ApprovalUpdate::Approval(Box::new(record))))
            }
            None => {
                let pending = listing.pending;
                self.listing = None;
                Ok(Some(ApprovalUpdate::CaughtUp { pending }))
            }
        }
    }
}
