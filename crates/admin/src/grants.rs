//! Stored grants, for callers: looking at them and revoking them. Those that hold are in `standing_grants.rs`.
//!
//! Owns who may see a grant. Begin at [`GrantsHandle`].

use std::sync::Arc;

use palyra_journal_core::families::stored_grants;
use palyra_journal_core::family::QueryFamilies;
use palyra_ports::read_approvals::GrantFilter;
use palyra_ports::{AppendClass, AppendError, NewEntry};
use palyra_types::approval::{GrantScope, StoredGrant, StoredGrantRecord};
use palyra_types::event::{JournalEvent, PolicyEvent};
use palyra_types::{PrincipalId, StoredGrantId};

use crate::caller::Caller;
use crate::error::AdminError;
use crate::parts::AdminPorts;
use crate::standing_grants::StandingGrants;
use crate::views::AdminViews;

/// Looks at stored grants and revokes them.
#[derive(Clone)]
pub struct GrantsHandle {
    ports: Arc<AdminPorts>,
    grants: Arc<StandingGrants>,
    owner: PrincipalId,
}

impl GrantsHandle {
    /// Makes a handle that changes what `views` shows to runs.
    #[must_use]
    pub fn new(ports: Arc<AdminPorts>, views: &AdminViews, owner: PrincipalId) -> Self {
        Self { ports, grants: Arc::clone(&views.grants), owner }
    }

    /// Lists stored grants that the caller may see, in order of id: those of their own calls, those they gave; all for
    /// the owner of the daemon.
    ///
    /// # Errors
    /// [`AdminError::Read`].
    pub async fn list(
        &self,
        caller: Caller,
        only: GrantFilter,
    ) -> Result<Vec<StoredGrantRecord>, AdminError> {
        let mut records =
            self.ports.families.query(move |rows, log| stored_grants::records(rows, log, only)).await?;
        records.retain(|record| self.sees(caller, &record.stored));
        Ok(records)
    }

    /// Revokes a stored grant; it covers no call once this has returned. Revoking twice is not an error.
    ///
    /// # Errors
    /// [`AdminError::GrantNotFound`], also for one that the caller may not see; [`AdminError::Append`].
    pub async fn revoke(
        &self,
        caller: Caller,
        grant: StoredGrantId,
    ) -> Result<StoredGrantRecord, AdminError> {
        let record = self.visible(caller, grant).await?;
        if record.revoked.is_some() {
            return Ok(record);
        }
        let session = match record.stored.scope {
            GrantScope::Session(session) => Some(session),
            GrantScope::Principal | GrantScope::Everywhere => None,
        };
        let entry = NewEntry {
            time: self.ports.clock.wall(),
            principal: record.stored.principal,
            session,
            run: None,
            event: JournalEvent::Policy(PolicyEvent::GrantRevoked { grant, by: caller.actor.principal }),
        };
        let recorder = &self.ports.recorder;
        let appended = recorder.record_act(caller.actor, vec![entry], AppendClass::Ending, Vec::new()).await;
        if appended == Err(AppendError::Unknown) {
            self.grants.doubt();
            self.grants.settle_doubt().await;
        }
        appended?;
        self.grants.forget(grant);
        self.visible(caller, grant).await
    }

    async fn visible(&self, caller: Caller, grant: StoredGrantId) -> Result<StoredGrantRecord, AdminError> {
        let record =
            self.ports.families.query(move |rows, log| stored_grants::record(rows, log, grant)).await?;
        record.filter(|record| self.sees(caller, &record.stored)).ok_or(AdminError::GrantNotFound)
    }

    fn sees(&self, caller: Caller, stored: &StoredGrant) -> bool {
        [self.owner, stored.principal, stored.granted_by].contains(&caller.actor.principal)
    }
}
