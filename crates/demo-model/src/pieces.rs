//! Reads the pace directive, and cuts a text into the pieces that are streamed.

use std::time::Duration;

/// How many pieces of text an answer has at most; its end is one piece more.
const TEXT_PIECES_MAX: usize = 23;
/// How many words a piece holds at least.
const PIECE_WORDS_MIN: usize = 3;
/// The longest pause before a piece.
const PACE_MAX: Duration = Duration::from_secs(5);

/// Takes every `[pace=MS]` out of an input; the last one counts.
pub(super) fn take_pace(input: &str) -> (String, Duration) {
    let mut rest = input;
    let mut text = String::with_capacity(input.len());
    let mut pace = Duration::ZERO;
    while let Some(at) = rest.find("[pace=") {
        let behind = &rest[at + "[pace=".len()..];
        let read =
            behind.split_once(']').and_then(|(ms, after)| Some((ms.trim().parse::<u64>().ok()?, after)));
        match read {
            Some((ms, after)) => {
                pace = Duration::from_millis(ms).min(PACE_MAX);
                text.push_str(&rest[..at]);
                rest = after;
            }
            None => {
                text.push_str(&rest[..at + 1]);
                rest = &rest[at + 1..];
            }
        }
    }
    text.push_str(rest);
    (text, pace)
}

/// Cuts a text between words; the pieces joined are the text.
pub(super) fn pieces(text: &str) -> Vec<String> {
    let words: Vec<&str> = text.split_inclusive(char::is_whitespace).collect();
    let words_per_piece = words.len().div_ceil(TEXT_PIECES_MAX).max(PIECE_WORDS_MIN);
    words.chunks(words_per_piece).map(|chunk| chunk.concat()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pace_is_taken_out_of_the_input() {
        let check = |input: &str, text: &str, ms: u64| {
            assert_eq!(take_pace(input), (text.to_owned(), Duration::from_millis(ms)), "{input}");
        };
        check("read a", "read a", 0);
        check("[pace=20] read a", " read a", 20);
        check("read a [pace=99999]", "read a ", 5_000);
        check("a [pace=1] b [pace= 2 ]", "a  b ", 2);
        check("a [pace=x] [pace", "a [pace=x] [pace", 0);
    }

    #[test]
    fn pieces_join_to_the_text_and_are_few() {
        for words in [0, 1, 2, 3, 4, 68, 69, 70, 71, 72, 500, 5_000] {
            let text = "wörd \n".repeat(words);
            let cut = pieces(&text);
            assert_eq!(cut.concat(), text);
            assert!(cut.len() <= TEXT_PIECES_MAX && cut.iter().all(|piece| !piece.is_empty()), "{words}");
        }
    }
}
