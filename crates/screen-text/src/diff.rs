//! How the lines of a unified diff look on a terminal.
//!
//! Pure. Invariant: a line changes its look and never its text, so that nothing is lost where there are no colours; what a
//! file holds cannot pass for the header of a diff, because the lines of a hunk are counted.

/// How a line is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineLook {
    /// As it is.
    Plain,
    /// A line of a hunk that stays.
    Context,
    /// A line that is added.
    Added,
    /// A line that is removed.
    Removed,
    /// The header of a file or of a hunk.
    Header,
}

impl LineLook {
    /// Returns the escape sequence of this look: readable on black and on white, so neither dim nor yellow.
    #[must_use]
    pub fn color(self) -> &'static str {
        match self {
            Self::Plain | Self::Context => "",
            Self::Added => "\u{1b}[32m",
            Self::Removed => "\u{1b}[31m",
            Self::Header => "\u{1b}[1m",
        }
    }

    /// Returns whether the line is part of a diff, whose first column is a sign.
    #[must_use]
    pub fn is_of_diff(self) -> bool {
        self != Self::Plain
    }
}

/// A line and how it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StyledLine {
    /// The line.
    pub text: String,
    /// How it is shown.
    pub look: LineLook,
}

impl StyledLine {
    /// Makes a line that is shown as it is.
    pub fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), look: LineLook::Plain }
    }
}

/// Returns the lines of a preview; those of a diff have their look, other texts stay plain.
#[must_use]
pub fn diff_lines(text: &str) -> Vec<StyledLine> {
    let lines: Vec<&str> = text.lines().collect();
    let is_diff = lines.windows(2).any(|pair| pair[0].starts_with("--- ") && pair[1].starts_with("+++ "));
    let mut hunk = OpenHunk::default();
    let styled = lines.into_iter().map(|line| {
        let look = if is_diff { hunk.look(line) } else { LineLook::Plain };
        StyledLine { text: line.to_owned(), look }
    });
    styled.collect()
}

/// The lines of a hunk that are still to come.
#[derive(Debug, Default)]
struct OpenHunk {
    old: u64,
    new: u64,
}

impl OpenHunk {
    fn look(&mut self, line: &str) -> LineLook {
        let is_open = self.old > 0 || self.new > 0;
        match line.as_bytes().first() {
            Some(b'+') if is_open => {
                self.new = self.new.saturating_sub(1);
                LineLook::Added
            }
            Some(b'-') if is_open => {
                self.old = self.old.saturating_sub(1);
                LineLook::Removed
            }
            Some(b' ') if is_open => {
                self.old = self.old.saturating_sub(1);
                self.new = self.new.saturating_sub(1);
                LineLook::Context
            }
            Some(b'\\') => LineLook::Context,
            _ => self.outside(line),
        }
    }

    fn outside(&mut self, line: &str) -> LineLook {
        *self = Self::default();
        if let Some(hunk) = hunk_of(line) {
            *self = hunk;
            return LineLook::Header;
        }
        let headers = ["--- ", "+++ ", "rename from ", "rename to "];
        match line.as_bytes().first() {
            _ if headers.iter().any(|begin| line.starts_with(begin)) => LineLook::Header,
            Some(b'+') => LineLook::Added,
            Some(b'-') => LineLook::Removed,
            _ => LineLook::Plain,
        }
    }
}

/// Reads the header of a hunk, such as `@@ -1,3 +1,4 @@`.
fn hunk_of(line: &str) -> Option<OpenHunk> {
    let (ranges, _) = line.strip_prefix("@@ -")?.split_once(" @@")?;
    let (old, new) = ranges.split_once(" +")?;
    let length = |range: &str| match range.split_once(',') {
        Some((_, length)) => length.parse().ok(),
        None => Some(1),
    };
    Some(OpenHunk { old: length(old)?, new: length(new)? })
}

#[cfg(test)]
mod tests;
