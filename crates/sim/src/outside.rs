//! What lies outside the daemon and outlives it: one file that calls change, and a server that takes deliveries.
//!
//! Owns both, and what ever happened to them. Knows no grant's reason: whether a call was allowed is the oracle's.

use std::collections::BTreeMap;

use palyra_types::{EffectId, RunId};

/// The world beyond the daemon.
#[derive(Debug, Default)]
pub(crate) struct OutsideWorld {
    file: String,
    versions: u64,
    /// How often each call changed the file.
    changes: BTreeMap<CallKey, u32>,
    /// Which call each key was used by.
    deliveries: BTreeMap<[u8; 32], CallKey>,
}

/// One call of one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CallKey {
    pub(crate) run: RunId,
    pub(crate) effect: EffectId,
}

/// What a call that changes the file came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileChange {
    /// It is done, now or before.
    Done,
    /// The file is neither what it was nor what it should become.
    Conflict,
}

impl OutsideWorld {
    /// Returns what the file is.
    pub(crate) fn file(&self) -> &str {
        &self.file
    }

    /// Somebody else changes the file.
    pub(crate) fn change_otherwise(&mut self) {
        self.versions += 1;
        self.file = format!("version {}", self.versions);
    }

    /// Changes the file if it is what it was; says so if it has become that already. Returns how often this call
    /// changed it.
    pub(crate) fn change(&mut self, who: CallKey, before: &str, after: &str) -> (FileChange, u32) {
        let times = self.changes.entry(who).or_default();
        let change = if self.file == before {
            self.file = after.to_owned();
            *times += 1;
            FileChange::Done
        } else if self.file == after {
            FileChange::Done
        } else {
            FileChange::Conflict
        };
        (change, *times)
    }

    /// Takes a delivery; returns who used the key before.
    pub(crate) fn deliver(&mut self, key: [u8; 32], who: CallKey) -> Option<CallKey> {
        self.deliveries.insert(key, who)
    }
}
