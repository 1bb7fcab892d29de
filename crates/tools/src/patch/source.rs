//! The lines of a patch, taken one after the other.

use crate::failure::ToolFailure;

/// The lines of a patch, with their numbers.
pub(super) struct PatchLines<'p> {
    lines: Vec<&'p str>,
    at: usize,
}

impl<'p> PatchLines<'p> {
    pub(super) fn new(text: &'p str) -> Self {
        let mut lines: Vec<&str> = text.split('\n').collect();
        if lines.last() == Some(&"") {
            lines.pop();
        }
        Self { lines, at: 0 }
    }

    /// Returns the next line without taking it.
    pub(super) fn peek(&self) -> Option<&'p str> {
        self.lines.get(self.at).copied()
    }

    /// Takes the next line.
    pub(super) fn take(&mut self) -> Option<&'p str> {
        let line = self.peek()?;
        self.at += 1;
        Some(line)
    }

    /// Takes the next line if `begin` begins it, and returns the rest of it.
    pub(super) fn take_after(&mut self, begin: &str) -> Option<&'p str> {
        let rest = self.peek()?.strip_prefix(begin)?;
        self.at += 1;
        Some(rest)
    }

    /// Returns a failure that names the line last taken.
    pub(super) fn wrong(&self, why: &str) -> ToolFailure {
        ToolFailure::Patch(format!("line {} of the patch {why}", self.at.max(1)))
    }
}
