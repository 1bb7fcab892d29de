//! Makes names that wire formats allow.
//!
//! A model may have named anything, and one odd name in the history would have every later request refused.

/// The longest name that every format allows, in characters.
const NAME_CHARS_MAX: usize = 64;

/// Returns a tool's name or a call's id as letters, digits, `_` and `-`.
pub(crate) fn allowed(name: &str) -> String {
    let fit = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let name: String = name.chars().take(NAME_CHARS_MAX).map(fit).collect();
    if name.is_empty() { "unnamed".to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_such_as_the_formats_allow() {
        assert_eq!(allowed(""), "unnamed");
        assert_eq!(allowed(&"x".repeat(99)).len(), NAME_CHARS_MAX);
        assert_eq!(allowed("a.b/c d-e_F\u{e9}"), "a_b_c_d-e_F_");
    }
}
