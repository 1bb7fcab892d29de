//! What guards ask about approvals, stored grants and effects: queries of families over rows in memory.

use palyra_journal_core::families::{approvals, effects, stored_grants};
use palyra_ports::read_approvals::{EffectFilter, EffectQuery};
use palyra_types::approval::{ApprovalState, StoredGrantRecord};
use palyra_types::{ApprovalId, EffectId, RunId, StoredGrantId, Timestamp};

use super::state::JournalState;

impl JournalState {
    /// Returns whether an approval waits.
    pub(super) fn is_pending(&mut self, approval: ApprovalId) -> bool {
        let found = self.read_rows(|rows, log| approvals::record(rows, log, approval));
        found.ok().flatten().is_some_and(|record| record.state == ApprovalState::Pending)
    }

    /// Returns whether a stored grant may be used once more.
    pub(super) fn is_usable(&mut self, grant: StoredGrantId, now: Timestamp) -> bool {
        let found = self.read_rows(|rows, log| stored_grants::record(rows, log, grant));
        found.ok().flatten().is_some_and(|record| {
            is_standing(&record) && record.stored.expires.is_none_or(|expires| now < expires)
        })
    }

    /// Returns whether nobody knows the outcome of an effect, and nobody said it.
    pub(super) fn is_unknown(&mut self, run: RunId, effect: EffectId) -> bool {
        let only = EffectFilter::Unknown;
        let query = EffectQuery { run: Some(run), only, limit: usize::MAX, ..EffectQuery::default() };
        let found = self.read_rows(|rows, _| effects::records(rows, &query));
        found.is_ok_and(|found| found.iter().any(|record| record.effect == effect))
    }
}

fn is_standing(record: &StoredGrantRecord) -> bool {
    record.revoked.is_none() && record.stored.uses_max.is_none_or(|uses_max| record.uses < uses_max)
}
