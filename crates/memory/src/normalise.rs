//! The words of a text: lower case, without accents, letters and digits only.
//!
//! Owns the one definition of a word that embeddings, the word index and limits share. Total on any input.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Returns the words of `text` in their order.
pub(crate) fn words(text: &str) -> Vec<String> {
    let lower = text.chars().flat_map(char::to_lowercase);
    let letters: String = lower.nfd().filter(|letter| !is_combining_mark(*letter)).collect();
    let words = letters.split(|letter: char| !letter.is_alphanumeric());
    words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_lower_case_without_accents_and_punctuation() {
        assert_eq!(words("Élif's Café-Über, 12:30!"), ["elif", "s", "cafe", "uber", "12", "30"]);
    }

    #[test]
    fn a_text_without_letters_has_no_words() {
        assert!(words(" \u{0}\"'*()-- \u{301}").is_empty());
    }
}
