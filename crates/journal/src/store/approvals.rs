//! The port by which approvals, stored grants and effects are read.

use futures::future::BoxFuture;
use palyra_ports::read_approvals::{ApprovalQuery, EffectQuery, ExpiringApproval, GrantFilter};
use palyra_ports::{ReadApprovals, ReadError};
use palyra_types::approval::{ApprovalRecord, StoredGrantRecord};
use palyra_types::effect::{EffectRecord, UndoRequested};
use palyra_types::job::JobNumber;
use palyra_types::{ApprovalId, PrincipalId, StoredGrantId};

use super::JournalStore;
use crate::read;

impl ReadApprovals for JournalStore {
    fn approval(
        &self,
        approval: ApprovalId,
    ) -> BoxFuture<'static, Result<Option<ApprovalRecord>, ReadError>> {
        self.read(move |connection| read::approval(connection, approval))
    }

    fn approvals(&self, query: ApprovalQuery) -> BoxFuture<'static, Result<Vec<ApprovalRecord>, ReadError>> {
        self.read(move |connection| read::approvals(connection, &query))
    }

    fn waiting_approvals(&self) -> BoxFuture<'static, Result<Vec<(PrincipalId, usize)>, ReadError>> {
        self.read(read::waiting_approvals)
    }

    fn next_to_expire(&self, limit: usize) -> BoxFuture<'static, Result<Vec<ExpiringApproval>, ReadError>> {
        self.read(move |connection| read::next_to_expire(connection, limit))
    }

    fn stored_grant(
        &self,
        grant: StoredGrantId,
    ) -> BoxFuture<'static, Result<Option<StoredGrantRecord>, ReadError>> {
        self.read(move |connection| read::stored_grant(connection, grant))
    }

    fn stored_grants(
        &self,
        only: GrantFilter,
    ) -> BoxFuture<'static, Result<Vec<StoredGrantRecord>, ReadError>> {
        self.read(move |connection| read::stored_grants(connection, only))
    }

    fn effects(&self, query: EffectQuery) -> BoxFuture<'static, Result<Vec<EffectRecord>, ReadError>> {
        self.read(move |connection| read::effects(connection, &query))
    }

    fn last_job(&self) -> BoxFuture<'static, Result<JobNumber, ReadError>> {
        self.read(read::last_job)
    }

    fn open_undos(&self) -> BoxFuture<'static, Result<Vec<UndoRequested>, ReadError>> {
        self.read(read::undos)
    }
}
