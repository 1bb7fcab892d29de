//! Lines, sentences, and the paths and numbers in them.

use std::collections::BTreeSet;

/// Characters of a line, at most.
pub(super) const LINE_CHARS_MAX: usize = 200;

/// Returns a text as one line without runs of spaces, cut behind so many characters.
pub(super) fn one_line(text: &str, chars_max: usize) -> String {
    let clean: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let joined = clean.split_whitespace().collect::<Vec<_>>().join(" ");
    let cut: String = joined.chars().take(chars_max).collect();
    cut.trim_end().to_owned()
}

/// Returns the sentences of a text, each as one line.
pub(super) fn sentences(text: &str) -> impl Iterator<Item = String> {
    let lines = text.lines().flat_map(|line| line.split_inclusive(". "));
    let parts = lines.flat_map(|part| part.split_inclusive("! ")).flat_map(|part| part.split_inclusive("? "));
    parts.map(|part| one_line(part, LINE_CHARS_MAX)).filter(|part| !part.is_empty())
}

/// Returns the paths and numbers in a text.
pub(super) fn paths_and_numbers(text: &str) -> BTreeSet<&str> {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control() || is_between_words(c));
    let trimmed = words.map(|word| word.trim_matches(|c: char| !c.is_alphanumeric() && c != '/'));
    trimmed.filter(|word| is_number(word) || is_path(word)).collect()
}

fn is_between_words(c: char) -> bool {
    matches!(c, '"' | '\'' | '`' | '(' | ')' | '[' | ']' | '{' | '}' | '<' | '>' | ',' | ';' | '|' | '=')
}

fn is_number(word: &str) -> bool {
    word.chars().any(char::is_numeric)
}

fn is_path(word: &str) -> bool {
    let has_letter = word.chars().any(char::is_alphanumeric);
    let is_file = word.rsplit_once('.').is_some_and(|(stem, ending)| {
        let letters = ending.chars().all(|c| c.is_ascii_alphanumeric());
        stem.chars().count() >= 2 && letters && (1..=5).contains(&ending.len())
    });
    has_letter && (word.contains('/') || word.contains('\\') || is_file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_numbers_are_found_without_their_punctuation() {
        let found = paths_and_numbers(
            "Use port 8080, \"src/main.rs\" and notes.txt; not v1.2! See (https://a.b/c). e.g",
        );
        assert_eq!(
            found.into_iter().collect::<Vec<_>>(),
            ["8080", "https://a.b/c", "notes.txt", "src/main.rs", "v1.2"]
        );
        assert!(paths_and_numbers("Plain words. Nothing else - at all.").is_empty());
    }

    #[test]
    fn a_line_has_no_breaks_and_is_cut_at_a_character() {
        assert_eq!(one_line(" a\u{0}b\n\tc\u{2028}d ", 99), "a b c d");
        assert_eq!(one_line("\u{e9}\u{e9}\u{e9}", 2), "\u{e9}\u{e9}");
        assert_eq!(sentences("One. Two? 3\nFour").collect::<Vec<_>>(), ["One.", "Two?", "3", "Four"]);
    }
}
