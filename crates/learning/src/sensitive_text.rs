//! Texts that may have a secret, or that speak of one: a person decides about them.

use crate::word_lists::SECRET_WORDS;

/// Digits in a row, apart from spaces and hyphens, that may be the number of an account.
const DIGITS_IN_A_ROW_MAX: usize = 11;

/// Returns whether a text may be sensitive.
pub(crate) fn is_sensitive(text: &str) -> bool {
    let lower = text.to_lowercase();
    SECRET_WORDS.iter().any(|word| lower.contains(word)) || has_long_number(&lower)
}

fn has_long_number(text: &str) -> bool {
    let mut digits = 0;
    for letter in text.chars() {
        match letter {
            '0'..='9' => digits += 1,
            ' ' | '-' if digits > 0 => {}
            _ => digits = 0,
        }
        if digits > DIGITS_IN_A_ROW_MAX {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_and_long_numbers_are_sensitive() {
        for text in ["my password is x", "The IBAN is AT1", "pay to 1234 5678 9012 3456", "an API key"] {
            assert!(is_sensitive(text), "{text}");
        }
        for text in
            ["I prefer tea", "call 555-0199", "on 2026-11-29 at 16:20", "rooms 1, 2, 3, 4, 5, 6, 7, 8, 9, 10"]
        {
            assert!(!is_sensitive(text), "{text}");
        }
    }
}
