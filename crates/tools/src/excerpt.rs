//! One line of a file, shown short.

/// How much of a line is shown, in bytes.
const EXCERPT_BYTES_MAX: usize = 300;
/// How much is shown before what was looked for, in bytes.
const BEFORE_BYTES_MAX: usize = 80;

/// Returns the part of `line` around `at`, with dots where something was left out.
pub(crate) fn excerpt(line: &[u8], at: usize) -> String {
    if line.len() <= EXCERPT_BYTES_MAX {
        return String::from_utf8_lossy(line).into_owned();
    }
    let from = floor_boundary(line, at.saturating_sub(BEFORE_BYTES_MAX).min(line.len() - EXCERPT_BYTES_MAX));
    let to = floor_boundary(line, from + EXCERPT_BYTES_MAX);
    let head = if from > 0 { "..." } else { "" };
    let tail = if to < line.len() { "..." } else { "" };
    format!("{head}{}{tail}", String::from_utf8_lossy(&line[from..to]))
}

/// Returns the nearest place at or before `at` that does not split a UTF-8 character.
fn floor_boundary(line: &[u8], at: usize) -> usize {
    if at >= line.len() {
        return line.len();
    }
    // A character has at most three continuation bytes; more of them are not UTF-8 and may be split.
    (at.saturating_sub(3)..=at).rev().find(|at| line[*at] & 0xC0 != 0x80).unwrap_or(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_shown_around_the_match_without_split_characters() {
        let line = format!("{}needle{}", "\u{e9}".repeat(500), "\u{1f600}".repeat(500));
        let shown = excerpt(line.as_bytes(), 1000);
        assert!(
            shown.contains("needle") && shown.starts_with("...\u{e9}") && shown.ends_with("\u{1f600}...")
        );
        assert!(!shown.contains('\u{fffd}') && shown.len() <= EXCERPT_BYTES_MAX + 6, "{shown}");
        assert_eq!(excerpt(b"short", 2), "short");
        assert!(excerpt(&[0x80; 900], 450).contains('\u{fffd}'));
        assert!(excerpt(line.as_bytes(), line.len()).ends_with('\u{1f600}'));
    }
}
