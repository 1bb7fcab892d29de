//! How words of others are spelled in a text: each can be told from its neighbours, and no character hides another.

use std::path::Path;

/// Returns a path as a word: whoever makes files chooses their names.
pub(crate) fn quoted_path(path: &Path) -> String {
    quoted(&path.display().to_string())
}

/// Returns a word as a shell would read it.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    if word.chars().all(|c| !c.is_control() && (c.is_ascii() || c.is_alphanumeric())) {
        return format!("'{}'", word.replace('\'', r"'\''"));
    }
    format!("$'{}'", word.escape_default())
}
