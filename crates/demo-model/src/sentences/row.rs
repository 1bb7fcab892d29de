//! One row of a table of sentences.

use super::super::intent::ClauseIntent;
use super::super::pattern::PatternMatch;

/// Patterns of one meaning.
pub(in super::super) struct PatternRow {
    /// How it is said; see [`pattern`](super::super::pattern).
    pub(in super::super) says: &'static [&'static str],
    /// What it asks for; `None` when it is something else after all.
    pub(in super::super) means: fn(&PatternMatch<'_>) -> Option<ClauseIntent>,
}
