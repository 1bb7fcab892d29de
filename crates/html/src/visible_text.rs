//! Leaving out characters that nobody sees.
//!
//! Owns the list: zero widths, turners of direction, tags and variation selectors in which whole messages can be
//! written, and controls but for line breaks and tabs.

/// Returns a text without them.
#[must_use]
pub fn visible(text: &str) -> String {
    text.chars().filter(|c| !is_invisible(*c)).collect()
}

fn is_invisible(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        // Joiners and the emoji selector make one sign of several; they carry no message of their own.
        '\u{200c}' | '\u{200d}' | '\u{fe0f}' => false,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{3164}'
        | '\u{ffa0}' | '\u{feff}' => true,
        '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{fe00}'..='\u{fe0e}'
        | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}' => true,
        other => other.is_control(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_sees_is_left_out() {
        let tagged: String = "ignore".chars().map(|c| char::from_u32(0xe0000 + c as u32).unwrap()).collect();
        assert_eq!(visible(&format!("a{tagged}b\u{200b}c\u{202e}d\u{feff}e\u{7}f")), "abcdef");
        assert_eq!(visible("a\tb\nc  d – é 漢 👩\u{200d}🚀"), "a\tb\nc  d – é 漢 👩\u{200d}🚀");
    }
}
