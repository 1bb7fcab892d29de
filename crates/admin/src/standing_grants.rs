//! The stored grants that hold, for whoever judges.
//!
//! Owns the copy in memory, which the journal's guard outranks: a grant that is revoked or used up there covers nothing,
//! whatever is remembered here. Begin at [`StandingGrants::of`].

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use palyra_journal_core::families::stored_grants;
use palyra_journal_core::family::{QueryFamilies, ReadFamilies};
use palyra_ports::ReadError;
use palyra_ports::read_approvals::{GrantFilter, STORED_GRANTS_MAX};
use palyra_types::approval::StoredGrantRecord;
use palyra_types::event::{ApprovalEvent, DecidedBy, TapeEvent, ToolEvent};
use palyra_types::tape::OrchestratorTapeRecord;
use palyra_types::tool::{ToolName, ToolVerdict};
use palyra_types::{PrincipalId, StoredGrantId};

use crate::parts::AdminPorts;

/// How often they are read again, at most, while commits change them in between.
const READS_MAX: usize = 8;

type ByPrincipal = BTreeMap<PrincipalId, BTreeMap<StoredGrantId, StoredGrantRecord>>;

/// The grants that hold, as far as this process has seen commits.
pub struct StandingGrants {
    ports: Arc<AdminPorts>,
    known: Mutex<KnownGrants>,
}

#[derive(Default)]
struct KnownGrants {
    grants: ByPrincipal,
    /// Changes so far.
    changes: u64,
    /// Whether an append of unknown fate may have changed them.
    in_doubt: bool,
}

impl StandingGrants {
    pub(crate) async fn load(ports: Arc<AdminPorts>) -> Result<Self, ReadError> {
        let grants = read(&*ports.families).await?;
        Ok(Self { ports, known: Mutex::new(KnownGrants { grants, ..KnownGrants::default() }) })
    }

    /// Takes note that an append whose fate nobody knows may have changed them.
    pub fn doubt(&self) {
        self.lock().in_doubt = true;
    }

    /// Reads them again if they are in doubt. What cannot be read stays so.
    pub async fn settle_doubt(&self) {
        for _ in 0..READS_MAX {
            let Some(changes) = self.changes_in_doubt() else { return };
            match read(&*self.ports.families).await {
                Ok(grants) => self.replace(changes, grants),
                Err(error) => {
                    tracing::warn!(%error, "stored grants could not be read again");
                    return;
                }
            }
        }
    }

    fn changes_in_doubt(&self) -> Option<u64> {
        let known = self.lock();
        known.in_doubt.then_some(known.changes)
    }

    /// Puts what was read in the place of what is known, unless that has changed since.
    fn replace(&self, changes: u64, grants: ByPrincipal) {
        let mut known = self.lock();
        if known.changes == changes {
            *known = KnownGrants { grants, changes, in_doubt: false };
        }
    }

    /// Returns those for calls of a tool on behalf of a principal, in order of id; whether one holds is policy's to say.
    #[must_use]
    pub fn of(&self, principal: PrincipalId, tool: &ToolName) -> Vec<StoredGrantRecord> {
        let known = self.lock();
        let of = known.grants.get(&principal).into_iter().flat_map(BTreeMap::values);
        of.filter(|record| record.stored.tool.expose() == tool.as_str()).cloned().collect()
    }

    /// Returns whether one more may be given.
    #[must_use]
    pub fn has_room(&self) -> bool {
        self.lock().grants.values().map(BTreeMap::len).sum::<usize>() < STORED_GRANTS_MAX
    }

    /// Takes note of a committed entry.
    pub fn committed(&self, entry: &OrchestratorTapeRecord) {
        match &entry.event {
            TapeEvent::Approval(ApprovalEvent::GrantStored(stored)) => {
                let (created, seq) = (entry.time, entry.seq);
                let record =
                    StoredGrantRecord { stored: stored.clone(), uses: 0, created, revoked: None, seq };
                let mut known = self.lock();
                known.changes += 1;
                known.grants.entry(stored.principal).or_default().entry(stored.grant).or_insert(record);
            }
            TapeEvent::Tool(ToolEvent::Decided(decided)) if decided.verdict == ToolVerdict::Allow => {
                if let DecidedBy::Grant(used) = decided.decided_by {
                    self.each(used, |record| record.uses = record.uses.saturating_add(1));
                }
            }
            TapeEvent::Tool(_)
            | TapeEvent::Run(_)
            | TapeEvent::Model(_)
            | TapeEvent::Approval(
                ApprovalEvent::Requested(_) | ApprovalEvent::Voted(_) | ApprovalEvent::Resolved(_),
            )
            | TapeEvent::Unknown { .. } => {}
        }
    }

    /// Forgets one that the journal says is used up or revoked.
    pub fn forget(&self, grant: StoredGrantId) {
        let mut known = self.lock();
        known.changes += 1;
        for of in known.grants.values_mut() {
            of.remove(&grant);
        }
    }

    fn each(&self, grant: StoredGrantId, change: impl Fn(&mut StoredGrantRecord)) {
        let mut known = self.lock();
        known.changes += 1;
        known.grants.values_mut().filter_map(|of| of.get_mut(&grant)).for_each(change);
    }

    fn lock(&self) -> MutexGuard<'_, KnownGrants> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn read(families: &dyn ReadFamilies) -> Result<ByPrincipal, ReadError> {
    let mut grants = ByPrincipal::new();
    for record in families.query(|rows, log| stored_grants::records(rows, log, GrantFilter::Standing)).await?
    {
        grants.entry(record.stored.principal).or_default().insert(record.stored.grant, record);
    }
    Ok(grants)
}
