//! Makes visible what would steer a terminal: control characters, escape sequences, direction overrides.
//!
//! Models, tools and files say what they like; on a terminal they only ever get to say it. Nothing is
//! dropped silently: each such character is shown as a sign of its own.

/// Cleans text that comes in pieces, keeping line breaks and tabs.
#[derive(Debug, Default)]
pub struct TextCleaner {
    /// A carriage return at the end of a piece: harmless when a line feed follows.
    held_return: bool,
}

impl TextCleaner {
    /// Returns the next piece, cleaned.
    pub fn piece(&mut self, text: &str) -> String {
        let mut clean = String::with_capacity(text.len());
        for c in text.chars() {
            if std::mem::take(&mut self.held_return) && c != '\n' {
                clean.push('\u{240d}');
            }
            match c {
                '\r' => self.held_return = true,
                '\n' | '\t' => clean.push(c),
                c => push(&mut clean, c),
            }
        }
        clean
    }
}

/// Returns text of several lines, cleaned.
pub fn clean_text(text: &str) -> String {
    TextCleaner::default().piece(text)
}

/// Returns text on one line, cleaned, with at most `chars_max` characters.
pub fn clean_line(text: &str, chars_max: usize) -> String {
    let mut clean = String::new();
    let mut count = 0;
    let mut blank = false;
    for c in text.trim().chars() {
        if c.is_whitespace() && c != '\u{2028}' && c != '\u{2029}' {
            blank = true;
            continue;
        }
        count += 1 + usize::from(blank);
        if count > chars_max {
            clean.push('…');
            break;
        }
        if std::mem::take(&mut blank) {
            clean.push(' ');
        }
        push(&mut clean, c);
    }
    clean
}

/// Returns text of several lines, cleaned, in which colours stay and no other escape sequence does.
pub fn clean_styled(text: &str) -> String {
    let (mut clean, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find("\u{1b}[") {
        let (before, escape) = rest.split_at(at);
        clean.push_str(&TextCleaner::default().piece(before));
        let numbers = escape[2..].bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b';').count();
        let end = if escape.as_bytes().get(2 + numbers) == Some(&b'm') { numbers + 3 } else { 2 };
        let (escape, after) = escape.split_at(end);
        let is_colour = end > 2;
        clean.push_str(&if is_colour { escape.to_owned() } else { TextCleaner::default().piece(escape) });
        rest = after;
    }
    clean.push_str(&TextCleaner::default().piece(rest));
    clean
}

/// Returns JSON text with the same characters written as `\u` escapes, so that it stays the same JSON.
pub fn escape_json(json: &str) -> String {
    use std::fmt::Write as _;
    let mut escaped = String::with_capacity(json.len());
    for c in json.chars() {
        if c.is_ascii_graphic() || c == ' ' || !steers(c) {
            escaped.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(escaped, "\\u{unit:04x}");
            }
        }
    }
    escaped
}

fn push(clean: &mut String, c: char) {
    match c {
        '\0'..='\u{1f}' => clean.push(char::from_u32(0x2400 + u32::from(c)).unwrap_or('␀')),
        '\u{7f}' => clean.push('␡'),
        c if steers(c) => clean.push_str(&format!("<U+{:04X}>", u32::from(c))),
        c => clean.push(c),
    }
}

/// Returns whether a character changes how others are shown, or is itself never seen.
fn steers(c: char) -> bool {
    matches!(c,
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}'
        // Direction marks, embeddings, overrides and isolates.
        | '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        // Line breaks that are not line feeds; characters of no width; annotations; tags.
        | '\u{2028}' | '\u{2029}' | '\u{200b}' | '\u{2060}'..='\u{2064}' | '\u{206a}'..='\u{206f}' | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}'
        // What is never seen beside letters: soft hyphens, joiners and fillers of scripts that are not there.
        | '\u{ad}' | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{3164}' | '\u{ffa0}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_stay_and_nothing_else_does() {
        assert_eq!(clean_styled("a\u{1b}[1;31mb\u{1b}[0m\nc"), "a\u{1b}[1;31mb\u{1b}[0m\nc");
        assert_eq!(clean_styled("\u{1b}[2J\u{1b}]0;x\u{7}\u{9b}\u{1b}["), "␛[2J␛]0;x␇<U+009B>␛[");
    }

    /// What a terminal would act on.
    fn acts(text: &str) -> bool {
        text.chars().any(|c| steers(c) && c != '\n' && c != '\t')
    }

    #[test]
    fn sequences_that_steer_a_terminal_are_only_shown() {
        for (said, shown) in [
            ("plain ünïcode 🦀 ok", "plain ünïcode 🦀 ok"),
            ("tab\tand\nline", "tab\tand\nline"),
            ("\u{1b}[31mred", "␛[31mred"),
            ("\u{1b}]52;c;cm0gLXJm\u{7}", "␛]52;c;cm0gLXJm␇"),
            ("\u{1b}]0;title\u{1b}\\", "␛]0;title␛\\"),
            ("\u{1b}]8;;http://evil\u{7}click", "␛]8;;http://evil␇click"),
            ("\u{9b}2J", "<U+009B>2J"),
            ("safe\rEVIL", "safe␍EVIL"),
            ("dos\r\nline", "dos\nline"),
            ("back\u{8}\u{7f}", "back␈␡"),
            ("abc\u{202e}fdp.exe", "abc<U+202E>fdp.exe"),
            ("zero\u{200b}width\u{feff}", "zero<U+200B>width<U+FEFF>"),
            ("tag\u{e0041}", "tag<U+E0041>"),
            ("fill\u{3164}er\u{115f}\u{ffa0}", "fill<U+3164>er<U+115F><U+FFA0>"),
            ("soft\u{ad}hyphen", "soft<U+00AD>hyphen"),
            ("family 👨‍👩‍👧", "family 👨‍👩‍👧"),
        ] {
            let clean = TextCleaner::default().piece(said);
            assert_eq!(clean, shown);
            assert!(!acts(&clean), "{clean:?}");
        }
    }

    #[test]
    fn pieces_may_be_cut_anywhere() {
        let said = "one\r\ntwo\rthree\u{1b}[0m\r";
        let whole = TextCleaner::default().piece(said);
        for at in (0..said.len()).filter(|at| said.is_char_boundary(*at)) {
            let mut cleaner = TextCleaner::default();
            let cut = cleaner.piece(&said[..at]) + &cleaner.piece(&said[at..]);
            assert_eq!(cut, whole);
        }
    }

    #[test]
    fn a_line_is_one_line_and_short() {
        assert_eq!(clean_line("  {\n  \"a\": 1\r\n}\n", 80), "{ \"a\": 1 }");
        assert_eq!(clean_line("abcdef", 3), "abc…");
        assert_eq!(clean_line("a\u{2028}\u{1b}c", 80), "a<U+2028>␛c");
    }

    #[test]
    fn json_stays_the_same_json() {
        let value = serde_json::json!({"text": "a\u{9b}\u{202e}\u{1b}[0m\u{e0041}\u{7f} ü 🦀\n"});
        let escaped = escape_json(&value.to_string());
        assert!(!acts(&escaped), "{escaped}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&escaped).unwrap(), value);
    }
}
