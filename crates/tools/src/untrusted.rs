//! The reader of patches, for whoever feeds it bytes that nobody vouches for.

use crate::patch::{HunkLine, PatchKind, apply, read_patch};

/// What a patch would do to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatchedFile {
    /// Every path that the tool would open, as it is written.
    pub paths: Vec<String>,
    /// Lines that have to be there and stay, lines that go, and lines that come.
    pub lines: [usize; 3],
    /// What its hunks make of `old`; `None` where they do not fit.
    pub made: Option<Vec<u8>>,
}

/// Reads a patch, and applies the hunks of each of its files to `old`; `None` when it is refused.
#[must_use]
pub fn patch(text: &str, old: &[u8]) -> Option<Vec<PatchedFile>> {
    let files = read_patch(text).ok()?;
    let patched = files.into_iter().map(|file| {
        let paths = match file.kind {
            PatchKind::Create { path, .. } | PatchKind::Change { path } | PatchKind::Remove { path } => {
                vec![path]
            }
            PatchKind::Rename { from, to } => vec![from, to],
        };
        let mut lines = [0; 3];
        for line in file.hunks.iter().flat_map(|hunk| &hunk.lines) {
            let at = match line {
                HunkLine::Kept(_) => 0,
                HunkLine::Removed(_) => 1,
                HunkLine::Added(_) => 2,
            };
            lines[at] += 1;
        }
        PatchedFile { paths, lines, made: apply(old, &file.hunks, "a file").ok() }
    });
    Some(patched.collect())
}
