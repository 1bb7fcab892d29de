//! The last limit of an output: no tool returns more than its grant permits.

/// Below this many bytes a cut text keeps no tail.
const TAIL_FROM_BYTES: usize = 1024;

/// Returns `text` in at most `bytes_max` bytes: its head, what was left out, its tail.
#[must_use]
pub fn truncate(text: String, bytes_max: usize) -> String {
    if text.len() <= bytes_max {
        return text;
    }
    let note = format!("\n[{} bytes in all, the middle left out; ask for a smaller part]\n", text.len());
    if bytes_max < TAIL_FROM_BYTES {
        return text[..text.floor_char_boundary(bytes_max)].to_owned();
    }
    let room = bytes_max - note.len();
    let head = &text[..text.floor_char_boundary(room / 4 * 3)];
    let tail = &text[text.ceil_char_boundary(text.len() - (room - room / 4 * 3))..];
    format!("{head}{note}{tail}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_truncated_text_fits_and_keeps_its_ends(text in "[a\u{e9}\u{1f600}\n]{0,2000}", bytes_max in 0usize..4000) {
            let cut = truncate(text.clone(), bytes_max);
            prop_assert!(cut.len() <= bytes_max);
            if text.len() <= bytes_max {
                prop_assert_eq!(cut, text);
            } else if bytes_max >= TAIL_FROM_BYTES {
                prop_assert_eq!(cut.chars().next_back(), text.chars().next_back());
                prop_assert_eq!(cut.chars().next(), text.chars().next());
            }
        }
    }
}
