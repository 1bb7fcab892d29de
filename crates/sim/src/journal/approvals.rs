//! Reads of approvals, grants and effects: those that people and timers wait for may come late, or not.

use futures::future::{BoxFuture, FutureExt};
use palyra_ports::read_approvals::{ApprovalQuery, EffectQuery, ExpiringApproval, GrantFilter};
use palyra_ports::{ReadApprovals, ReadError};
use palyra_types::approval::{ApprovalRecord, StoredGrantRecord};
use palyra_types::effect::{EffectRecord, UndoRequested};
use palyra_types::job::JobNumber;
use palyra_types::{ApprovalId, PrincipalId, StoredGrantId};

use super::SimJournal;
use crate::fault::Phase;

type Reading<T> = BoxFuture<'static, Result<T, ReadError>>;

impl SimJournal {
    fn phase_of_approval(&self, approval: ApprovalId) -> Phase {
        let record = self.memory().approval(approval).now_or_never().and_then(Result::ok).flatten();
        record.map_or(Phase::Idle, |record| self.world.oracle().phase_of(record.run))
    }
}

impl ReadApprovals for SimJournal {
    fn approval(&self, approval: ApprovalId) -> Reading<Option<ApprovalRecord>> {
        self.read(self.phase_of_approval(approval), move |journal| journal.memory().approval(approval))
    }

    fn approvals(&self, query: ApprovalQuery) -> Reading<Vec<ApprovalRecord>> {
        self.read(Phase::Idle, move |journal| journal.memory().approvals(query))
    }

    fn waiting_approvals(&self) -> Reading<Vec<(PrincipalId, usize)>> {
        self.read(Phase::Idle, move |journal| journal.memory().waiting_approvals())
    }

    fn next_to_expire(&self, limit: usize) -> Reading<Vec<ExpiringApproval>> {
        self.read(Phase::Idle, move |journal| journal.memory().next_to_expire(limit))
    }

    fn stored_grant(&self, grant: StoredGrantId) -> Reading<Option<StoredGrantRecord>> {
        self.read(Phase::Idle, move |journal| journal.memory().stored_grant(grant))
    }

    fn stored_grants(&self, only: GrantFilter) -> Reading<Vec<StoredGrantRecord>> {
        self.read(Phase::Idle, move |journal| journal.memory().stored_grants(only))
    }

    fn effects(&self, query: EffectQuery) -> Reading<Vec<EffectRecord>> {
        self.read(Phase::Idle, move |journal| journal.memory().effects(query))
    }

    fn last_job(&self) -> Reading<JobNumber> {
        self.read(Phase::Idle, |journal| journal.memory().last_job())
    }

    fn open_undos(&self) -> Reading<Vec<UndoRequested>> {
        self.read(Phase::Idle, |journal| journal.memory().open_undos())
    }
}
