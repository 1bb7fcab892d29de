//! Standing settings and counts of candidates, folded from all entries when they are asked for.

use std::collections::BTreeMap;

use palyra_types::Seq;
use palyra_types::event::{JournalEvent, PolicyEvent};
use palyra_types::posture::PostureRecord;
use palyra_types::shadow::ShadowCounts;

use super::state::State;

impl State {
    /// Returns the settings that hold, oldest first.
    pub(super) fn postures(&self) -> Vec<PostureRecord> {
        let mut standing: BTreeMap<Seq, PostureRecord> = BTreeMap::new();
        for entry in &self.entries {
            let JournalEvent::Policy(PolicyEvent::PostureChanged(change)) = &entry.new.event else {
                continue;
            };
            if let Some(replaced) = change.replaces {
                standing.remove(&replaced);
            }
            if change.posture.is_some() {
                let (seq, set, change) = (entry.seq, entry.new.time, change.clone());
                standing.insert(seq, PostureRecord { seq, set, change });
            }
        }
        standing.into_values().collect()
    }

    /// Returns the newest count of a candidate; of any where none is named.
    pub(super) fn shadow(&self, candidate: Option<[u8; 32]>) -> Option<ShadowCounts> {
        let counts = self.entries.iter().rev().filter_map(|entry| match &entry.new.event {
            JournalEvent::Policy(PolicyEvent::ShadowCounted(counts)) => Some(counts),
            _ => None,
        });
        let mut of_it =
            counts.filter(|counts| candidate.is_none_or(|candidate| counts.candidate == candidate));
        of_it.next().cloned()
    }
}
