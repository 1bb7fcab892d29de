//! References of an input to material: their kinds, errors and limits, and what became of them as a fact.
//!
//! Owns the values alone. How a reference is written, and how a model reads its content, is computed elsewhere.

mod error;

pub use error::ReferenceError;

use crate::content_walk::ContentClass::Prose;
use crate::content_walk::content_rows;
use crate::{EffectId, Redacted, TapeSeq};

/// References of one input that are resolved, at most. Each one that is written counts, equal ones too.
pub const REFERENCES_MAX: usize = 8;

/// Estimated tokens of one item that a model is shown, at most.
pub const ITEM_TOKENS_MAX: u64 = 8192;

/// Estimated tokens of all items of one input that a model is shown, at most.
pub const TOTAL_TOKENS_MAX: u64 = 24_576;

/// A model is shown at most one part in this many of its window as references of one input.
const WINDOW_PART: u64 = 4;

/// What kind of material a reference names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ReferenceKind {
    /// `@file:PATH`, with lines as `@file:PATH:FROM-TO`.
    File,
    /// `@folder:PATH`.
    Folder,
    /// `@diff` or `@diff:PATH`: changes that are not staged.
    Diff,
    /// `@staged` or `@staged:PATH`: changes that are staged.
    Staged,
    /// `@url:ADDRESS`.
    Url,
    /// `@memory:QUERY`.
    Memory,
    /// `@run:ID`: what another run did, with entries as `@run:ID@SEQ` or `@run:ID:FROM-TO`.
    Run,
}

impl ReferenceKind {
    /// Every kind.
    pub const ALL: [Self; 7] =
        [Self::File, Self::Folder, Self::Diff, Self::Staged, Self::Url, Self::Memory, Self::Run];

    /// Returns the word behind the `@`. None begins with another one.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Folder => "folder",
            Self::Diff => "diff",
            Self::Staged => "staged",
            Self::Url => "url",
            Self::Memory => "memory",
            Self::Run => "run",
        }
    }
}

/// Estimated tokens of the items of one input, at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ReferenceLimits {
    /// Of one item.
    pub item_tokens: u64,
    /// Of all.
    pub total_tokens: u64,
}

impl Default for ReferenceLimits {
    fn default() -> Self {
        Self { item_tokens: ITEM_TOKENS_MAX, total_tokens: TOTAL_TOKENS_MAX }
    }
}

impl ReferenceLimits {
    /// Returns the limits for a model with this window.
    #[must_use]
    pub fn for_window(window_tokens: u64) -> Self {
        let total_tokens = TOTAL_TOKENS_MAX.min(window_tokens / WINDOW_PART);
        Self { item_tokens: ITEM_TOKENS_MAX.min(total_tokens), total_tokens }
    }
}

/// The references of one input became proposals, which follow in the same commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReferencesExpanded {
    /// The entry of the input.
    pub input: TapeSeq,
    /// The items, in the order in which they are written, at most [`REFERENCES_MAX`].
    pub items: Vec<ExpandedReference>,
    /// How many further references stay plain text.
    pub surplus: u32,
    /// How much of the items a model is shown.
    pub limits: ReferenceLimits,
    /// The references as they are written, in the order of the items; empty once erased.
    pub written: Vec<Redacted<String>>,
}

/// What one reference became.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ExpandedReference {
    /// Its kind.
    pub kind: ReferenceKind,
    /// How it is resolved.
    pub means: ReferenceMeans,
}

/// How a reference is resolved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ReferenceMeans {
    /// By a call.
    Call(EffectId),
    /// By the call of an earlier item, by its place from 0.
    SameAs(u32),
    /// Not at all.
    Refused(ReferenceError),
}

impl ReferencesExpanded {
    /// Returns the calls, in order.
    pub fn calls(&self) -> impl Iterator<Item = EffectId> {
        self.items.iter().filter_map(|item| match item.means {
            ReferenceMeans::Call(effect) => Some(effect),
            ReferenceMeans::SameAs(_) | ReferenceMeans::Refused(_) => None,
        })
    }
}

content_rows! {
    fn references_expanded(walk, expanded: ReferencesExpanded) {
        let ReferencesExpanded { input: _, items: _, surplus: _, limits: _, written } = expanded;
        walk.each(written, |walk, reference| walk.text(Prose, "written", reference));
    }
}
