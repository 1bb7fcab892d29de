//! Finds the things a clause speaks of: files, folders, patterns, line ranges.
//!
//! Pure functions over words; whether any of it exists is for a tool to say.

use super::lexicon::{FILE_KINDS, FILLERS, HERE, KNOWN_FILES, PLACES, holds};
use super::words::Word;

/// Returns the paths a clause names, in order; words that only might be paths do not count.
pub(super) fn paths(words: &[Word]) -> Vec<String> {
    words.iter().filter_map(path_of).collect()
}

/// Returns the one word that is neither grammar nor anything else known, as a path.
pub(super) fn bare_name(words: &[Word]) -> Option<String> {
    let mut names = words.iter().filter(|word| word.is_quoted() || !holds(FILLERS, &word.lower()));
    let name = names.next()?;
    names.next().is_none().then(|| tidy_path(&name.text))
}

/// Returns the folder a clause names; `.` when it names the workspace or nothing.
pub(super) fn folder(words: &[Word]) -> Option<String> {
    paths(words).into_iter().next().or_else(|| named_folder(words)).or_else(|| place(words))
}

/// Returns the place behind "in" or "under", `None` when it is the workspace itself.
pub(super) fn place(words: &[Word]) -> Option<String> {
    let at = words.iter().rposition(|word| holds(PLACES, &word.lower()))?;
    let rest = &words[at + 1..];
    let name = rest.iter().find(|word| word.is_quoted() || is_name(&word.lower()))?;
    Some(path_of(name).unwrap_or_else(|| tidy_path(&name.text)))
}

fn is_name(lower: &str) -> bool {
    !lower.is_empty() && !holds(FILLERS, lower) && !holds(HERE, lower)
}

/// Reads "the src folder".
fn named_folder(words: &[Word]) -> Option<String> {
    let at =
        words.iter().position(|word| holds(&["folder", "directory", "dir", "subfolder"], &word.lower()))?;
    let before = words[..at].last().filter(|word| word.is_quoted() || is_name(&word.lower()));
    let after = || words.get(at + 1..)?.iter().find(|word| word.is_quoted() || is_name(&word.lower()));
    before.or_else(after).map(|word| tidy_path(&word.text))
}

/// Returns the path that a word surely is.
pub(super) fn path_of(word: &Word) -> Option<String> {
    let lower = word.lower();
    if !word.is_quoted()
        && let Some((_, meant)) = KNOWN_FILES.iter().find(|(said, _)| *said == lower)
    {
        return Some((*meant).to_owned());
    }
    let surely = word.is_quoted() || is_path(&word.text);
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

/// Returns the extension behind "rust files" and the like.
pub(super) fn file_kind(words: &[Word]) -> Option<&'static str> {
    let at = words.iter().position(|word| holds(&["files", "documents", "sources"], &word.lower()))?;
    let kind = words[..at].last()?.lower();
    let bare = kind.strip_prefix('.').unwrap_or(&kind);
    FILE_KINDS.iter().find(|(said, ext)| *said == bare || *ext == bare).map(|(_, ext)| *ext)
}

/// Returns the lines a clause asks for: "lines 10 to 20", "lines 10-20", "the first 5 lines".
pub(super) fn line_range(words: &[Word]) -> Option<(u64, u64)> {
    let at = words.iter().position(|word| holds(&["line", "lines"], &word.lower()))?;
    let number = |at: usize| words.get(at)?.text.parse::<u64>().ok().filter(|n| *n > 0);
    if let Some(count) = at.checked_sub(1).and_then(number) {
        return Some((1, count));
    }
    let (from, to) = match number(at + 1) {
        Some(from)
            if words.get(at + 2).is_some_and(|w| holds(&["to", "-", "until", "through"], &w.lower())) =>
        {
            (from, number(at + 3)?)
        }
        Some(from) => (from, from),
        None => {
            let (from, to) = words.get(at + 1)?.text.split_once(['-', '–'])?;
            (from.parse().ok()?, to.parse().ok()?)
        }
    };
    (0 < from && from <= to).then_some((from, to))
}

#[cfg(test)]
mod tests {
    use super::super::words::words;
    use super::*;

    #[test]
    fn paths_are_told_from_words() {
        let check = |input: &str, expect: &[&str]| assert_eq!(paths(&words(input)), expect, "{input}");
        check("read README.md and src/lib.rs", &["README.md", "src/lib.rs"]);
        check("read the readme, e.g. all of it", &["README.md"]);
        check("cat .gitignore ./a/ \"my notes\" *.rs 3.5", &[".gitignore", "a", "my notes"]);
        check("list . and ..", &[".", ".."]);
        check("fetch http://example.org/a.md", &[]);
    }

    #[test]
    fn folders_have_many_ways_to_be_named() {
        let check = |input: &str, expect: Option<&str>| {
            assert_eq!(folder(&words(input)).as_deref(), expect, "{input}");
        };
        check("the src folder", Some("src"));
        check("the directory docs", Some("docs"));
        check("files in src", Some("src"));
        check("files in the crates/types folder?", Some("crates/types"));
        check("all files in this folder", None);
        check("files in the workspace", None);
        check("files under \"my docs\"", Some("my docs"));
    }

    #[test]
    fn line_ranges_are_read() {
        let check = |input: &str, expect| assert_eq!(line_range(&words(input)), expect, "{input}");
        check("lines 10 to 20 of a.md", Some((10, 20)));
        check("lines 10-20 of a.md", Some((10, 20)));
        check("line 7 of a.md", Some((7, 7)));
        check("the first 5 lines of a.md", Some((1, 5)));
        check("lines 9 to 3", None);
        check("how many lines are in a.md", None);
    }
}
