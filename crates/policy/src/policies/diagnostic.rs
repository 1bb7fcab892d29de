//! What is wrong with a set of policies: where, what, and how to mend it.

use std::fmt;

/// One mistake in one file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PolicyMistake {
    /// The file's name.
    pub file: String,
    /// Its line, from 1.
    pub line: usize,
    /// The character in that line, from 1.
    pub column: usize,
    /// What is wrong.
    pub what: String,
    /// How to mend it.
    pub mend: String,
}

impl fmt::Display for PolicyMistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: {}; {}", self.file, self.line, self.column, self.what, self.mend)
    }
}

/// Why a set of policies is refused: all that is wrong with it, in order of place. One mistake refuses the whole set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the policies are refused: {}", shown(.0))]
pub struct PolicyMistakes(pub Vec<PolicyMistake>);

fn shown(mistakes: &[PolicyMistake]) -> String {
    const SHOWN_MAX: usize = 20;
    let mut lines: Vec<String> = mistakes.iter().take(SHOWN_MAX).map(PolicyMistake::to_string).collect();
    if mistakes.len() > SHOWN_MAX {
        lines.push(format!("and {} more", mistakes.len() - SHOWN_MAX));
    }
    lines.join("\n")
}

/// Returns line and column of a byte in a text.
pub(crate) fn place_of(text: &str, byte: usize) -> (usize, usize) {
    let mut end = byte.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let before = &text[..end];
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    (line, column)
}
