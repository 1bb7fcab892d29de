//! Shows text that a model wrote inside text that we wrote.
//!
//! Invariant: what comes out is one short line of printable ASCII, whatever went in, so a confusable
//! letter, a terminal escape or a page of prose cannot pose as part of the explanation.

/// Returns `text` in backticks, escaped, and cut after `chars_max` characters.
pub(crate) fn quoted(text: &str, chars_max: usize) -> String {
    let mut shown: String =
        text.chars().take(chars_max).flat_map(char::escape_default).filter(|c| *c != '`').collect();
    if text.chars().nth(chars_max).is_some() {
        shown.push_str("...");
    }
    format!("`{shown}`")
}

/// Returns the first `items_max` names in backticks, and how many more there are.
pub(crate) fn listed<'a>(names: impl Iterator<Item = &'a str>, items_max: usize) -> String {
    let names: Vec<&str> = names.collect();
    let mut shown: Vec<String> = names.iter().take(items_max).map(|name| quoted(name, 64)).collect();
    if names.len() > items_max {
        shown.push(format!("and {} more", names.len() - items_max));
    }
    shown.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strange_letters_are_spelled_out_and_long_text_is_cut() {
        assert_eq!(quoted("read_f\u{456}le", 64), "`read_f\\u{456}le`");
        assert_eq!(quoted("a\u{1b}]52;`b", 64), "`a\\u{1b}]52;b`");
        assert_eq!(quoted("abcdef", 3), "`abc...`");
        assert_eq!(listed(["a", "b", "c"].into_iter(), 2), "`a`, `b`, and 1 more");
    }
}
