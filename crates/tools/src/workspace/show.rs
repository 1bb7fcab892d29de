//! Shows file names in text that a model and a person read.
//!
//! Invariant: a shown name is one line without control, invisible or bidirectional characters, so no
//! name can pose as a second line of output.

use std::path::Path;

/// Returns a path as it is when it is plain, else quoted and escaped; the root is `.`.
pub(crate) fn show_path(path: &Path) -> String {
    let Some(text) = path.to_str() else {
        return format!("{:?} (name is not UTF-8)", path.to_string_lossy());
    };
    if text.is_empty() {
        return ".".to_owned();
    }
    let quoted = with_blanks_shown(&format!("{text:?}"));
    let is_plain = quoted[1..quoted.len() - 1] == *text && text.trim() == text;
    if is_plain { text.to_owned() } else { quoted }
}

/// Returns a text with everything but its line ends and tabs made visible: escapes for control, invisible and
/// bidirectional characters.
pub(crate) fn show_text(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' | '\'' | '"' | '\\' => shown.push(c),
            c if is_blank(c) => shown.extend(c.escape_unicode()),
            c => shown.extend(c.escape_debug()),
        }
    }
    shown
}

/// Returns whether a character counts as a letter or a sign, and looks like nothing.
pub(crate) fn is_blank(c: char) -> bool {
    matches!(c, '\u{115f}' | '\u{1160}' | '\u{2800}' | '\u{3164}' | '\u{ffa0}')
}

fn with_blanks_shown(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if is_blank(c) { shown.extend(c.escape_unicode()) } else { shown.push(c) }
    }
    shown
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    #[test]
    fn only_plain_names_are_shown_as_they_are() {
        for (name, expect) in [
            ("src/main.rs", "src/main.rs"),
            ("it's a d\u{e9}j\u{e0} vu", "it's a d\u{e9}j\u{e0} vu"),
            ("", "."),
            (" a", "\" a\""),
            ("a\nb:1: fake", r#""a\nb:1: fake""#),
            ("\u{1b}]0;t", r#""\u{1b}]0;t""#),
            ("a\u{202e}txt.exe", r#""a\u{202e}txt.exe""#),
            ("a\u{3164}b\u{2800}", r#""a\u{3164}b\u{2800}""#),
        ] {
            assert_eq!(show_path(Path::new(name)), expect);
        }
        assert_eq!(
            show_text("a\t\"b\"\\ 'c'\r\n\u{1b}[1m\u{202e}"),
            "a\t\"b\"\\ 'c'\\r\n\\u{1b}[1m\\u{202e}"
        );
        assert_eq!(
            show_text("a\u{3164}\u{115f}\u{ffa0}\u{2800}\u{ad}"),
            r"a\u{3164}\u{115f}\u{ffa0}\u{2800}\u{ad}"
        );
        let broken = Path::new(OsStr::from_bytes(b"a\xff"));
        assert_eq!(show_path(broken), "\"a\u{fffd}\" (name is not UTF-8)");
    }
}
