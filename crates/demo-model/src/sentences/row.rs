//! One row of a table of sentences.

use super::super::intent::Intent;
use super::super::pattern::Found;

/// Patterns of one meaning.
pub(in super::super) struct Row {
    /// How it is said; see [`pattern`](super::super::pattern).
    pub(in super::super) says: &'static [&'static str],
    /// What it asks for; `None` when it is something else after all.
    pub(in super::super) means: fn(&Found<'_>) -> Option<Intent>,
}
