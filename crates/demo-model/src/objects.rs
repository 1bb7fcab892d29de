//! Tells what a word can be the name of: a file, a pattern, a web address.
//!
//! Pure functions over words; whether any of it exists is for a tool to say.

use super::lexicon::{KNOWN_FILES, NAMED_FILES, holds};
use super::words::WordToken;

/// Returns the path that a word surely is.
pub(super) fn path_of(word: &WordToken) -> Option<String> {
    let lower = word.lower();
    let typed_so = word.text != "README" && holds(NAMED_FILES, &word.text);
    if !word.is_quoted()
        && !typed_so
        && let Some((_, meant)) = KNOWN_FILES.iter().find(|(said, _)| *said == lower)
    {
        return Some((*meant).to_owned());
    }
    let surely = word.is_quoted() || is_path(&word.text) || holds(NAMED_FILES, &word.text);
    (surely && !is_pattern(&word.text) && !is_url(&word.text)).then(|| tidy_path(&word.text))
}

fn is_path(text: &str) -> bool {
    if matches!(text, "." | "..") || (text.contains('/') && text.len() > 1) {
        return true;
    }
    has_extension(text) || (text.starts_with('.') && text.len() > 1)
}

/// Returns whether a name ends with something like `.rs`.
pub(super) fn has_extension(text: &str) -> bool {
    let Some((stem, extension)) = text.rsplit_once('.') else { return false };
    let plausible = (1..=8).contains(&extension.len())
        && extension.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && extension.bytes().any(|byte| byte.is_ascii_alphabetic());
    plausible && !stem.is_empty() && !matches!(text, "e.g" | "i.e")
}

/// Returns whether a name is surely that of a file and of no folder.
pub(super) fn is_file_name(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    has_extension(name) || holds(NAMED_FILES, name)
}

/// Returns whether a text is a glob pattern.
pub(super) fn is_pattern(text: &str) -> bool {
    text.contains(['*', '{', '}', '[']) || (text.contains('?') && !is_url(text))
}

/// Returns whether a text is a web address.
pub(super) fn is_url(text: &str) -> bool {
    text.starts_with("http://") || text.starts_with("https://")
}

/// Drops a leading `./` and a trailing slash.
pub(super) fn tidy_path(text: &str) -> String {
    let trimmed = text.trim();
    let inner = trimmed.strip_prefix("./").unwrap_or(trimmed);
    let inner = if inner.len() > 1 { inner.trim_end_matches('/') } else { inner };
    if inner.is_empty() { ".".to_owned() } else { inner.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::super::words::words;
    use super::*;

    #[test]
    fn paths_are_told_from_words() {
        let check = |input: &str, expect: &[&str]| {
            let paths: Vec<String> = words(input).iter().filter_map(path_of).collect();
            assert_eq!(paths, expect, "{input}");
        };
        check("read README.md and src/lib.rs", &["README.md", "src/lib.rs"]);
        check("read the readme, e.g. all of it", &["README.md"]);
        check("cat .gitignore ./a/ \"my notes\" *.rs 3.5", &[".gitignore", "a", "my notes"]);
        check("list . and ..", &[".", ".."]);
        check("fetch http://example.org/a.md", &[]);
    }
}
