//! What a patch says of one file.
//!
//! Paths are as they were written: what they lead to is for the workspace to see.

/// What a patch does to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FilePatch {
    /// What it does.
    pub(crate) kind: PatchKind,
    /// Its hunks, in order.
    pub(crate) hunks: Vec<Hunk>,
}

/// What a patch does to one file; paths are as they were written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PatchKind {
    /// It makes it.
    Create {
        /// The file.
        path: String,
        /// Whether it can be run.
        is_executable: bool,
    },
    /// It changes it.
    Change {
        /// The file.
        path: String,
    },
    /// It removes it.
    Remove {
        /// The file.
        path: String,
    },
    /// It gives it another name, and may change it.
    Rename {
        /// The name it has.
        from: String,
        /// The name it gets.
        to: String,
    },
}

/// A place that changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hunk {
    /// The line at which it begins in the old file, from 1; 0 in an empty one.
    pub(crate) old_from: usize,
    /// Its lines.
    pub(crate) lines: Vec<HunkLine>,
    /// Whether the last line of the old file has no end.
    pub(crate) old_ends_open: bool,
    /// Whether the last line of the new file has no end.
    pub(crate) new_ends_open: bool,
}

/// A line of a hunk, without its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HunkLine {
    /// It is there before and after.
    Kept(String),
    /// It goes.
    Removed(String),
    /// It comes.
    Added(String),
}

impl Hunk {
    /// The line just read has no end.
    pub(super) fn end_open(&mut self) {
        match self.lines.last() {
            Some(HunkLine::Kept(_)) => (self.old_ends_open, self.new_ends_open) = (true, true),
            Some(HunkLine::Removed(_)) => self.old_ends_open = true,
            Some(HunkLine::Added(_)) => self.new_ends_open = true,
            None => {}
        }
    }
}
