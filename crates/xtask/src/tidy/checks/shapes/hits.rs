//! One counted occurrence, and the files in which counters look for it.
//!
//! Owns that only product code counts. Knows no counter.

use crate::tidy::house::RepositoryView;
use crate::tidy::shapes::CodeShape;
use crate::tidy::source::{FilePlace, SourceFile};

/// One counted occurrence.
pub(super) struct CountedHit {
    /// A crate's folder, or `crate::Type`.
    pub(super) group: String,
    pub(super) path: String,
    pub(super) line: usize,
    pub(super) item: String,
    pub(super) what: String,
}

impl CountedHit {
    /// Returns a hit of the crate that `file` is part of.
    pub(super) fn of_crate(file: &SourceFile, shape: &CodeShape, what: String) -> Self {
        Self {
            group: file.crate_folder.clone(),
            path: file.path.clone(),
            line: shape.line,
            item: shape.name.clone(),
            what,
        }
    }
}

/// Returns the files that are part of a program, so not of tests alone.
pub(super) fn product(house: &RepositoryView) -> impl Iterator<Item = &SourceFile> {
    house
        .files
        .iter()
        .filter(|f| matches!(f.place, FilePlace::Source | FilePlace::OwnTarget) && !f.crate_folder.is_empty())
}
