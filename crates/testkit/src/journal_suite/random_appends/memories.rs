//! Events about memory, in all their forms; ids are few, so that items are superseded and forgotten.

use palyra_journal_core::families::memories;
use palyra_journal_core::family::{QueryFamilies, ReadFamilies};
use palyra_types::memory::{
    ForgetCause, MemoryAuthor, MemoryEvent, MemorySaved, MemoryScope, MemorySource, RecallRole,
    RecalledMemory,
};
use palyra_types::recall::{RecallLevel, RecallSetting, RecallSwitch};
use palyra_types::run::Surface;
use palyra_types::tool::Taints;
use palyra_types::{MemoryId, Redacted, RunId, SessionId, TapeSeq, Timestamp};

use super::{PRINCIPALS, RandomAppends, exposed};
use crate::journal_suite::samples;

/// Ids of items that random events name.
const MEMORIES: u64 = 7;

impl RandomAppends {
    pub(super) fn memory_event(&mut self) -> MemoryEvent {
        let memory = self.memory_id();
        if self.below(4) == 0 {
            let cause = self.one_of(&[ForgetCause::Person, ForgetCause::Model, ForgetCause::Ended]);
            return MemoryEvent::Forgotten { memory, cause };
        }
        let scope = match self.below(3) {
            0 => MemoryScope::Session(SessionId::from_parts(2, self.below(9).into())),
            1 => MemoryScope::Principal,
            _ => MemoryScope::PrincipalRoot(Redacted::cleaned(format!("/work/{}", self.below(3)).into())),
        };
        MemoryEvent::Saved(MemorySaved {
            memory,
            scope,
            author: self.one_of(&[MemoryAuthor::Person, MemoryAuthor::Model]),
            via: self.one_of(&[Surface::LocalSocket, Surface::Console]),
            source: self.maybe(|me| MemorySource {
                run: RunId::from_parts(3, 1 + u128::from(me.below(9))),
                tape_seq: TapeSeq(1 + me.number()),
            }),
            taints: self.one_of(&[Taints::NONE, Taints::WORKSPACE, Taints::WEB.with(Taints::TOOL)]),
            expires: self.maybe(|me| Timestamp(-7 + me.time().0)),
            supersedes: self.maybe(Self::memory_id),
            text: self.text(),
        })
    }

    pub(super) fn recalled_memory(&mut self) -> RecalledMemory {
        RecalledMemory {
            memory: self.memory_id(),
            created: self.time(),
            taints: self.one_of(&[Taints::NONE, Taints::WEB]),
            role: self.one_of(&[RecallRole::Related, RecallRole::Preference]),
            text: self.text(),
        }
    }

    pub(super) fn recall_switch(&mut self) -> RecallSwitch {
        self.one_of(&[RecallSwitch::On, RecallSwitch::Off])
    }

    pub(super) fn recall_setting(&mut self) -> RecallSetting {
        let levels =
            [RecallLevel::Session, RecallLevel::Channel, RecallLevel::Agent, RecallLevel::Configuration];
        RecallSetting { switch: self.recall_switch(), level: self.one_of(&levels) }
    }

    fn memory_id(&mut self) -> MemoryId {
        MemoryId::from_parts(11, 1 + u128::from(self.below(MEMORIES)))
    }
}

/// Adds the items of every principal of the population.
pub(super) async fn records(journal: &impl ReadFamilies, all: &mut Vec<String>) {
    for n in 0..PRINCIPALS {
        let principal = samples::principal(n.into());
        let found =
            journal.query(move |rows, log| memories::of_principal(rows, log, principal)).await.unwrap();
        // Texts of states that were written before there was memory stay the same.
        if !found.is_empty() {
            all.push(exposed(&found, |one| one.saved.text.expose().clone()));
        }
    }
}
