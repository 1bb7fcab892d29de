//! The stored grants that hold, for whoever judges.
//!
//! Owns the copy in memory, which the journal's guard outranks: a grant that is revoked or used up there covers nothing,
//! whatever is remembered here. Begin at [`StandingGrants::of`].

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use palyra_ports::ReadError;
use palyra_ports::read_approvals::{GrantFilter, STORED_GRANTS_MAX};
use palyra_types::approval::StoredGrantRecord;
use palyra_types::event::{DecidedBy, TapeEvent};
use palyra_types::tape::OrchestratorTapeRecord;
use palyra_types::tool::{ToolName, ToolVerdict};
use palyra_types::{PrincipalId, StoredGrantId};

use crate::parts::RuntimePorts;

type ByPrincipal = BTreeMap<PrincipalId, BTreeMap<StoredGrantId, StoredGrantRecord>>;

/// The grants that hold, as far as this process has seen commits.
pub(crate) struct StandingGrants(Mutex<ByPrincipal>);

impl StandingGrants {
    pub(crate) async fn load(ports: &RuntimePorts) -> Result<Self, ReadError> {
        let records = ports.approvals.stored_grants(GrantFilter::Standing).await?;
        let mut all = ByPrincipal::new();
        for record in records {
            all.entry(record.stored.principal).or_default().insert(record.stored.grant, record);
        }
        Ok(Self(Mutex::new(all)))
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
