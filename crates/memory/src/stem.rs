//! Stems of English words, so that `deploys`, `deployed` and `deploying` are found by each other.
//!
//! Owns a short list of endings. A stem is only compared with stems, never shown. Words with digits and letters outside of
//! ASCII are their own stems.

use std::hash::{DefaultHasher, Hash, Hasher};

/// A stem, for comparisons only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct StemHash(u64);

impl StemHash {
    pub(crate) fn of(stem: &str) -> Self {
        let mut hasher = DefaultHasher::new();
        stem.hash(&mut hasher);
        Self(hasher.finish())
    }

    /// Returns the hashes of different stems, ascending.
    pub(crate) fn of_all(stems: &[String]) -> Box<[Self]> {
        let mut hashes: Vec<Self> = stems.iter().map(|stem| Self::of(stem)).collect();
        hashes.sort_unstable();
        hashes.dedup();
        hashes.into_boxed_slice()
    }
}

/// Shorter words are their own stems.
const STEMMED_LETTERS_MIN: usize = 4;
/// Letters that remain in front of a removed ending.
const REMAINING_LETTERS_MIN: usize = 3;

/// Returns the stem of `word`, which is in lower case.
pub(crate) fn stem(word: &str) -> String {
    let is_plain = word.bytes().all(|letter| letter.is_ascii_lowercase());
    if !is_plain || word.len() < STEMMED_LETTERS_MIN {
        return word.to_owned();
    }
    let singular = without_plural(word);
    let root = without_tense(&singular);
    without_last_vowel(root)
}

fn without_plural(word: &str) -> String {
    if let Some(root) = word.strip_suffix("ies")
        && root.len() >= REMAINING_LETTERS_MIN - 1
    {
        return format!("{root}y");
    }
    match word.strip_suffix('s') {
        Some(root) if !root.ends_with('s') && !root.ends_with('u') && !root.ends_with('i') => root.to_owned(),
        _ => word.to_owned(),
    }
}

fn without_tense(word: &str) -> &str {
    let root = ["ing", "ed"].into_iter().find_map(|ending| word.strip_suffix(ending));
    match root {
        Some(root) if root.len() >= REMAINING_LETTERS_MIN && root.contains(is_vowel) => {
            without_doubling(root)
        }
        _ => word,
    }
}

fn without_doubling(root: &str) -> &str {
    let bytes = root.as_bytes();
    match bytes {
        [.., a, b] if a == b && !matches!(b, b'l' | b's' | b'z' | b'e' | b'o') => &root[..root.len() - 1],
        _ => root,
    }
}

fn without_last_vowel(root: &str) -> String {
    match root.strip_suffix('e') {
        Some(shorter) if shorter.len() >= REMAINING_LETTERS_MIN => shorter.to_owned(),
        _ => match root.strip_suffix('y') {
            Some(shorter) if shorter.len() >= REMAINING_LETTERS_MIN => format!("{shorter}i"),
            _ => root.to_owned(),
        },
    }
}

fn is_vowel(letter: char) -> bool {
    matches!(letter, 'a' | 'e' | 'i' | 'o' | 'u' | 'y')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_one_word_have_one_stem() {
        for forms in [
            ["deploy", "deploys", "deployed", "deploying"],
            ["invoice", "invoices", "invoiced", "invoicing"],
            ["run", "runs", "run", "running"],
            ["copy", "copies", "copied", "copying"],
        ] {
            let stems: Vec<_> = forms.into_iter().map(stem).collect();
            assert!(stems.iter().all(|other| *other == stems[0]), "{stems:?}");
        }
    }

    #[test]
    fn short_words_names_with_digits_and_other_letters_stay() {
        for word in ["bus", "dns", "e2s", "jump01s", "straßes", "status", "access"] {
            assert_eq!(stem(word), word);
        }
    }
}
