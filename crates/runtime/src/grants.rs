//! Stored grants, for callers: looking at them and revoking them. Those that hold are in `standing_grants.rs`.
//!
//! Owns who may see a grant. Begin at [`GrantsHandle`].

use std::sync::Arc;

use palyra_ports::read_approvals::GrantFilter;
use palyra_ports::{AppendClass, AppendError, JournalAppendRequest, NewEntry};
use palyra_types::approval::{GrantScope, StoredGrant, StoredGrantRecord};
use palyra_types::event::{JournalEvent, PolicyEvent};
use palyra_types::{PrincipalId, StoredGrantId};

use crate::caller::Caller;
use crate::engine::Engine;
use crate::error::RequestError;

/// Looks at stored grants and revokes them.
#[derive(Clone)]
pub struct GrantsHandle {
    engine: Arc<Engine>,
    owner: PrincipalId,
}

impl GrantsHandle {
    pub(crate) fn new(engine: Arc<Engine>, owner: PrincipalId) -> Self {
        Self { engine, owner }
    }

    /// Lists stored grants that the caller may see, in order of id: those of their own calls, those they gave; all for
    /// the owner of the daemon.
    ///
    /// # Errors
    /// [`RequestError::Read`].
    pub async fn list(
        &self,
        caller: Caller,
        only: GrantFilter,
    ) -> Result<Vec<StoredGrantRecord>, RequestError> {
        let mut records = self.engine.ports.approvals.stored_grants(only).await?;
        records.retain(|record| self.sees(caller, &record.stored));
        Ok(records)
    }

    /// Revokes a stored grant; it covers no call once this has returned. Revoking twice is not an error.
    ///
    /// # Errors
    /// [`RequestError::GrantNotFound`], also for one that the caller may not see; [`RequestError::Append`].
    pub async fn revoke(
        &self,
        caller: Caller,
        grant: StoredGrantId,
    ) -> Result<StoredGrantRecord, RequestError> {
        let record = self.visible(caller, grant).await?;
        if record.revoked.is_some() {
            return Ok(record);
        }
        let session = match record.stored.scope {
            GrantScope::Session(session) => Some(session),
            GrantScope::Principal | GrantScope::Everywhere => None,
        };
        let entry = NewEntry {
            time: self.engine.ports.clock.wall(),
            principal: record.stored.principal,
            session,
            run: None,
            event: JournalEvent::Policy(PolicyEvent::GrantRevoked { grant, by: caller.principal }),
        };
        let class = AppendClass::Ending;
        let request = JournalAppendRequest { entries: vec![entry], class, ..JournalAppendRequest::default() };
        let appended = self.engine.ports.append.append(request).await;
        if appended == Err(AppendError::Unknown) {
            self.engine.grants.doubt();
            self.engine.grants.settle_doubt(&self.engine.ports).await;
        }
        appended?;
        self.engine.grants.forget(grant);
        self.visible(caller, grant).await
    }

    async fn visible(&self, caller: Caller, grant: StoredGrantId) -> Result<StoredGrantRecord, RequestError> {
        let record = self.engine.ports.approvals.stored_grant(grant).await?;
        record.filter(|record| self.sees(caller, &record.stored)).ok_or(RequestError::GrantNotFound)
    }

    fn sees(&self, caller: Caller, stored: &StoredGrant) -> bool {
        [self.owner, stored.principal, stored.granted_by].contains(&caller.principal)
    }
}
