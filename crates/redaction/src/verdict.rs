//! What a rule says of a place in a text.

use crate::byte_set::ByteSet;

/// Bytes before a place that a rule may look at.
pub(crate) const CONTEXT_BYTES_MAX: usize = 256;

/// A part of a text, as far as it is there.
#[derive(Clone, Copy)]
pub(crate) struct TextView<'a> {
    pub(crate) text: &'a [u8],
    /// Whether nothing comes after it.
    pub(crate) ended: TextEnd,
}

/// Whether a text is whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextEnd {
    Yes,
    NotYet,
}

impl<'a> TextView<'a> {
    /// Returns whether what is at `at` is not known yet.
    pub(crate) fn open_at(self, at: usize) -> bool {
        at >= self.text.len() && self.ended == TextEnd::NotYet
    }

    pub(crate) fn byte(self, at: usize) -> Option<u8> {
        self.text.get(at).copied()
    }

    /// Returns what stands before a place, as far back as a rule may look.
    pub(crate) fn before(self, at: usize) -> &'a [u8] {
        &self.text[at.saturating_sub(CONTEXT_BYTES_MAX)..at]
    }

    /// Returns what stands before a place, not further back than `bytes`.
    pub(crate) fn just_before(self, at: usize, bytes: usize) -> &'a [u8] {
        &self.text[at.saturating_sub(bytes.min(CONTEXT_BYTES_MAX))..at]
    }

    /// Returns whether `word` stands at a place, in whatever case.
    pub(crate) fn says(self, at: usize, word: &str) -> bool {
        let there = self.text.get(at..at + word.len());
        there.is_some_and(|there| there.eq_ignore_ascii_case(word.as_bytes()))
    }
}

/// A secret in a text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Span {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) kind: &'static str,
    pub(crate) rank: RuleRank,
    /// What it goes on with where it is longer than what was looked at.
    pub(crate) grows: Option<&'static ByteSet>,
    /// Whether it reaches to the end of its word, so that no token in it can reach beyond it.
    pub(crate) fills_word: bool,
}

/// Whose name a placeholder bears when several rules found the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum RuleRank {
    Registered,
    Token,
    Vendor,
    Place,
    Generic,
}

/// What a rule says of a place.
#[derive(Debug)]
pub(crate) enum RuleVerdict {
    No,
    /// It cannot say yet; a secret would begin at this place or later.
    Wait(usize),
    Found(Span),
    Several(Vec<Span>),
}

/// Stands for "nowhere yet" in [`RuleVerdict::Wait`].
pub(crate) const NOWHERE: usize = usize::MAX;
