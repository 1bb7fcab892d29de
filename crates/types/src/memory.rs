//! Memory: what is remembered on behalf of a principal, as recorded facts and as records.
//!
//! Owns the values. Invariant: an item belongs to one principal, that of its entry, always; what it was learned from is
//! part of it, so labels of what a run had read survive it. Begin at [`MemoryEvent`].

use std::path::PathBuf;

use crate::content_walk::ContentClass::{Identity, Prose};
use crate::content_walk::content_rows;
use crate::surface::Surface;
use crate::tool::Taints;
use crate::{MemoryId, PrincipalId, Redacted, RunId, Seq, SessionId, TapeSeq, Timestamp};

/// Bytes of the text of an item, at most.
pub const MEMORY_TEXT_BYTES_MAX: usize = 2_000;

/// Something was remembered or forgotten; on whose behalf is in the envelope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MemoryEvent {
    /// An item was saved.
    Saved(MemorySaved),
    /// An item is not used any more.
    Forgotten {
        /// Which.
        memory: MemoryId,
        /// Why.
        cause: ForgetCause,
    },
}

/// An item, as it was saved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemorySaved {
    /// Its id.
    pub memory: MemoryId,
    /// Where it is used.
    pub scope: MemoryScope,
    /// Who wrote it.
    pub author: MemoryAuthor,
    /// On which surface.
    pub via: Surface,
    /// What it was learned from; `None` where a person wrote it outside of a run.
    pub source: Option<MemorySource>,
    /// What the run had read that it was learned from.
    pub taints: Taints,
    /// From when on it is not used any more.
    pub expires: Option<Timestamp>,
    /// The item that it takes the place of.
    pub supersedes: Option<MemoryId>,
    /// What is remembered; empty once erased.
    pub text: Redacted<String>,
}

/// Where an item is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MemoryScope {
    /// In one conversation.
    Session(SessionId),
    /// In every conversation of its principal.
    Principal,
    /// In the conversations of its principal that work in this folder.
    PrincipalRoot(Redacted<PathBuf>),
}

/// Who wrote an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MemoryAuthor {
    /// A person, in these words.
    Person,
    /// A model, by a tool.
    Model,
}

/// The entry of a tape that an item was learned from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MemorySource {
    /// The run.
    pub run: RunId,
    /// The entry.
    pub tape_seq: TapeSeq,
}

/// Why an item is not used any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ForgetCause {
    /// A person removed it.
    Person,
    /// A model removed it, by a tool.
    Model,
    /// It was past its end, or its text was erased.
    Ended,
}

/// An item as a run was given it, because it may have to do with the run's input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecalledMemory {
    /// The item.
    pub memory: MemoryId,
    /// When it was saved.
    pub created: Timestamp,
    /// What the run had read that it was learned from.
    pub taints: Taints,
    /// Why the run was given it.
    pub role: RecallRole,
    /// What is remembered; empty once erased.
    pub text: Redacted<String>,
}

/// Why a run is given an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum RecallRole {
    /// It may have to do with the input.
    #[default]
    Related,
    /// It is a learned preference, which each run is given.
    Preference,
}

/// An item, as lists show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryRecord {
    /// The item.
    pub saved: MemorySaved,
    /// Whose it is.
    pub principal: PrincipalId,
    /// The entry that saved it.
    pub seq: Seq,
    /// When.
    pub created: Timestamp,
    /// The item that took its place.
    pub superseded_by: Option<MemoryId>,
    /// Since when it is not used any more.
    pub forgotten: Option<Timestamp>,
}

impl MemoryRecord {
    /// Returns whether the item is used at a time: neither forgotten nor erased, and not past its end.
    #[must_use]
    pub fn is_usable(&self, now: Timestamp) -> bool {
        let is_over = self.saved.expires.is_some_and(|expires| expires <= now);
        self.forgotten.is_none() && !is_over && !self.saved.text.expose().is_empty()
    }
}

content_rows! {
    fn memory_event(walk, event: MemoryEvent) {
        match event {
            MemoryEvent::Saved(saved) => walk.memory_saved(saved),
            MemoryEvent::Forgotten { memory: _, cause: _ } => {}
        }
    }

    fn memory_saved(walk, saved: MemorySaved) {
        let MemorySaved {
            memory: _, scope, author: _, via: _, source: _, taints: _, expires: _, supersedes: _, text,
        } = saved;
        match scope {
            // Items are found by the folder, so it is never rewritten.
            MemoryScope::PrincipalRoot(root) => walk.path(Identity, "scope.root", root),
            MemoryScope::Session(_) | MemoryScope::Principal => {}
        }
        walk.text(Prose, "text", text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(text: &'static str, expires: Option<i64>, forgotten: Option<i64>) -> MemoryRecord {
        let saved = MemorySaved {
            memory: MemoryId::from_parts(1, 1),
            scope: MemoryScope::Principal,
            author: MemoryAuthor::Person,
            via: Surface::LocalSocket,
            source: None,
            taints: Taints::NONE,
            expires: expires.map(Timestamp),
            supersedes: None,
            text: text.into(),
        };
        MemoryRecord {
            saved,
            principal: PrincipalId::from_parts(1, 1),
            seq: Seq(1),
            created: Timestamp(1),
            superseded_by: None,
            forgotten: forgotten.map(Timestamp),
        }
    }

    #[test]
    fn an_item_is_used_until_it_ends_is_forgotten_or_is_erased() {
        for (expires, forgotten, text, usable) in [
            (None, None, "tea", true),
            (Some(11), None, "tea", true),
            (Some(10), None, "tea", false),
            (None, Some(3), "tea", false),
            (None, None, "", false),
        ] {
            let case = record(text, expires, forgotten);
            assert_eq!(case.is_usable(Timestamp(10)), usable, "{expires:?} {forgotten:?} {text:?}");
        }
    }
}
