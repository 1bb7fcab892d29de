//! Stored grants: those that hold, for whoever judges, and the way to look at them and to revoke them.
//!
//! Owns the copy in memory, which the journal's guard outranks: a grant that is revoked or used up there covers nothing,
//! whatever is remembered here. Begin at [`StandingGrants::of`] and [`GrantsHandle`].

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use palyra_ports::read_approvals::{GrantFilter, STORED_GRANTS_MAX};
use palyra_ports::{AppendClass, JournalAppendRequest, NewEntry, ReadError};
use palyra_types::approval::{GrantScope, StoredGrant, StoredGrantRecord};
use palyra_types::event::{DecidedBy, JournalEvent, TapeEvent};
use palyra_types::tape::OrchestratorTapeRecord;
use palyra_types::tool::{ToolName, ToolVerdict};
use palyra_types::{PrincipalId, StoredGrantId};

use crate::caller::Caller;
use crate::engine::Engine;
use crate::error::RequestError;
use crate::parts::RuntimePorts;

type ByPrincipal = BTreeMap<PrincipalId, BTreeMap<StoredGrantId, StoredGrantRecord>>;

/// The grants that hold, as far as this process has seen commits.
#[derive(Default)]
pub(crate) struct StandingGrants(Mutex<ByPrincipal>);

impl StandingGrants {
    pub(crate) async fn load(ports: &RuntimePorts) -> Result<Self, ReadError> {
        let standing = Self::default();
        standing.load_again(ports).await?;
        Ok(standing)
    }

    /// Reads them anew, after a commit whose fate was unknown.
    pub(crate) async fn load_again(&self, ports: &RuntimePorts) -> Result<(), ReadError> {
        let records = ports.approvals.stored_grants(GrantFilter::Standing).await?;
        let mut all = ByPrincipal::new();
        for record in records {
            all.entry(record.stored.principal).or_default().insert(record.stored.grant, record);
        }
        *self.lock() = all;
        Ok(())
    }

    /// Returns those for calls of a tool on behalf of a principal, in order of id; whether one holds is policy's to say.
    pub(crate) fn of(&self, principal: PrincipalId, tool: &ToolName) -> Vec<StoredGrantRecord> {
        let all = self.lock();
        let of = all.get(&principal).into_iter().flat_map(BTreeMap::values);
        of.filter(|record| record.stored.tool.expose() == tool.as_str()).cloned().collect()
    }

    /// Returns whether one more may be given.
    pub(crate) fn has_room(&self) -> bool {
        self.lock().values().map(BTreeMap::len).sum::<usize>() < STORED_GRANTS_MAX
    }

    /// Takes note of a committed entry.
    pub(crate) fn committed(&self, entry: &OrchestratorTapeRecord) {
        match &entry.event {
            TapeEvent::GrantStored(stored) => {
                let (created, seq) = (entry.time, entry.seq);
                let record =
                    StoredGrantRecord { stored: stored.clone(), uses: 0, created, revoked: None, seq };
                self.lock().entry(stored.principal).or_default().entry(stored.grant).or_insert(record);
            }
            TapeEvent::ToolDecided(decided) if decided.verdict == ToolVerdict::Allow => {
                if let DecidedBy::Grant(used) = decided.decided_by {
                    self.each(used, |record| record.uses = record.uses.saturating_add(1));
                }
            }
            TapeEvent::ToolDecided(_)
            | TapeEvent::RunStarted(_)
            | TapeEvent::InputReceived { .. }
            | TapeEvent::ModelRequested(_)
            | TapeEvent::ModelText { .. }
            | TapeEvent::ModelReasoning { .. }
            | TapeEvent::ModelMessage(_)
            | TapeEvent::ModelAttemptAbandoned { .. }
            | TapeEvent::ToolProposed(_)
            | TapeEvent::ToolStarted(_)
            | TapeEvent::ToolFinished(_)
            | TapeEvent::ToolOutcomeUnknown { .. }
            | TapeEvent::EffectResolved { .. }
            | TapeEvent::ApprovalRequested(_)
            | TapeEvent::ApprovalVoted(_)
            | TapeEvent::ApprovalResolved(_)
            | TapeEvent::LoopDetected { .. }
            | TapeEvent::RunHeld { .. }
            | TapeEvent::CancelRequested { .. }
            | TapeEvent::RunFinished(_)
            | TapeEvent::Unknown { .. } => {}
        }
    }

    /// Forgets one that the journal says is used up or revoked.
    pub(crate) fn forget(&self, grant: StoredGrantId) {
        for of in self.lock().values_mut() {
            of.remove(&grant);
        }
    }

    fn each(&self, grant: StoredGrantId, change: impl Fn(&mut StoredGrantRecord)) {
        self.lock().values_mut().filter_map(|of| of.get_mut(&grant)).for_each(change);
    }

    fn lock(&self) -> MutexGuard<'_, ByPrincipal> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

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
            GrantScope::Principal => None,
        };
        let entry = NewEntry {
            time: self.engine.ports.clock.wall(),
            principal: record.stored.principal,
            session,
            run: None,
            event: JournalEvent::GrantRevoked { grant, by: caller.principal },
        };
        let class = AppendClass::Ending;
        let request = JournalAppendRequest { entries: vec![entry], class, ..JournalAppendRequest::default() };
        self.engine.ports.append.append(request).await?;
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
